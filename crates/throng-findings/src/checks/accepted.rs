//! Whether as many connections were accepted as were asked for, where a multiplexer is timed alone.
//!
//! A limit that ends it early (`FD_SETSIZE`, open files) is a result, and no fault: what was measured until then stands.

use throng_record::{AcceptPhase, Check, CheckKind, CheckResult};

use super::made;

pub(super) fn check(phase: &AcceptPhase, asked: u32) -> Check {
    let kind = CheckKind::UnservedConnections;
    let accepted = phase.accepted;
    let missing = f64::from(asked.saturating_sub(accepted));
    let (result, detail) = match &phase.stopped_by {
        _ if accepted >= asked => (
            CheckResult::Passed,
            format!("each of {asked} connections was accepted"),
        ),
        Some(stopped_by) => (
            CheckResult::Partial,
            format!("accepted {accepted} of {asked}: {stopped_by}"),
        ),
        None => (
            CheckResult::Failed,
            format!(
                "accepted {accepted} of {asked}, and the generator does not say why: a fault of it; report it with the stored run"
            ),
        ),
    };
    made(kind, result, missing, 0.0, detail)
}

#[cfg(test)]
mod tests {
    use throng_record::{Measured, Phases, TargetKind, Verdict};

    use super::*;
    use crate::checks;
    use crate::hand_made::Case;

    fn phase(accepted: u32, stopped_by: Option<&str>) -> AcceptPhase {
        AcceptPhase {
            accepted,
            stopped_by: stopped_by.map(str::to_owned),
            ..AcceptPhase::default()
        }
    }

    #[test]
    fn a_limit_leaves_a_part_and_a_silent_end_is_a_fault() {
        let of = |phase: &AcceptPhase| {
            let mut case = Case::echo();
            case.target.kind = TargetKind::Multiplexer;
            case.setting.connections = 2_000;
            case.trial.phases = Phases::from_iter([Measured::Multiplex(phase.clone())]);
            Verdict::of(&checks::all(&case.evidence()))
        };
        assert_eq!(of(&phase(2_000, None)), Verdict::Valid);
        assert_eq!(of(&phase(1_018, Some("FD_SETSIZE"))), Verdict::Partial);
        assert_eq!(of(&phase(1_999, None)), Verdict::Invalid);
        let told = check(&phase(1_018, Some("FD_SETSIZE")), 2_000).detail;
        assert_eq!(told, "accepted 1018 of 2000: FD_SETSIZE");
    }
}
