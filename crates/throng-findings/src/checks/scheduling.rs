//! Open loop: the generator kept its own schedule, so that the latency is the server's and not its own.

use throng_record::{Check, CheckKind, CheckResult, Histogram, Pacing};

use super::{Kind, made, not_applicable};

pub(super) const KIND: Kind = Kind {
    name: "scheduling-error",
    title: "scheduling error",
    heading: "Scheduling error",
    is_the_servers_fault: false,
};

/// Spinning for the last microseconds errs by less than 10 µs on a quiet core.
const SPINNING_P99_NS_MAX: u64 = 15_000;
/// Sleeping alone errs by 40 to 75 µs.
const SLEEPING_P99_NS_MAX: u64 = 100_000;
/// Spinning, but for what is to be read: a line that comes due meanwhile waits for a batch of reads.
const READING_P99_NS_MIN: u64 = 100_000;
/// What share of the median latency it may be, where that is more. To read N deliveries takes longer the more connections there are, and so does
/// their latency; what matters is how much of the one is in the other.
const READING_SHARE_MAX: f64 = 0.05;

pub(super) fn check(pacing: &Pacing, error: Option<&Histogram>) -> Check {
    let kind = CheckKind::SchedulingError;
    let &Pacing::Open { spin, .. } = pacing else {
        return not_applicable(kind, "only an open loop has a schedule");
    };
    let Some(error) = error.filter(|error| error.count > 0) else {
        return not_applicable(kind, "nothing was sent by the schedule");
    };
    if spin {
        let remedy = "give it a CPU of its own (cpus), more shards, or a lower rate";
        kept(error, SPINNING_P99_NS_MAX, "spinning", remedy)
    } else {
        let remedy = "let it spin (leave --no-spin out), or give it a CPU of its own (cpus)";
        kept(error, SLEEPING_P99_NS_MAX, "sleeping", remedy)
    }
}

/// Lines of a fan-out: the thread that puts them also reads what comes out, and may be at that when one is due. `latency` is that of the
/// deliveries, from the due time.
pub(super) fn of_lines(error: &Histogram, latency: &Histogram) -> Check {
    let remedy = "give it a CPU of its own (cpus), more shards, or a lower rate";
    let share_ns = latency.p50_ns as f64 * READING_SHARE_MAX;
    let bound_ns = READING_P99_NS_MIN.max(share_ns as u64);
    let how = "reading in between, 5 % of the median latency";
    kept(error, bound_ns, how, remedy)
}

fn kept(error: &Histogram, bound_ns: u64, how: &str, remedy: &str) -> Check {
    let kind = CheckKind::SchedulingError;
    if error.count == 0 {
        return not_applicable(kind, "nothing was sent by the schedule");
    }
    let microseconds = |ns: u64| ns as f64 / 1e3;
    let evidence = format!(
        "99 % of the messages were sent within {:.1} µs of when they could be ({how}: at most {:.0} µs)",
        microseconds(error.p99_ns),
        microseconds(bound_ns)
    );
    let (measured, bound) = (error.p99_ns as f64, bound_ns as f64);
    if error.p99_ns <= bound_ns {
        made(kind, CheckResult::Passed, measured, bound, evidence)
    } else {
        let detail = format!(
            "{evidence}: the generator was late, and latencies include its own lateness; {remedy}"
        );
        made(kind, CheckResult::Qualified, measured, bound, detail)
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Arrivals;

    use super::*;

    fn open(spin: bool) -> Pacing {
        Pacing::Open {
            rate_per_second: 1_000.0,
            arrivals: Arrivals::Exponential,
            outstanding: 1,
            spin,
        }
    }

    fn error(p99_ns: u64) -> Histogram {
        Histogram {
            count: 1_000,
            p99_ns,
            ..Histogram::default()
        }
    }

    #[test]
    fn spinning_and_sleeping_have_their_own_bounds() {
        for (spin, p99_ns, expected) in [
            (true, 15_000, CheckResult::Passed),
            (true, 15_001, CheckResult::Qualified),
            (false, 100_000, CheckResult::Passed),
            (false, 100_001, CheckResult::Qualified),
        ] {
            assert_eq!(
                check(&open(spin), Some(&error(p99_ns))).result,
                expected,
                "{p99_ns}"
            );
        }
    }

    #[test]
    fn lines_may_be_late_by_a_twentieth_of_what_their_deliveries_take() {
        let result = |p99_ns, p50_ns| {
            let latency = Histogram { p50_ns, ..error(0) };
            of_lines(&error(p99_ns), &latency).result
        };
        assert_eq!(result(100_000, 40_000), CheckResult::Passed);
        assert_eq!(result(100_001, 2_000_000), CheckResult::Qualified);
        assert_eq!(result(400_000, 8_000_000), CheckResult::Passed);
        assert_eq!(result(400_001, 8_000_000), CheckResult::Qualified);
    }

    #[test]
    fn without_a_schedule_there_is_no_error_of_it() {
        let closed = Pacing::Closed { outstanding: 1 };
        assert_eq!(
            check(&closed, Some(&error(1))).result,
            CheckResult::NotApplicable
        );
        assert_eq!(check(&open(true), None).result, CheckResult::NotApplicable);
        assert_eq!(
            check(&open(true), Some(&Histogram::default())).result,
            CheckResult::NotApplicable
        );
    }
}
