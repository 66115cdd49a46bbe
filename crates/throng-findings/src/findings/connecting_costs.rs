//! Connecting costs: of requests that each make a connection, a large part of the time was the connect.

use throng_record::finding::ConnectingCosts;
use throng_record::format::time_ns;

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "connecting-costs",
    title: "Connecting takes much of each request",
    page: include_str!("../../../../docs/findings/connecting-costs.md"),
};

/// A connect over loopback takes some ten microseconds; a quarter of a request is more than its share where the server does any work.
const SHARE_MIN: f64 = 0.25;
/// A mean of fewer is chance.
const REQUESTS_MIN: u64 = 100;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<ConnectingCosts> {
    // Of others the connect itself is what is asked about.
    evidence.phases().tasks()?;
    let phase = evidence.phases().connections()?;
    let (connects, requests) = (&phase.connect_latency, &phase.request_latency);
    let share = connects.total_ns() / requests.total_ns();
    (requests.count >= REQUESTS_MIN && share >= SHARE_MIN).then_some(ConnectingCosts {
        requests: requests.count,
        connect_ns_mean: connects.mean_ns,
        request_ns_mean: requests.mean_ns,
        share: share.min(1.0),
    })
}

impl Words for ConnectingCosts {
    fn happened(&self) -> String {
        format!(
            "of a request's {} the connect took {}: {:.0} %.",
            time_ns(self.request_ns_mean),
            time_ns(self.connect_ns_mean),
            self.share * 100.0
        )
    }

    fn cause(&self) -> &'static str {
        "each request makes a connection and ends it: the server accepts, often hands over to a thread, and closes for every one. Where its queue is short or it accepts seldom, clients wait for that before they can ask."
    }

    fn remedy(&self) -> String {
        "keep connections and send request after request on them (--reuse true shows what that gives); where that cannot be, a longer accept queue and a thread that does nothing but accept.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use throng_record::TasksRecord;

    use super::*;
    use crate::hand_made::Case;

    fn found(connect_ns: f64, requests: u64) -> Option<ConnectingCosts> {
        let mut case = Case::backlog();
        case.exchange().tasks = Some(TasksRecord::default());
        let phase = case.requests();
        (phase.connect_latency.count, phase.connect_latency.mean_ns) = (requests, connect_ns);
        (phase.request_latency.count, phase.request_latency.mean_ns) = (requests, 1e6);
        find(&case.evidence())
    }

    #[test]
    fn a_quarter_of_the_time_is_much_where_requests_are_many_and_do_something() {
        let quarter = found(250_000.0, 100).expect("a quarter");
        assert!(
            quarter.happened().contains("25 %"),
            "{}",
            quarter.happened()
        );
        assert_eq!(found(249_000.0, 100), None);
        assert_eq!(found(900_000.0, 99), None);
        assert_eq!(find(&Case::backlog().evidence()), None, "no tasks");
    }
}
