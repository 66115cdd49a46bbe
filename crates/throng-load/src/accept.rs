//! The C10K measurement: what a multiplexer's wait costs while connections that do nothing pile up. There is no server under test;
//! both ends are here, so that no backlog is involved.
//!
//! *Method.* Beside the caller's, which only tells how far it is, there are two threads, each with its own descriptor table: the
//! server has the listener and the accepted connections, the client the other ends. For i from 0 on, with i connections idle:
//! 1. the client connects, and says so; the server reads the clock, waits with the multiplexer, accepts, and reads the clock;
//! 2. the new connection joins the set; the client sends a byte on it, and says so; the server reads the clock, waits, finds
//!    the connection, reads the byte, and reads the clock.
//!
//! Both kinds are measured in one pass over the one growing set. Two passes would need a set that shrinks again, and minutes
//! of drift would lie between measurements that are to be compared; so each pair is taken within a few microseconds, and
//! what the second does to the caches before the next first one is the same for every number and every multiplexer.
//!
//! The connection that has a byte is always the newest, so that it is as warm in the caches with ten thousand idle ones as with none: a
//! random one would be colder the more there are, which would make even a wait that looks at none of them appear to grow.
//! Every other one has had its byte and stays idle from then on. It is also the last of a list or a set, the worst
//! place: the search of those who must search passes all idle ones, and the kernel puts the caller on the wait queue of every
//! descriptor before the first ready one (`do_poll` in `fs/select.c`; none after it). The listener is the first of them, so that
//! an accept costs `poll` and `select` about half of what a byte does: they look at everybody, but join no queue.
//!
//! *Left out on purpose.* The job's address and its number of connections, which are a fleet's: the server listens on IPv4
//! loopback, and as many connect as the specification says. Its CPUs count: the server has the first, the client the second
//! where there is one.

mod client;
mod cost;
mod server;
mod slope;
mod stop;
mod wait;

use std::io;
use std::sync::mpsc::{channel, sync_channel};

use throng_record::{AcceptPhase, AcceptSpec, FleetSpec, LoadEvent, Multiplexer};
use throng_sys::limits::open_files;

use crate::control::Interrupt;
use crate::error::LoadError;

/// Measures until all connections are there, something ends it, or it is interrupted; `tell` gets `Progress` after the first
/// connection and then about ten times a second.
///
/// # Errors
/// [`LoadError`] where the specification contradicts itself or a limit, a thread cannot be prepared, or the multiplexer cannot be made.
/// What ends it later is in the phase, with what was measured until then.
pub(crate) fn run_accept(
    spec: &AcceptSpec,
    fleet: &FleetSpec,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<AcceptPhase, LoadError> {
    validate(spec)?;
    let (report, reported) = sync_channel(0);
    let (go_on, told) = channel();
    let reports = server::Reports {
        accepted: report,
        told,
        due_at_ns: 0,
    };
    let lost = |_| LoadError::multiplexer("be measured", io::Error::other("its thread panicked"));
    std::thread::scope(|scope| {
        let server = std::thread::Builder::new()
            .name("server".to_owned())
            .spawn_scoped(scope, move || server::run(spec, fleet, interrupt, reports))
            .map_err(|error| LoadError::multiplexer("start its thread", error))?;
        while let Ok(accepted) = reported.recv() {
            let replies = u64::from(accepted);
            tell(LoadEvent::Progress { replies });
            let _ = go_on.send(());
        }
        server.join().map_err(lost)?
    })
}

fn validate(spec: &AcceptSpec) -> Result<(), LoadError> {
    let limit = open_files().soft;
    let refuse = |reason: String| Err(LoadError::Job(reason));
    match spec.multiplexer {
        _ if spec.connections == 0 => {
            refuse("it has no connections; ask for at least one".to_owned())
        }
        Multiplexer::Poll if spec.published && u64::from(spec.connections) >= limit => {
            refuse(format!(
                "poll(2) takes no list longer than the limit of open files, {limit}, and as published it has one entry more \
                 than there will be connections; ask for at most {}, or raise the limit (`ulimit -n`)",
                limit - 1
            ))
        }
        Multiplexer::Poll => Ok(()),
        other if spec.published => refuse(format!(
            "only poll has a published form that differs, {} has not",
            other.name()
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
