//! Other programs on the CPUs of either side: what they used, the sides could not.
//!
//! It counts only where a side waited for a CPU meanwhile (`run_delay` of the scheduler's account): what others use of CPUs that idle takes nothing
//! from anybody.
//!
//! The kernel tells how long each CPU was idle, in whole ticks, cut off: one tick of each CPU may be chance. A share counts as too large only
//! where chance cannot explain it, as for steal.

use throng_record::{Check, CheckKind, CheckResult};

use super::{Kind, made, not_applicable, percent};
use crate::cpu_time::Others;
use crate::lost::Lost;

pub(super) const KIND: Kind = Kind {
    name: "other-programs",
    title: "other programs",
    heading: "Other programs",
    is_the_servers_fault: false,
};

/// `others`: of each group of CPUs; empty where it cannot be told who used them.
pub(super) fn check(others: &[Others], is_server_visible: bool, lost: Lost) -> Check {
    let kind = CheckKind::OtherPrograms;
    if !is_server_visible {
        return not_applicable(
            kind,
            "the server's process is not visible from here: its CPU time would be taken for that of other programs",
        );
    }
    let of_any = others.iter().filter(|others| others.all_ns > 0);
    // What counts is told of, though others may use more of CPUs that nobody waits for.
    let worst = of_any.max_by(|one, other| {
        let weight = |of: &Others| (of.are_too_many(lost), of.share());
        let ((one_counts, one), (other_counts, other)) = (weight(one), weight(other));
        one_counts.cmp(&other_counts).then(one.total_cmp(&other))
    });
    let Some(worst) = worst else {
        return not_applicable(kind, "the kernel's account of CPU time could not be read");
    };
    judged(worst.whose, worst, lost)
}

/// On the CPUs of a generator elsewhere; `None` where it cannot be told who used them.
pub(super) fn on_host(name: &str, others: Option<&Others>, lost: Lost) -> Option<Check> {
    let others = others.filter(|others| others.all_ns > 0)?;
    let whose = format!("the generator's CPUs on host {name}");
    Some(judged(&whose, others, lost))
}

/// What the quota of a control group takes from a generator elsewhere. A generator that is held up delays a trial by no more than that.
pub(super) fn throttled(name: &str, share: f64, lost: Lost) -> Check {
    let kind = CheckKind::OtherPrograms;
    let bound = lost.share_max(1);
    let evidence = format!(
        "the CPU quota of host {name}'s control group held its generator up for {} of its CPUs' time in the window (at most {})",
        percent(share),
        percent(bound)
    );
    if share <= bound {
        return made(kind, CheckResult::Passed, share, bound, evidence);
    }
    let detail = format!(
        "{evidence}: the figures are those of a smaller machine; raise the quota (cpu.max of the control group, --cpus of docker run), or give the generator no more shards than the quota has CPUs"
    );
    made(kind, CheckResult::Disturbed, share, bound, detail)
}

