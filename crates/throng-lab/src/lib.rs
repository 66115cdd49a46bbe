//! Experiments: a question turned into trials.
//!
//! A [`plan`] says what is asked; [`run()`] carries it out: it launches each target and a generator, observes both,
//! checks the figures and writes the record. It prints nothing; what happens is told through [`Event`]s. Every server,
//! built-in or the user's, is started by the same launcher.
#![forbid(unsafe_code)]

pub mod capacity;
mod estimate;
mod event;
mod explain;
mod generator;
mod job;
mod launcher;
mod lifetime;
pub mod machine;
pub mod network;
mod observer;
mod order;
pub mod plan;
pub mod plans;
mod run;
pub mod search;
mod series;
pub mod stations;
mod store;
pub mod target;
mod tls;
mod trial;

pub use estimate::estimate;
pub use event::{Event, TrialPhase};
pub use observer::capture::CaptureError;
pub use run::{Finished, RunError, Setup, run};
pub use store::StoreError;
