//! From what was measured and seen to causes: each slow or failed request attributed, each trial explained by findings.
//!
//! Pure functions over plain data and two small traits, which the observers implement: no clock, no socket, no file. What
//! this module is told it believes; whether the figures are worth anything is for the checks. First
//! [`attribute`] goes through *all* requests of a trial and thins them out, then [`findings()`] looks at the trial as a whole.
//!
//! Times from the observers are of `CLOCK_MONOTONIC`, those of requests count from the phase's first connect:
//! `ConnectionsPhase::started_at_monotonic_ns` joins them.

mod account;
mod answering;
mod attribution;
mod connecting;
mod findings;
mod least;
mod schedule;
mod seen;
mod thinning;
mod waiting;

pub(crate) use account::{Account, Judged};
pub(crate) use attribution::attribute;
pub(crate) use findings::{
    CoresSeen, Evidence, Limits, ServerSeen, cost_grows_with_idle, findings,
};
pub(crate) use least::duration_least_ns;
pub(crate) use seen::{FlowSeen, FlowsSeen, QueueSeen, Seen};

#[cfg(test)]
mod hand_made;
#[cfg(test)]
mod tests;
