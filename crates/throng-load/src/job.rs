//! A whole job, as a generator process does it: connect, exchange, close, telling the lab where it is. Where each message has a
//! connection of its own, these are one. Or the job is no exchange at all, and a multiplexer is timed.

mod fanout;
mod hold;

use throng_record::{ConnectPhase, ConnectionUse, LoadEvent, LoadJob, LoadRecord, PhaseName, Work};

use crate::accept::run_accept;
use crate::control::Interrupt;
use crate::error::LoadError;
use crate::fleet::{Fleet, Stage};

/// Does a job from the first connect to the last close. `tell` gets every event but the last, which is the caller's to
/// make of the result.
///
/// # Errors
/// [`LoadError`] where the job contradicts itself or the generator itself fails. What happens to connections is in the record.
pub fn run_job(
    job: &LoadJob,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<LoadRecord, LoadError> {
    let mut record = match &job.work {
        Work::Exchange => exchange(job, interrupt, tell)?,
        Work::Fanout(spec) => fanout::run(job, spec, interrupt, tell)?,
        Work::Hold(spec) => hold::run(job, spec, interrupt, tell)?,
        Work::Accept(spec) => LoadRecord {
            accept: Some(run_accept(spec, &job.fleet, interrupt, tell)?),
            ..LoadRecord::default()
        },
    };
    record.interrupted = interrupt.is_raised();
    Ok(record)
}

fn exchange(
    job: &LoadJob,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<LoadRecord, LoadError> {
    match job.exchange.connection {
        ConnectionUse::Kept => on_kept_connections(job, interrupt, tell),
        ConnectionUse::PerMessage { .. } => on_own_connections(job, interrupt, tell),
    }
}

fn on_kept_connections(
    job: &LoadJob,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<LoadRecord, LoadError> {
    let Opened {
        mut fleet,
        connect,
        user_bytes_per_connection,
    } = open(job, || assemble(job, interrupt), tell)?;
    are_open(&connect, tell);
    let exchange = fleet.exchange(&job.exchange, &mut |stage| tell(event(stage)))?;
    tell(LoadEvent::Drained);
    let close = fleet.close(&mut |_| {})?;
    Ok(LoadRecord {
        connect,
        exchange,
        close,
        user_bytes_per_connection,
        ..LoadRecord::default()
    })
}

/// A fleet that will speak the exchange's protocol.
fn assemble(job: &LoadJob, interrupt: &Interrupt) -> Result<Fleet, LoadError> {
    Fleet::assemble(&job.fleet, &job.exchange, interrupt.clone())
}

/// A fleet all of whose connects have ended.
struct Opened {
    fleet: Fleet,
    connect: ConnectPhase,
    /// As in the record.
    user_bytes_per_connection: f64,
}

/// Makes the fleet and connects it. Works that have phases tell of this one and of how far it is. What comes of its own accord may be
/// awaited before [`are_open`].
fn open(
    job: &LoadJob,
    assemble: impl FnOnce() -> Result<Fleet, LoadError>,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<Opened, LoadError> {
    let has_phases = job.work.has_phases();
    let before_bytes = anonymous_bytes();
    let mut fleet = assemble()?;
    if has_phases {
        begin(PhaseName::Connect, tell);
    }
    let connect = fleet.connect(&mut |stage| {
        if has_phases {
            tell(event(stage));
        }
    })?;
    let grown_bytes = anonymous_bytes().saturating_sub(before_bytes);
    Ok(Opened {
        fleet,
        connect,
        user_bytes_per_connection: grown_bytes as f64 / f64::from(job.fleet.connections),
    })
}

/// Waits until whoever is told has looked at both sides with every connection open.
fn are_open(connect: &ConnectPhase, tell: &mut dyn FnMut(LoadEvent)) {
    tell(LoadEvent::Connected {
        connected: connect.connected,
    });
}

/// Whoever was told that none is connected makes ready to observe the connects, which are what is measured.
fn on_own_connections(
    job: &LoadJob,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<LoadRecord, LoadError> {
    let mut fleet = assemble(job, interrupt)?;
    tell(LoadEvent::Connected { connected: 0 });
    let (exchange, connections) = fleet.request(&job.exchange, &mut |stage| tell(event(stage)))?;
    tell(LoadEvent::Drained);
    Ok(LoadRecord {
        exchange,
        connections: Some(connections),
        ..LoadRecord::default()
    })
}

fn begin(phase: PhaseName, tell: &mut dyn FnMut(LoadEvent)) {
    tell(LoadEvent::Phase { phase });
}

fn event(stage: Stage) -> LoadEvent {
    match stage {
        Stage::Measuring => LoadEvent::Measuring,
        Stage::Progress(replies) => LoadEvent::Progress { replies },
        Stage::Measured => LoadEvent::Measured,
    }
}

/// Memory of this process that is no file's; 0 where the kernel does not tell. (The program's text grows too, with what has run of it.)
fn anonymous_bytes() -> u64 {
    throng_sys::process::memory(std::process::id()).map_or(0, |memory| memory.anonymous_pss_bytes)
}
