//! From what was measured and seen to causes: each slow or failed request attributed.
//!
//! Pure functions over plain data and two small traits, which the observers implement: no clock, no socket, no file. What
//! this module is told it believes; whether the figures are worth anything is for the checks. [`attribute`] goes through *all* requests
//! of a trial and thins them out; what explains the trial as a whole is for the findings.
//!
//! Times from the observers are of `CLOCK_MONOTONIC`, those of requests count from the phase's first connect:
//! `ConnectionsPhase::started_at_monotonic_ns` joins them.

mod accounts;
mod answering;
mod attribution;
mod connecting;
mod least;
mod schedule;
mod thinning;
mod waiting;

pub(crate) use accounts::{Accounts, FlowSeen, FlowsSeen, QueueSeen};
pub(crate) use attribution::attribute;
pub(crate) use least::duration_least_ns;

#[cfg(test)]
mod hand_made;
#[cfg(test)]
mod tests;
