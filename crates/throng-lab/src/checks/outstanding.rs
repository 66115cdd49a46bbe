//! Open loop and lockstep: the number outstanding, seen by a sampler, against throughput × mean time from send to reply.
//!
//! The sampler reads counters that the recording of latencies does not use, so the two are independent accounts. Within
//! 10 %, but never closer than the sampling itself can tell: four standard errors of the samples' mean, and at least a
//! twentieth of a message, which is what a fleet that is nearly idle shows.

use throng_record::phase::OutstandingSampled;
use throng_record::{Check, CheckKind, CheckResult, Pacing};

use super::{made, not_applicable};

const DEVIATION_MAX: f64 = 0.10;
/// Of fewer samples the mean says too little.
const SAMPLES_MIN: u64 = 50;
const SLACK_MIN: f64 = 0.05;
const STANDARD_ERRORS: f64 = 4.0;

pub(super) fn check(pacing: &Pacing, sampled: Option<&OutstandingSampled>) -> Check {
    let kind = CheckKind::OutstandingSampled;
    if pacing.is_closed() {
        return not_applicable(
            kind,
            "a plain closed loop is checked by Little's law instead",
        );
    }
    let Some(sampled) = sampled else {
        return not_applicable(kind, "the number outstanding was not sampled");
    };
    if sampled.samples < SAMPLES_MIN {
        return not_applicable(
            kind,
            format!(
                "only {} samples of the number outstanding, {SAMPLES_MIN} are needed; measure longer",
                sampled.samples
            ),
        );
    }
    let standard_error = sampled.stdev / (sampled.samples as f64).sqrt();
    let bound = (DEVIATION_MAX * sampled.by_law)
        .max(STANDARD_ERRORS * standard_error)
        .max(SLACK_MIN);
    let difference = (sampled.mean - sampled.by_law).abs();
    let evidence = format!(
        "{} samples saw {:.2} messages outstanding on average, throughput × mean time to reply says {:.2}",
        sampled.samples, sampled.mean, sampled.by_law
    );
    if difference <= bound {
        made(kind, CheckResult::Passed, difference, bound, evidence)
    } else {
        let detail = format!(
            "{evidence}: replies were not recorded when they came, most likely because the generator was held up; give it a CPU of its own (cpus) or more shards"
        );
        made(kind, CheckResult::Failed, difference, bound, detail)
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Arrivals;

    use super::*;

    const LOCKSTEP: Pacing = Pacing::Lockstep { group: 10 };

    fn sampled(samples: u64, mean: f64, by_law: f64) -> OutstandingSampled {
        OutstandingSampled {
            samples,
            mean,
            stdev: 1.0,
            by_law,
        }
    }

    #[test]
    fn ten_percent_is_the_bound_where_samples_are_many() {
        for (mean, expected) in [
            (91.0, CheckResult::Passed),
            (109.0, CheckResult::Passed),
            (89.0, CheckResult::Failed),
            (111.0, CheckResult::Failed),
            (f64::NAN, CheckResult::Failed),
        ] {
            let result = check(&LOCKSTEP, Some(&sampled(10_000, mean, 100.0))).result;
            assert_eq!(result, expected, "{mean}");
        }
    }

    #[test]
    fn a_nearly_idle_fleet_is_not_judged_below_what_sampling_can_tell() {
        let open = Pacing::Open {
            rate_per_second: 100.0,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin: true,
        };
        // Four standard errors of 100 samples are 0.4 of a message.
        assert_eq!(
            check(&open, Some(&sampled(100, 0.39, 0.002))).result,
            CheckResult::Passed
        );
        assert_eq!(
            check(&open, Some(&sampled(100, 0.41, 0.002))).result,
            CheckResult::Failed
        );
        let steady = OutstandingSampled {
            stdev: 0.0,
            ..sampled(100, 0.04, 0.002)
        };
        assert_eq!(check(&open, Some(&steady)).result, CheckResult::Passed);
    }

    #[test]
    fn it_is_not_made_without_samples_or_in_a_plain_closed_loop() {
        let closed = Pacing::Closed { outstanding: 1 };
        for check in [
            check(&closed, Some(&sampled(1_000, 1.0, 9.0))),
            check(&LOCKSTEP, None),
            check(&LOCKSTEP, Some(&sampled(49, 1.0, 9.0))),
        ] {
            assert_eq!(check.result, CheckResult::NotApplicable, "{}", check.detail);
        }
    }
}
