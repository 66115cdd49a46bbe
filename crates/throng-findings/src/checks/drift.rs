//! Drift: the two halves of the measured window must agree, or the server was not yet (or no longer) in a steady state.
//!
//! The halves are compared by batch means (Law, *Simulation Modeling and Analysis*, ch. 9): each half is cut into batches long
//! enough to be nearly independent, and the scatter of their means gives the standard error of the difference. A difference
//! fails if it is large (more than 10 % of the first half's rate) *and* certain (more than three standard errors).
//!
//! Where no warm-up was asked for, a server that becomes faster is what is measured: of it the check says so, and does not judge.

use throng_record::{Check, CheckKind, CheckResult, Timeline};

use super::{Kind, made, not_applicable, percent};

pub(super) const KIND: Kind = Kind {
    name: "drift",
    title: "drift",
    heading: "Drift",
    is_the_servers_fault: false,
};

const DIFFERENCE_MAX: f64 = 0.10;
const STANDARD_ERRORS: f64 = 3.0;
/// Batches in each half.
const BATCHES: usize = 10;
/// Batches of fewer replies scatter by more than the difference that is looked for.
const REPLIES_MIN: u64 = 1_000;

pub(super) fn check(timeline: &Timeline, duration_ns: u64, is_cold: bool) -> Check {
    let kind = CheckKind::Drift;
    let slices = whole_slices(timeline, duration_ns);
    let replies: u64 = slices.iter().sum();
    if slices.len() < 2 * BATCHES {
        return not_applicable(
            kind,
            "the measurement was too short to be cut into halves that can be compared; measure longer",
        );
    }
    if replies < REPLIES_MIN {
        return not_applicable(
            kind,
            format!(
                "only {replies} replies, {REPLIES_MIN} are needed to compare the halves; measure longer"
            ),
        );
    }
    let (first, second) = slices.split_at(slices.len() / 2);
    let (first, first_variance) = mean_and_its_variance(&batch_means(first));
    let (second, second_variance) = mean_and_its_variance(&batch_means(second));
    // Of the first half, so that "slower" ends at 100 %: the server stopped.
    let difference = (second - first) / first.max(f64::MIN_POSITIVE);
    let standard_errors = (second - first).abs() / (first_variance + second_variance).sqrt();
    let evidence = format!(
        "the second half of the measurement was {} {} than the first",
        percent(difference.abs()),
        if difference < 0.0 { "slower" } else { "faster" }
    );
    let has_drifted = difference.abs() > DIFFERENCE_MAX && standard_errors > STANDARD_ERRORS;
    if has_drifted && is_cold && difference > 0.0 {
        let detail = format!("{evidence}: it was measured cold, without a warm-up, as was asked");
        return not_applicable(kind, detail);
    }
    if has_drifted {
        let cause = if difference > 0.0 {
            "the server was still warming up (lengthen the warm-up), or the machine got quieter"
        } else {
            "the server slowed down under load (memory, heat, a queue that grows), or the machine got busy; measure longer, and look at the series"
        };
        let detail = format!("{evidence}: {cause}");
        made(
            kind,
            CheckResult::Disturbed,
            difference,
            DIFFERENCE_MAX,
            detail,
        )
    } else {
        made(
            kind,
            CheckResult::Passed,
            difference,
            DIFFERENCE_MAX,
            evidence,
        )
    }
}

/// The slices that lie wholly within the window: the last one is often cut off by its end.
fn whole_slices(timeline: &Timeline, duration_ns: u64) -> &[u64] {
    let whole = duration_ns.checked_div(timeline.slice_ns).unwrap_or(0) as usize;
    &timeline.replies[..whole.min(timeline.replies.len())]
}

/// Replies per slice of each batch. Batches are as equal as whole slices allow, and leave none out.
fn batch_means(slices: &[u64]) -> Vec<f64> {
    let border = |batch: usize| batch * slices.len() / BATCHES;
    (0..BATCHES)
        .map(|batch| {
            let slices = &slices[border(batch)..border(batch + 1)];
            slices.iter().sum::<u64>() as f64 / slices.len() as f64
        })
        .collect()
}

