//! Unfair service: in a closed loop, where every connection asks again as soon as it is answered, some were answered far more often than others.

use throng_record::finding::UnfairService;
use throng_record::format::{exact, hundredths, plural};

use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "unfair-service",
    title: "Unfair service between connections",
    page: include_str!("../../../../docs/findings/unfair-service.md"),
};

impl Words for UnfairService {
    fn happened(&self) -> String {
        format!(
            "of {} that asked again at once, one in ten had at most {} replies in the window and one in ten at least {} (median {}, fewest {}, most {}); Jain's fairness index is {}.",
            plural(self.connections.into(), "connection"),
            exact(self.replies_p10.into()),
            exact(self.replies_p90.into()),
            exact(self.replies_median.into()),
            exact(self.replies_min.into()),
            exact(self.replies_max.into()),
            hundredths(self.fairness_jain)
        )
    }

    fn cause(&self) -> &'static str {
        "the server does not come to its connections in turn: threads or loops that have more connections than others, a scheduler that goes on with whoever ran last, a pool or a lock that waiters get in no order. The percentiles count messages, and so mostly those of the connections that were served often."
    }

    fn remedy(&self) -> String {
        "share connections evenly among loops (epoll-shared instead of epoll-reuseport, or hand them over), answer a bounded number of messages of one connection before the next has its turn, and compare servers by latency only where they are about equally fair.".to_owned()
    }

    fn gravity(&self) -> f64 {
        f64::from(self.replies_p90) / f64::from(self.replies_p10.max(1))
    }
}
