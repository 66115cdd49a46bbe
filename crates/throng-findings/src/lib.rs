//! Checks and findings: whether a trial's figures can be trusted, and what explains them. Each is one file with its words and its page.
//!
//! Pure functions of a trial's record and of what was seen beside it ([`Evidence`]): no clock, no socket, no file. The lab checks and finds with them,
//! the reports tell what came of it. Left to the lab: to find out, from the observers' accounts, why each single request was slow.
#![forbid(unsafe_code)]

mod account;
mod asked;
pub mod checks;
mod cpu_time;
mod evidence;
pub mod findings;
mod hosts;
mod limit;
pub mod limits;
mod lost;
mod server;

pub use account::{Account, Judged};
pub use asked::Asked;
pub use cpu_time::{Others, Stolen, TICK_NS};
pub use evidence::{Descriptors, Evidence, Observed};
pub use hosts::{counter_change, in_words as hosts_in_words};
pub use limit::{limit, limit_of_server};
pub use limits::Limits;
pub use server::{Ending, LifeEnd, Served};

#[cfg(test)]
mod hand_made;