/// The mean of the values, and the variance of that mean.
fn mean_and_its_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0) / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE_NS: u64 = 10;

    /// 100 slices whose halves have these levels, each slice off its level by `scatter`, up and down in turn.
    fn timeline(first: u64, second: u64, scatter: u64) -> Timeline {
        let level = |slice| if slice < 50 { first } else { second };
        // Slices of one batch (five) move together, so that batches differ and not only slices.
        let replies = (0..100)
            .map(|slice| {
                if slice / 5 % 2 == 0 {
                    level(slice) + scatter
                } else {
                    level(slice) - scatter
                }
            })
            .collect();
        Timeline {
            slice_ns: SLICE_NS,
            replies,
            latency_sum_ns: vec![],
        }
    }

    fn result(timeline: &Timeline) -> CheckResult {
        check(timeline, 100 * SLICE_NS, false).result
    }

    #[test]
    fn a_difference_must_be_large_and_certain_to_fail() {
        assert_eq!(result(&timeline(100, 100, 2)), CheckResult::Passed);
        assert_eq!(
            result(&timeline(100, 109, 2)),
            CheckResult::Passed,
            "certain but small"
        );
        assert_eq!(result(&timeline(100, 113, 2)), CheckResult::Disturbed);
        assert_eq!(result(&timeline(113, 100, 2)), CheckResult::Disturbed);
        assert_eq!(
            result(&timeline(100, 113, 40)),
            CheckResult::Passed,
            "large but uncertain"
        );
        assert_eq!(
            result(&timeline(100, 130, 0)),
            CheckResult::Disturbed,
            "no scatter at all"
        );
        assert_eq!(
            result(&timeline(100, 100, 0)),
            CheckResult::Passed,
            "no scatter at all"
        );
    }

    #[test]
    fn the_cause_depends_on_the_direction() {
        let faster = check(&timeline(100, 130, 2), 100 * SLICE_NS, false).detail;
        assert!(
            faster.contains("faster") && faster.contains("warm-up"),
            "{faster}"
        );
        let slower = check(&timeline(130, 100, 2), 100 * SLICE_NS, false).detail;
        assert!(slower.contains("slower"), "{slower}");
    }

    #[test]
    fn the_halves_are_compared_with_the_first() {
        let detail =
            |first, second| check(&timeline(first, second, 2), 100 * SLICE_NS, false).detail;
        let slower = detail(400, 80);
        assert!(slower.contains("80.0 % slower than the first"), "{slower}");
        let faster = detail(100, 300);
        assert!(faster.contains("200.0 % faster than the first"), "{faster}");
        let none_at_first = detail(2, 300);
        assert!(none_at_first.contains("faster"), "{none_at_first}");
    }

    #[test]
    fn a_cold_server_may_become_faster_and_not_slower() {
        let of = |first, second| check(&timeline(first, second, 2), 100 * SLICE_NS, true);
        let faster = of(100, 130);
        assert_eq!(faster.result, CheckResult::NotApplicable);
        assert!(faster.detail.contains("cold"), "{}", faster.detail);
        assert_eq!(of(130, 100).result, CheckResult::Disturbed);
        assert_eq!(of(100, 100).result, CheckResult::Passed);
    }

    #[test]
    fn a_slice_that_the_end_cut_off_is_no_drift() {
        let mut cut = timeline(100, 100, 2);
        cut.replies.truncate(41);
        cut.replies[40] = 3;
        assert_eq!(
            check(&cut, 40 * SLICE_NS + 1, false).result,
            CheckResult::Passed
        );
    }

    #[test]
    fn too_little_is_not_judged() {
        assert_eq!(
            check(&Timeline::default(), 0, false).result,
            CheckResult::NotApplicable
        );
        let mut short = timeline(100, 100, 2);
        short.replies.truncate(19);
        assert_eq!(
            check(&short, 1_000, false).result,
            CheckResult::NotApplicable
        );
        assert_eq!(result(&timeline(9, 3, 0)), CheckResult::NotApplicable);
    }
}