fn judged(whose: &str, used: &Others, lost: Lost) -> Check {
    let kind = CheckKind::OtherPrograms;
    let (share, bound) = (used.share(), lost.share_max(used.cpus));
    let evidence = format!(
        "other programs used {} of {whose} in the measured window (at most {}, and a tick for each CPU)",
        percent(share),
        percent(bound)
    );
    if !used.are_too_many(lost) {
        let has_room = share > bound && used.waited_ns.is_some();
        let evidence = if has_room {
            format!("{evidence}, and nobody waited for them")
        } else {
            evidence
        };
        return made(kind, CheckResult::Passed, share, bound, evidence);
    }
    let detail = format!(
        "{evidence}: the figures are those of a shared machine; end what else runs (see top), wait for the other throng, or give each side CPUs that nobody else uses (--cpus)"
    );
    made(kind, CheckResult::Disturbed, share, bound, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND_NS: u64 = 1_000_000;

    /// Of two CPUs, over so many seconds.
    fn others(used_ms: u64, seconds: u64) -> Others {
        Others {
            whose: "the server's CPUs",
            used_ns: used_ms * MILLISECOND_NS,
            all_ns: 2 * seconds * 1_000_000_000,
            cpus: 2,
            waited_ns: None,
        }
    }

    fn of(others: &[Others], is_server_visible: bool) -> Check {
        check(others, is_server_visible, Lost::CpuTime)
    }

    #[test]
    fn two_percent_and_a_tick_for_each_cpu_is_the_bound() {
        let result = |used_ms, seconds| of(&[others(used_ms, seconds)], true).result;
        assert_eq!(result(0, 10), CheckResult::Passed);
        assert_eq!(result(420, 10), CheckResult::Passed);
        assert_eq!(result(430, 10), CheckResult::Disturbed);
        assert_eq!(result(60, 1), CheckResult::Passed);
        assert_eq!(result(70, 1), CheckResult::Disturbed);
    }

    #[test]
    fn one_side_that_is_disturbed_is_enough() {
        let check = of(&[others(0, 10), others(500, 10)], true);
        assert_eq!(check.result, CheckResult::Disturbed);
        assert_eq!(check.measured, Some(0.025));
    }

    #[test]
    fn the_side_that_waited_is_told_of_and_not_the_busier_one() {
        let idle = Others {
            whose: "the generator's CPUs",
            waited_ns: Some(0),
            ..others(10_000, 10)
        };
        let check = of(&[others(500, 10), idle], true);
        assert_eq!(check.result, CheckResult::Disturbed);
        assert_eq!(check.measured, Some(0.025));
        assert!(
            check.detail.contains("the server's CPUs"),
            "{}",
            check.detail
        );
    }

    #[test]
    fn what_others_use_of_cpus_that_nobody_waits_for_takes_nothing() {
        let waited = |waited_ms| {
            let others = Others {
                waited_ns: Some(waited_ms * MILLISECOND_NS),
                ..others(10_000, 10)
            };
            of(&[others], true)
        };
        assert_eq!(waited(400).result, CheckResult::Passed);
        assert!(waited(400).detail.ends_with("nobody waited for them"));
        assert_eq!(waited(401).result, CheckResult::Disturbed);
    }

    #[test]
    fn a_host_is_named() {
        let on_gen2 = |used_ms| {
            let others = others(used_ms, 1);
            on_host("gen2", Some(&others), Lost::CpuTime).expect("made")
        };
        assert_eq!(on_gen2(60).result, CheckResult::Passed);
        let check = on_gen2(70);
        assert_eq!(check.result, CheckResult::Disturbed);
        let expected = "other programs used 3.5 % of the generator's CPUs on host gen2";
        assert!(check.detail.starts_with(expected), "{}", check.detail);
        assert_eq!(on_host("gen2", None, Lost::CpuTime), None);
    }

    #[test]
    fn a_quota_that_holds_a_generator_up_disturbs() {
        let check = throttled("gen2", 0.34, Lost::CpuTime);
        assert_eq!(check.result, CheckResult::Disturbed);
        let expected = "the CPU quota of host gen2's control group held its generator up for 34.0 % of its CPUs' time in the window";
        assert!(check.detail.starts_with(expected), "{}", check.detail);
        let result = |share, lost| throttled("gen2", share, lost).result;
        assert_eq!(result(0.02, Lost::CpuTime), CheckResult::Passed);
        assert_eq!(result(0.021, Lost::CpuTime), CheckResult::Disturbed);
        assert_eq!(result(0.1, Lost::Timers), CheckResult::Passed);
        assert_eq!(result(0.101, Lost::Timers), CheckResult::Disturbed);
    }

    #[test]
    fn it_is_not_made_where_nobody_can_tell_whose_time_it_was() {
        for (all, is_server_visible) in [(&[others(500, 10)][..], false), (&[], true)] {
            assert_eq!(
                of(all, is_server_visible).result,
                CheckResult::NotApplicable
            );
        }
        assert_eq!(
            of(&[Others::default()], true).result,
            CheckResult::NotApplicable
        );
    }
}
