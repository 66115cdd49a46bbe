//! A full Unix queue: connects that waited until the server had accepted others.
//!
//! Of requests that each make a connection: where connections are kept, a burst of connects is over before anything is measured.

use throng_record::finding::FullUnixQueue;
use throng_record::format::{exact, time_ns};

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "full-unix-queue",
    title: "Full queue of a Unix socket",
    page: include_str!("../../../../docs/findings/full-unix-queue.md"),
};

/// Less of the requests' time is nothing that a longer queue would give back.
const SHARE_MIN: f64 = 0.05;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<FullUnixQueue> {
    let phase = evidence.phases().connections()?;
    let waits = phase.queue_full;
    let share = waits.waited_ns as f64 / phase.request_latency.total_ns();
    let takes_backlog = evidence.target.takes_backlog();
    (waits.connects > 0 && share >= SHARE_MIN).then(|| FullUnixQueue {
        connects: waits.connects,
        of: phase.begun_in_all(),
        waited_ns: waits.waited_ns,
        share: share.min(1.0),
        backlog: takes_backlog.then_some(evidence.setting.backlog),
    })
}

impl Words for FullUnixQueue {
    fn happened(&self) -> String {
        let backlog = match self.backlog {
            Some(backlog) => format!(" (backlog {backlog})"),
            None => String::new(),
        };
        format!(
            "{} of {} connects found the accept queue full{backlog} and waited for {} on average: {:.0} % of the time of all requests.",
            exact(self.connects),
            exact(self.of),
            time_ns(self.waited_ns as f64 / self.connects.max(1) as f64),
            self.share * 100.0
        )
    }

    fn cause(&self) -> &'static str {
        "the queue of a Unix socket holds one connection more than the backlog, and multiprocessing.connection.Listener asks for a backlog of 1: whoever comes third sleeps until the server has accepted one. Nothing is dropped and nobody tries again, so that no counter of the kernel shows it."
    }

    fn remedy(&self) -> String {
        "a longer queue (backlog of listen, --backlog 128) where clients come in bursts; connections that are kept where they come again and again.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use throng_record::QueueFullWaits;

    use super::*;
    use crate::hand_made::Case;

    /// A thousand requests of 1 ms, of which half waited for so long.
    fn case(waited_ns: u64) -> Case {
        let mut case = Case::backlog();
        let phase = case.requests();
        phase.request_latency.count = 1_000;
        phase.request_latency.mean_ns = 1e6;
        phase.begun = 1_000;
        phase.queue_full = QueueFullWaits {
            connects: 500,
            waited_ns: 500 * waited_ns,
        };
        case
    }

    #[test]
    fn waits_that_are_a_part_of_the_requests_time_are_told_with_their_length() {
        let found = find(&case(400_000).evidence()).expect("a fifth");
        assert_eq!((found.connects, found.of, found.share), (500, 1_000, 0.2));
        let words = found.happened();
        assert!(
            words.contains("500 of 1,000") && words.contains("400 µs"),
            "{words}"
        );
        assert!(find(&case(100_000).evidence()).is_some());
        assert_eq!(find(&case(99_000).evidence()), None);
        assert_eq!(find(&Case::echo().evidence()), None);
    }
}
