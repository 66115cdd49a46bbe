//! The job of a fan-out, phase by phase.
//!
//! An interrupt ends the phase under way, which keeps what it has; those after it are left out, but for the close.

use throng_record::{FanoutPhases, FanoutSpec, LoadEvent, LoadJob, LoadRecord, PhaseName};

use super::{Opened, begin, event, open};
use crate::control::Interrupt;
use crate::error::LoadError;
use crate::fleet::Fleet;

pub(super) fn run(
    job: &LoadJob,
    spec: &FanoutSpec,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<LoadRecord, LoadError> {
    let seed = job.exchange.seed;
    let assemble = || Fleet::assemble_for_fanout(&job.fleet, spec, seed, interrupt.clone());
    let Opened {
        mut fleet,
        connect,
        user_bytes_per_connection,
    } = open(job, assemble, tell)?;
    let fanout = lines(&mut fleet, spec, interrupt, tell)?;
    begin(PhaseName::Close, tell);
    let close = fleet.close(&mut |stage| tell(event(stage)))?;
    Ok(LoadRecord {
        connect,
        fanout: Some(fanout),
        close,
        user_bytes_per_connection,
        ..LoadRecord::default()
    })
}

/// Greetings may have come before the interrupt, so that they are looked for in any case.
fn lines(
    fleet: &mut Fleet,
    spec: &FanoutSpec,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<FanoutPhases, LoadError> {
    let mut phases = FanoutPhases::default();
    if spec.greeting.is_some() {
        begin(PhaseName::Acknowledge, tell);
        phases.acknowledge = Some(fleet.hear_greeting(&mut |replies| heard(replies, tell))?);
    }
    if interrupt.is_raised() {
        return Ok(phases);
    }
    begin(PhaseName::Get, tell);
    let (spoke, get) = fleet.put_and_hear(spec.speaker, &mut |replies| heard(replies, tell))?;
    phases.put_ns = spoke.map(|spoke| spoke.took_ns);
    phases.speaker = spoke.map(|spoke| spoke.speaker);
    phases.get = Some(get);
    if spec.sustain.is_none() || interrupt.is_raised() {
        return Ok(phases);
    }
    begin(PhaseName::Sustain, tell);
    let sustained = fleet.put_at_rate(spec.speaker, &mut |replies| heard(replies, tell))?;
    phases.sustained = Some(sustained);
    Ok(phases)
}

fn heard(replies: u64, tell: &mut dyn FnMut(LoadEvent)) {
    tell(LoadEvent::Progress { replies });
}
