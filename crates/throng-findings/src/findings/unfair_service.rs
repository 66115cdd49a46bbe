//! Unfair service: in a closed loop, where every connection asks again as soon as it is answered, some were answered far more often than others.
//!
//! Not where the server serves fewer connections at once than there are: the others wait by its design, and what it serves is told as
//! such. Nor where some were never served at all, which fails a check of its own. Connections that failed are not compared, and what two threads of
//! the generator differ by is not the server's doing.

use throng_record::finding::UnfairService;
use throng_record::format::{exact, hundredths, plural};

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "unfair-service",
    title: "Unfair service between connections",
    page: include_str!("../../../../docs/findings/unfair-service.md"),
};

/// Fewer have no tenth.
const CONNECTIONS_MIN: u32 = 10;
/// A server may answer a connection several times before it turns to the next, and which it turns to may be chance: counts then scatter by
/// √(mean × burst). tokio with 1,000 connections had tenths of 96 and 227 at a mean of 159, as bursts of 16 make them.
pub(super) const BURST_REPLIES: f64 = 16.0;
/// With such bursts, tenths differ by half or more below this mean.
const MEAN_MIN: f64 = 25.0 * BURST_REPLIES;
/// One in ten got twice as many as another one in ten.
const RATIO_MIN: f64 = 2.0;
/// If each reply fell on any connection by chance, the counts of n would scatter by √mean, and the tenths of the smallest fleet, which are its
/// lowest and second highest, would be six times that apart in less than one window of a thousand; of larger ones more seldom.
const DEVIATIONS_MIN: f64 = 6.0;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<UnfairService> {
    let exchange = evidence.phases().exchange()?;
    let shares = exchange.steady?.replies_per_connection?;
    let serves_some = |most| most < evidence.setting.connections;
    let is_partial = evidence.serves_at_once().is_some_and(serves_some)
        || exchange.connections_served < evidence.phases().kept();
    if is_partial || shares.connections < CONNECTIONS_MIN || shares.mean < MEAN_MIN {
        return None;
    }
    let (low, high) = (f64::from(shares.p10), f64::from(shares.p90));
    let is_beyond_chance = high - low >= DEVIATIONS_MIN * shares.mean.sqrt();
    // Both sides are multiplied out, since there may be connections and threads without a reply.
    let is_the_servers = shares.shard_mean_min > 0.0
        && high * shares.shard_mean_min >= RATIO_MIN * low * shares.shard_mean_max;
    (is_beyond_chance && is_the_servers).then_some(UnfairService {
        connections: shares.connections,
        replies_min: shares.min,
        replies_p10: shares.p10,
        replies_median: shares.median,
        replies_p90: shares.p90,
        replies_max: shares.max,
        fairness_jain: shares.fairness_jain,
    })
}

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

#[cfg(test)]
mod tests {
    use throng_record::{RepliesPerConnection, SteadyWindow};

    use super::*;
    use crate::hand_made::Case;

    /// 32 connections, of which one in ten had 400 replies and another 800.
    fn case(change: impl Fn(&mut RepliesPerConnection)) -> Case {
        let mut case = Case::echo();
        case.connect().connected = 32;
        case.exchange().connections_served = 32;
        let mut shares = RepliesPerConnection {
            connections: 32,
            min: 360,
            p10: 400,
            median: 640,
            p90: 800,
            max: 920,
            mean: 620.0,
            fairness_jain: 0.93,
            seldom_served: 0,
            shard_mean_min: 620.0,
            shard_mean_max: 620.0,
        };
        change(&mut shares);
        case.exchange().steady = Some(SteadyWindow {
            replies_per_connection: Some(shares),
            ..SteadyWindow::default()
        });
        case
    }

    fn is_found(change: impl Fn(&mut RepliesPerConnection)) -> bool {
        find(&case(change).evidence()).is_some()
    }

    #[test]
    fn a_tenth_with_twice_as_many_as_another_is_unfair() {
        let expected = UnfairService {
            connections: 32,
            replies_min: 360,
            replies_p10: 400,
            replies_median: 640,
            replies_p90: 800,
            replies_max: 920,
            fairness_jain: 0.93,
        };
        assert_eq!(find(&case(|_| {}).evidence()), Some(expected));
        assert!(!is_found(|shares| shares.p90 = 799));
        assert!(is_found(|shares| shares.p10 = 0));
    }

    /// Six times √400 is 120.
    #[test]
    fn what_chance_makes_is_not() {
        let few = |p90| {
            is_found(|shares| {
                (shares.mean, shares.p10, shares.p90) = (400.0, 80, p90);
            })
        };
        assert!(few(200));
        assert!(!few(199), "though it is more than twice as many");
        let mean = |mean| {
            is_found(|shares| {
                (shares.mean, shares.p10, shares.p90) = (mean, 1, 900);
            })
        };
        assert!(mean(400.0));
        assert!(!mean(399.9));
    }

    #[test]
    fn a_fleet_without_tenths_is_not_judged() {
        assert!(is_found(|shares| shares.connections = 10));
        assert!(!is_found(|shares| shares.connections = 9));
    }

    #[test]
    fn what_the_generators_threads_differ_by_is_not_the_servers() {
        let means = |low, high| {
            is_found(|shares| {
                shares.p90 = 1_000;
                (shares.shard_mean_min, shares.shard_mean_max) = (low, high);
            })
        };
        assert!(means(100.0, 125.0));
        assert!(!means(100.0, 126.0));
        assert!(!means(0.0, 126.0));
    }

    #[test]
    fn who_is_not_served_by_design_or_at_all_is_told_otherwise() {
        let mut case = case(|_| {});
        case.trial.job.fleet.serves_at_once = Some(32);
        assert!(find(&case.evidence()).is_some());
        case.trial.job.fleet.serves_at_once = Some(31);
        assert_eq!(find(&case.evidence()), None);
        case.trial.job.fleet.serves_at_once = None;
        case.exchange().connections_served = 31;
        assert_eq!(find(&case.evidence()), None);
    }

    #[test]
    fn without_a_closed_loop_there_is_nothing_to_compare() {
        let mut case = case(|_| {});
        case.exchange().steady = None;
        assert_eq!(find(&case.evidence()), None);
    }
}
