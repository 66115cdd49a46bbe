//! Little's law (J. D. C. Little, 1961): what is outstanding is throughput × mean latency.
//!
//! In a plain closed loop what is outstanding is known by construction, connections × k, for as long as every connection is
//! active. Throughput comes from counting arrivals, the mean from the histogram that the report's percentiles come from: if their
//! product is not that number, the percentiles are not those of the messages counted. That the generator is slow to send
//! it cannot show: a message's latency begins with the reply before it.
//!
//! The window cuts through messages at both ends. The generator counts of each what lies within it, of those still
//! outstanding at its end too, so that neither a short window nor a starved connection looks like an error.

use throng_record::{Check, CheckKind, CheckResult, Pacing, SteadyWindow};

use super::{Kind, made, not_applicable, percent};

pub(super) const KIND: Kind = Kind {
    name: "littles-law",
    title: "Little's law",
    heading: "Little's law",
    is_the_servers_fault: false,
};

/// The greatest deviation that is accepted.
const DEVIATION_MAX: f64 = 0.05;
/// Fewer say too little.
const REPLIES_MIN: u64 = 100;

pub(super) fn check(pacing: &Pacing, steady: Option<&SteadyWindow>, failed: u64) -> Check {
    let kind = CheckKind::LittlesLaw;
    if !pacing.is_closed() {
        return not_applicable(
            kind,
            "only in a plain closed loop is it known beforehand how many messages are outstanding",
        );
    }
    if failed > 0 {
        return not_applicable(
            kind,
            "connections failed, so it is not known how many messages should have been outstanding",
        );
    }
    let Some(steady) = steady else {
        return not_applicable(
            kind,
            "there was no stretch of time in which every connection was active",
        );
    };
    if steady.replies < REPLIES_MIN || steady.outstanding_by_construction <= 0.0 {
        return not_applicable(
            kind,
            format!(
                "only {} replies while every connection was active, {REPLIES_MIN} are needed; measure longer",
                steady.replies
            ),
        );
    }
    let deviation = (steady.outstanding_by_law / steady.outstanding_by_construction - 1.0).abs();
    let evidence = format!(
        "throughput × mean latency says that {:.1} messages were outstanding, by construction there were {:.0} ({} apart)",
        steady.outstanding_by_law,
        steady.outstanding_by_construction,
        percent(deviation)
    );
    // Not `<=` alone: a deviation that is no number must not pass.
    if deviation <= DEVIATION_MAX {
        made(
            kind,
            CheckResult::Passed,
            deviation,
            DEVIATION_MAX,
            evidence,
        )
    } else {
        let detail = format!(
            "{evidence}: latencies were lost, doubled or mistimed on their way into the histogram, so none of these figures can be trusted; if it happens again, report it with the stored run"
        );
        made(kind, CheckResult::Failed, deviation, DEVIATION_MAX, detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSED: Pacing = Pacing::Closed { outstanding: 2 };

    fn steady(by_law: f64, replies: u64) -> SteadyWindow {
        SteadyWindow {
            outstanding_by_law: by_law,
            outstanding_by_construction: 100.0,
            replies,
            // A window of one second.
            replies_per_second: replies as f64,
            ..SteadyWindow::default()
        }
    }

    #[test]
    fn five_percent_either_way_is_the_bound() {
        for (by_law, expected) in [
            (95.1, CheckResult::Passed),
            (104.9, CheckResult::Passed),
            (94.9, CheckResult::Failed),
            (105.1, CheckResult::Failed),
            (f64::NAN, CheckResult::Failed),
        ] {
            assert_eq!(
                check(&CLOSED, Some(&steady(by_law, 100)), 0).result,
                expected,
                "{by_law}"
            );
        }
    }

    #[test]
    fn it_is_not_made_where_it_means_nothing() {
        let lockstep = Pacing::Lockstep { group: 10 };
        for check in [
            check(&lockstep, Some(&steady(1.0, 1_000)), 0),
            check(&CLOSED, None, 0),
            check(&CLOSED, Some(&steady(1.0, 99)), 0),
            check(&CLOSED, Some(&steady(1.0, 1_000)), 1),
        ] {
            assert_eq!(check.result, CheckResult::NotApplicable, "{}", check.detail);
        }
    }
}
