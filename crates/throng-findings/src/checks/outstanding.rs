//! Open loop and lockstep: the number outstanding by counts over time, against what the recorded latencies say.
//!
//! The one account is the integral of the number outstanding: a count at each send and each end, and the clock. The other is Little's
//! law over the records: Σ of the times from send to reply, as the histogram of latencies has them, ÷ the window. Both are cut to the
//! window and take in what was never answered, so that they are the same number for any server, and a silent one too: a record
//! that is lost, doubled or mistimed sets them apart by its share.
//!
//! Left out on purpose: samples. What looks now and then at a loop that sleeps now and then looks when it sleeps.

use throng_record::{Check, CheckKind, CheckResult, ExchangePhase, Pacing};

use super::{Kind, made, not_applicable};

pub(super) const KIND: Kind = Kind {
    name: "outstanding",
    title: "number outstanding",
    heading: "Number outstanding",
    is_the_servers_fault: false,
};

/// The greatest deviation that is accepted, as in Little's law of a closed loop.
const DEVIATION_MAX: f64 = 0.05;
/// The histogram has three significant digits. What waited for its send is in the latencies, and only their difference is compared: so
/// it adds that much of itself.
const RESOLUTION: f64 = 0.001;
/// For a fleet that is nearly idle: a hundredth of a message.
const SLACK: f64 = 0.01;

pub(super) fn check(pacing: &Pacing, exchange: &ExchangePhase) -> Check {
    let kind = CheckKind::Outstanding;
    if pacing.is_closed() {
        return not_applicable(
            kind,
            "a plain closed loop is checked by Little's law instead",
        );
    }
    let Some(outstanding) = &exchange.outstanding else {
        return not_applicable(kind, "the number outstanding was not measured");
    };
    if exchange.latency.count == 0 {
        return not_applicable(
            kind,
            "no message of the measured window was answered, so there are no records to compare",
        );
    }
    let waiting = exchange.replies_per_second * exchange.latency.mean_ns / 1e9;
    let bound = DEVIATION_MAX * outstanding.by_time + RESOLUTION * waiting + SLACK;
    let difference = (outstanding.by_time - outstanding.by_records).abs();
    let evidence = format!(
        "{:.2} messages were outstanding on average, counted over time; the recorded latencies say {:.2}",
        outstanding.by_time, outstanding.by_records
    );
    // Not `>`: a difference that is no number must not pass.
    if difference <= bound {
        made(kind, CheckResult::Passed, difference, bound, evidence)
    } else {
        let detail = format!(
            "{evidence}: latencies were lost, doubled or mistimed on their way into the histogram, so none of these figures can be trusted; if it happens again, report it with the stored run"
        );
        made(kind, CheckResult::Failed, difference, bound, detail)
    }
}

#[cfg(test)]
mod tests {
    use throng_record::phase::Outstanding;
    use throng_record::{Arrivals, Histogram};

    use super::*;

    const LOCKSTEP: Pacing = Pacing::Lockstep { group: 10 };
    const OPEN: Pacing = Pacing::Open {
        rate_per_second: 1_000.0,
        arrivals: Arrivals::Constant,
        outstanding: 1,
        spin: true,
    };

    /// 1,000 replies a second, each after this time.
    fn exchange(by_time: f64, by_records: f64, latency_ns: f64) -> ExchangePhase {
        ExchangePhase {
            outstanding: Some(Outstanding {
                by_time,
                by_records,
            }),
            replies_per_second: 1_000.0,
            latency: Histogram {
                count: 1_000,
                mean_ns: latency_ns,
                ..Histogram::default()
            },
            ..ExchangePhase::default()
        }
    }

    fn result(by_time: f64, by_records: f64, latency_ns: f64) -> CheckResult {
        check(&OPEN, &exchange(by_time, by_records, latency_ns)).result
    }

    #[test]
    fn five_percent_is_the_bound_in_either_direction() {
        for (by_records, expected) in [
            (95.0, CheckResult::Passed),
            (105.0, CheckResult::Passed),
            (94.8, CheckResult::Failed),
            (105.2, CheckResult::Failed),
            (f64::NAN, CheckResult::Failed),
        ] {
            assert_eq!(result(100.0, by_records, 100e6), expected, "{by_records}");
            let lockstep = check(&LOCKSTEP, &exchange(100.0, by_records, 100e6));
            assert_eq!(lockstep.result, expected, "{by_records}");
        }
    }

    #[test]
    fn a_nearly_idle_fleet_has_a_hundredth_of_a_message() {
        assert_eq!(result(0.02, 0.030_9, 20e3), CheckResult::Passed);
        assert_eq!(result(0.02, 0.031_1, 20e3), CheckResult::Failed);
    }

    #[test]
    fn where_most_of_a_latency_is_its_wait_for_the_send_the_histograms_digits_count() {
        // A second's wait on average: a thousand messages that waited, of which a thousandth is one.
        assert_eq!(result(10.0, 11.5, 1e9), CheckResult::Passed);
        assert_eq!(result(10.0, 11.6, 1e9), CheckResult::Failed);
    }

    #[test]
    fn it_is_not_made_without_records_or_in_a_plain_closed_loop() {
        let closed = Pacing::Closed { outstanding: 1 };
        let unmeasured = ExchangePhase::default();
        let mut silent = exchange(100.0, 100.0, 0.0);
        silent.latency.count = 0;
        for check in [
            check(&closed, &exchange(1.0, 9.0, 1e6)),
            check(&LOCKSTEP, &unmeasured),
            check(&OPEN, &silent),
        ] {
            assert_eq!(check.result, CheckResult::NotApplicable, "{}", check.detail);
        }
    }
}
