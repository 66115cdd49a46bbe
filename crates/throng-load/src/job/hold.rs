//! The job of holding, phase by phase: connect, hold, ping some, close. An interrupt leaves out what has not begun, except the close.

use throng_record::{HoldPhases, HoldSpec, LoadEvent, LoadJob, LoadRecord, PhaseName};

use super::{Opened, are_open, assemble, begin, event, open};
use crate::control::Interrupt;
use crate::error::LoadError;
use crate::fleet::validate_hold;

pub(super) fn run(
    job: &LoadJob,
    spec: &HoldSpec,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(LoadEvent),
) -> Result<LoadRecord, LoadError> {
    validate_hold(spec, job)?;
    let Opened {
        mut fleet,
        connect,
        user_bytes_per_connection,
    } = open(job, || assemble(job, interrupt), tell)?;
    are_open(&connect, tell);
    let mut hold = HoldPhases::default();
    if connect.connected > 0 && !interrupt.is_raised() {
        begin(PhaseName::Hold, tell);
        let open = fleet.hold(spec.hold_ns, &mut hold, &mut |stage| tell(event(stage)))?;
        if spec.pings > 0 && !interrupt.is_raised() {
            begin(PhaseName::Ping, tell);
            fleet.ping(spec, &job.exchange, &open, &mut hold, &mut |stage| {
                tell(event(stage));
            })?;
        }
    }
    begin(PhaseName::Close, tell);
    let close = fleet.close(&mut |stage| tell(event(stage)))?;
    Ok(LoadRecord {
        connect,
        hold: Some(hold),
        close,
        user_bytes_per_connection,
        ..LoadRecord::default()
    })
}
