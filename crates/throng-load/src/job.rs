//! A whole job, as a generator process does it: its phases one after another, telling the lab before each.

use throng_record::{LoadEvent, LoadJob, LoadRecord, Measured, PhaseSpec, Phases};
use throng_sys::clock::monotonic_ns;

use crate::accept::run_accept;
use crate::control::Interrupt;
use crate::error::LoadError;
use crate::fleet::{Fleet, Stage};

/// Does a job. `tell` gets every event but the last, which is the caller's to make of the result.
///
/// An interrupt ends the phase under way, which keeps what it has. Of those after it only the close and what may have come already are done.
///
/// # Errors
/// [`LoadError`] where the job contradicts itself or the generator itself fails. What happens to connections is in the record.
pub fn run_job(
    job: &LoadJob,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<LoadRecord, LoadError> {
    let mut record = match &job.phases.0[..] {
        [phase @ PhaseSpec::Multiplex(spec)] => {
            begin(phase, tell);
            let measured = run_accept(spec, &job.fleet, interrupt, tell)?;
            LoadRecord {
                phases: [Measured::Multiplex(measured)].into_iter().collect(),
                ..LoadRecord::default()
            }
        }
        _ => on_a_fleet(job, interrupt, tell)?,
    };
    record.interrupted = interrupt.is_raised();
    Ok(record)
}

fn on_a_fleet(
    job: &LoadJob,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<LoadRecord, LoadError> {
    let before_bytes = anonymous_bytes();
    let mut fleet = Fleet::assemble(job, interrupt.clone())?;
    let mut record = LoadRecord::default();
    for spec in &job.phases.0 {
        if !is_due(spec, &record.phases, interrupt) {
            continue;
        }
        begin(spec, tell);
        let begun_at_ns = monotonic_ns();
        let measured = fleet.run(spec, &mut |stage| tell(event(stage)))?;
        record.phases.push(measured);
        if let Some(phase) = record.phases.0.last_mut() {
            phase.begun_at_monotonic_ns = Some(begun_at_ns);
        }
        if matches!(spec, PhaseSpec::Connect | PhaseSpec::Tls) {
            let grown_bytes = anonymous_bytes().saturating_sub(before_bytes);
            record.user_bytes_per_connection =
                grown_bytes as f64 / f64::from(job.fleet.connections);
        }
    }
    Ok(record)
}

/// Greetings may have come before an interrupt, so that they are looked for in any case; an exchange notices it by itself. Where nothing is open,
/// nothing is held.
fn is_due(spec: &PhaseSpec, so_far: &Phases, interrupt: &Interrupt) -> bool {
    match spec {
        PhaseSpec::Connect
        | PhaseSpec::Tls
        | PhaseSpec::Acknowledge { .. }
        | PhaseSpec::Exchange(_)
        | PhaseSpec::Close
        | PhaseSpec::Multiplex(_) => true,
        PhaseSpec::Get(_) | PhaseSpec::Sustain(_) => !interrupt.is_raised(),
        PhaseSpec::Hold { .. } | PhaseSpec::Ping(_) => !interrupt.is_raised() && so_far.kept() > 0,
    }
}

/// Told of a phase, the lab reads both sides, and then lets the generator go on. Only the greetings are not held up: they come when the server
/// sends them, and a generator that did not read then would count its own pause as theirs.
fn begin(spec: &PhaseSpec, tell: &mut dyn FnMut(LoadEvent)) {
    let phase = spec.name();
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
