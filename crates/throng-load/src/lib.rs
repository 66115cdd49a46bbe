//! The load generator: a [`Fleet`] of connections spread over shards.
//!
//! A shard is one thread with its own event loop, recorder, slice of source addresses and descriptor table. A job is
//! phases over the fleet: a connect, then exchanges, holds, pings or lines in whatever order, a close; each returns a plain, mergeable record.
//! Pacing, stop condition, protocol and I/O back end are small things that compose. `shard::exchange` is the one loop that joins
//! them where connections are kept, `shard::requests` the one where each message has its own, `shard::fanout` the one where a
//! line that is put on one comes out of all.
//!
//! A job may also be no work of a fleet: `accept` times a multiplexer of this process, both ends being here.
//!
//! The hot path (one received reply: read the clock, compare, record, send the next) neither allocates, locks, formats
//! nor shares a cache line with another thread.
#![forbid(unsafe_code)]

mod accept;
mod addresses;
mod backend;
mod confidence;
mod connection;
mod control;
mod error;
mod fleet;
mod job;
mod messages;
mod pacing;
mod protocol;
mod quote;
mod recorder;
mod script;
mod shard;
mod slowest;
mod source;
mod tls;

pub use control::Interrupt;
pub use error::LoadError;
pub use fleet::{Fleet, Observer, Stage};
pub use job::run_job;
