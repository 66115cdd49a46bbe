//! The job of a fan-out, phase by phase.
//!
//! Nothing waits between the last connect and the greetings: they come when the server sends them, and a generator that did not read then
//! would count its own pause as theirs. So that phase is told without waiting for an answer, and what is read with every connection open
//! is read after it.
//!
//! An interrupt ends the phase under way, which keeps what it has; those after it are left out, but for the close.

use throng_record::{FanoutPhases, FanoutSpec, LoadEvent, LoadJob, LoadRecord, PhaseName};

use super::{Opened, are_open, begin, event, open};
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
    let mut fanout = FanoutPhases::default();
    // Greetings may have come before an interrupt, so that they are looked for in any case.
    if spec.greeting.is_some() {
        begin(PhaseName::Acknowledge, tell);
        fanout.acknowledge = Some(fleet.hear_greeting(&mut |replies| heard(replies, tell))?);
    }
    are_open(&connect, tell);
    lines(&mut fleet, spec, &mut fanout, interrupt, tell)?;
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

fn lines(
    fleet: &mut Fleet,
    spec: &FanoutSpec,
    phases: &mut FanoutPhases,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<(), LoadError> {
    if interrupt.is_raised() {
        return Ok(());
    }
    begin(PhaseName::Get, tell);
    let (spoke, get) = fleet.put_and_hear(spec.speaker, &mut |replies| heard(replies, tell))?;
    phases.put_ns = spoke.map(|spoke| spoke.took_ns);
    phases.speaker = spoke.map(|spoke| spoke.speaker);
    phases.get = Some(get);
    if spec.sustain.is_none() || interrupt.is_raised() {
        return Ok(());
    }
    begin(PhaseName::Sustain, tell);
    let sustained = fleet.put_at_rate(spec.speaker, &mut |replies| heard(replies, tell))?;
    phases.sustained = Some(sustained);
    Ok(())
}

fn heard(replies: u64, tell: &mut dyn FnMut(LoadEvent)) {
    tell(LoadEvent::Progress { replies });
}
