//! Steal: time in which a CPU had work of ours and the hypervisor ran something else.
//!
//! The kernel tells it in whole ticks, cut off: between two readings one tick of each CPU may be chance. In a window of
//! 400 ms that is already more than the bound, so a share counts as too large only where chance cannot explain it.

use throng_record::{Check, CheckKind, CheckResult};

use super::{Kind, made, not_applicable, percent};
use crate::cpu_time::{Stolen, is_too_much};
use crate::lost::Lost;

pub(super) const KIND: Kind = Kind {
    name: "steal",
    title: "CPU time stolen",
    heading: "CPU time stolen",
    is_the_servers_fault: false,
};

pub(super) fn check(stolen: Option<Stolen>, lost: Lost) -> Check {
    judged("the CPUs' time", stolen, lost)
}

/// Of the CPUs of a generator elsewhere.
pub(super) fn on_host(name: &str, stolen: Option<Stolen>, lost: Lost) -> Check {
    let whose = format!("the time of the generator's CPUs on host {name}");
    judged(&whose, stolen, lost)
}

fn judged(whose: &str, stolen: Option<Stolen>, lost: Lost) -> Check {
    let kind = CheckKind::Steal;
    let Some(stolen) = stolen.filter(|stolen| stolen.all_ns > 0) else {
        return not_applicable(kind, "the kernel's account of CPU time could not be read");
    };
    let share = stolen.stolen_ns as f64 / stolen.all_ns as f64;
    let bound = lost.share_max(stolen.cpus);
    let evidence = format!(
        "the hypervisor took {} of {whose} in the measured window (at most {}, and a tick for each CPU)",
        percent(share),
        percent(bound)
    );
    if is_too_much(stolen.stolen_ns, stolen.all_ns, stolen.cpus, lost) {
        let detail = format!(
            "{evidence}: a neighbour on the same host was busy; run again at a quieter time, or on a machine with CPUs of its own"
        );
        made(kind, CheckResult::Disturbed, share, bound, detail)
    } else {
        made(kind, CheckResult::Passed, share, bound, evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND_NS: u64 = 1_000_000;

    /// Of two CPUs, over so many seconds.
    fn result(stolen_ms: u64, seconds: u64) -> CheckResult {
        of(stolen_ms, seconds, Lost::CpuTime)
    }

    fn of(stolen_ms: u64, seconds: u64, lost: Lost) -> CheckResult {
        let stolen = Stolen {
            stolen_ns: stolen_ms * MILLISECOND_NS,
            all_ns: 2 * seconds * 1_000_000_000,
            cpus: 2,
        };
        check(Some(stolen), lost).result
    }

    #[test]
    fn two_percent_and_a_tick_for_each_cpu_is_the_bound() {
        assert_eq!(result(0, 10), CheckResult::Passed);
        assert_eq!(result(420, 10), CheckResult::Passed);
        assert_eq!(result(430, 10), CheckResult::Disturbed);
        assert_eq!(result(60, 1), CheckResult::Passed);
        assert_eq!(result(70, 1), CheckResult::Disturbed);
    }

    /// 3 % of two CPUs over 56 s delay a trial that kernel timers decide by 6 % at most.
    #[test]
    fn a_trial_that_waits_for_timers_may_lose_a_tenth_of_its_time() {
        assert_eq!(of(3_360, 56, Lost::CpuTime), CheckResult::Disturbed);
        assert_eq!(of(3_360, 56, Lost::Timers), CheckResult::Passed);
        assert_eq!(of(5_610, 56, Lost::Timers), CheckResult::Passed);
        assert_eq!(of(5_630, 56, Lost::Timers), CheckResult::Disturbed);
    }

    #[test]
    fn a_host_is_named() {
        let stolen = |stolen_ms| Stolen {
            stolen_ns: stolen_ms * MILLISECOND_NS,
            all_ns: 1_000 * MILLISECOND_NS,
            cpus: 1,
        };
        let on_gen2 = |stolen_ms| on_host("gen2", Some(stolen(stolen_ms)), Lost::CpuTime);
        assert_eq!(on_gen2(30).result, CheckResult::Passed);
        let check = on_gen2(31);
        assert_eq!(check.result, CheckResult::Disturbed);
        let expected = "the hypervisor took 3.1 % of the time of the generator's CPUs on host gen2";
        assert!(check.detail.starts_with(expected), "{}", check.detail);
    }

    #[test]
    fn it_is_not_made_without_an_account() {
        let check = |stolen| check(stolen, Lost::CpuTime);
        assert_eq!(check(None).result, CheckResult::NotApplicable);
        assert_eq!(
            check(Some(Stolen::default())).result,
            CheckResult::NotApplicable
        );
    }
}
