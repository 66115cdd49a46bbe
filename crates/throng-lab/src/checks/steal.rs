//! Steal: time in which a CPU had work of ours and the hypervisor ran something else.

use throng_record::{Check, CheckKind, CheckResult};

use super::{made, not_applicable, percent};

const SHARE_MAX: f64 = 0.02;

pub(super) fn check(share: Option<f64>) -> Check {
    let kind = CheckKind::Steal;
    let Some(share) = share else {
        return not_applicable(kind, "the kernel's account of CPU time could not be read");
    };
    let evidence = format!(
        "the hypervisor took {} of the CPUs' time in the measured window (at most {})",
        percent(share),
        percent(SHARE_MAX)
    );
    if share <= SHARE_MAX {
        made(kind, CheckResult::Passed, share, SHARE_MAX, evidence)
    } else {
        let detail = format!(
            "{evidence}: a neighbour on the same host was busy; run again at a quieter time, or on a machine with CPUs of its own"
        );
        made(kind, CheckResult::Failed, share, SHARE_MAX, detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percent_is_the_bound() {
        assert_eq!(check(Some(0.02)).result, CheckResult::Passed);
        assert_eq!(check(Some(0.021)).result, CheckResult::Failed);
        assert_eq!(check(Some(f64::NAN)).result, CheckResult::Failed);
        assert_eq!(check(None).result, CheckResult::NotApplicable);
    }
}
