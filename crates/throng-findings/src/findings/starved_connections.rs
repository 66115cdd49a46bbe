//! Starved connections: a few were answered never or seldom, while the others were.
//!
//! [Unfair service](super::unfair_service) compares tenths, and does not see one connection of twenty. Two things tell of it. In a closed
//! loop, where every connection asks again as soon as it is answered, its share: at most a fifth of the median. In any loop, since what
//! an open one asks of a connection is the generator's choice, its wait: at the window's end several times as long as any reply took, up to the last
//! reply that another connection got.
//!
//! Not where the server serves fewer connections at once than there are: the others wait by its design, and what it serves is told as such. Nor where the
//! tenths differ too: that is told once.

use throng_record::RepliesPerConnection;
use throng_record::finding::StarvedConnections;
use throng_record::format::{exact, plural};

use super::clause::time;
use super::unfair_service;
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "starved-connections",
    title: "Starved connections",
    page: include_str!("../../../../docs/findings/starved-connections.md"),
};

/// One in a hundred: a single one of thousands may be unlucky.
const SHARE_MIN: f64 = 0.01;
/// A wait this many times as long as the slowest reply.
const TIMES_SLOWEST_MIN: u64 = 5;
/// How seldom chance may give any connection so few replies.
const CHANCE_MAX: f64 = 0.001;
/// If bursts of replies fell on connections by chance (Poisson, mean m), one had at most m ÷ 5 with a probability below exp(−0.478 m): Chernoff's
/// bound, with 0.478 = 1 − 0.2 + 0.2 ln 0.2.
const CHERNOFF_OF_A_FIFTH: f64 = 0.478;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<StarvedConnections> {
    let connections = evidence.phases().kept();
    let serves_some = |most| most < evidence.setting.connections;
    if evidence.has_own_connections()
        || evidence.serves_at_once().is_some_and(serves_some)
        || unfair_service::find(evidence).is_some()
    {
        return None;
    }
    let are_more_than_unlucky =
        |number: u32| number > 0 && f64::from(number) >= SHARE_MIN * f64::from(connections);
    let exchange = evidence.phases().exchange()?;
    let steady = exchange.steady.as_ref();
    let shares = steady.and_then(|steady| steady.replies_per_connection.as_ref());
    let shares = shares
        .filter(|shares| are_more_than_unlucky(shares.seldom_served) && is_beyond_chance(shares));
    let starved = exchange.starved;
    let is_waiting = are_more_than_unlucky(starved.connections)
        && starved.waited_ns_max >= TIMES_SLOWEST_MIN * starved.reply_ns_max;
    (shares.is_some() || is_waiting).then(|| StarvedConnections {
        connections,
        seldom_served: shares.map(|shares| shares.seldom_served),
        replies_min: shares.map(|shares| shares.min),
        replies_median: shares.map(|shares| shares.median),
        waiting: is_waiting.then_some(starved.connections),
        waited_ns_max: is_waiting.then_some(starved.waited_ns_max),
        reply_ns_max: starved.reply_ns_max,
    })
}

/// Whether chance would seldom have given any of so many connections a fifth.
fn is_beyond_chance(shares: &RepliesPerConnection) -> bool {
    let bursts = shares.mean / unfair_service::BURST_REPLIES;
    let of_one = (-CHERNOFF_OF_A_FIFTH * bursts).exp();
    f64::from(shares.connections) * of_one <= CHANCE_MAX
}

impl Words for StarvedConnections {
    fn happened(&self) -> String {
        let connections = plural(self.connections.into(), "connection");
        let seldom = self.seldom_served.map(|seldom| {
            format!(
                "{} of {connections} had at most a fifth of the median replies (fewest {}, median {})",
                exact(seldom.into()),
                exact(self.replies_min.unwrap_or(0).into()),
                exact(self.replies_median.unwrap_or(0).into())
            )
        });
        let waiting = self.waiting.map(|waiting| {
            format!(
                "{} of {connections} waited at the end of the window, for up to {}, while others were answered; the slowest reply took {}",
                exact(waiting.into()),
                time(self.waited_ns_max.unwrap_or(0)),
                time(self.reply_ns_max)
            )
        });
        let clauses: Vec<String> = seldom.into_iter().chain(waiting).collect();
        format!("{}.", clauses.join("; "))
    }

    fn cause(&self) -> &'static str {
        "the server does not come to these connections: a readiness event that was missed (edge-triggered epoll, not read to the end), a worker that hangs, a loop that begins with the same connections again, a request that was lost."
    }

    fn remedy(&self) -> String {
        "ss -tnp on the server's host shows which connections have bytes in Recv-Q that nobody reads; then look how the server chooses whom it serves next.".to_owned()
    }

    fn gravity(&self) -> f64 {
        let starved = self.seldom_served.max(self.waiting).unwrap_or(0);
        f64::from(starved) / f64::from(self.connections.max(1))
    }
}

#[cfg(test)]
mod tests {
    use throng_record::SteadyWindow;

    use super::*;
    use crate::hand_made::Case;

    const MS: u64 = 1_000_000;

    /// 20 connections in an open loop; nothing to find.
    fn case() -> Case {
        let mut case = Case::echo();
        case.setting.connections = 20;
        case.connect().connected = 20;
        case.exchange().connections_served = 20;
        case.exchange().starved.reply_ns_max = 4 * MS;
        case
    }

    /// The same in a closed loop, where one had 100 replies and the others 500.
    fn closed(change: impl Fn(&mut RepliesPerConnection)) -> Case {
        let mut case = case();
        let mut shares = RepliesPerConnection {
            connections: 20,
            min: 100,
            p10: 475,
            median: 500,
            p90: 520,
            max: 550,
            mean: 480.0,
            fairness_jain: 0.98,
            seldom_served: 1,
            shard_mean_min: 480.0,
            shard_mean_max: 480.0,
        };
        change(&mut shares);
        case.exchange().steady = Some(SteadyWindow {
            replies_per_connection: Some(shares),
            ..SteadyWindow::default()
        });
        case
    }

    fn is_found(case: &Case) -> bool {
        find(&case.evidence()).is_some()
    }

    #[test]
    fn one_connection_of_twenty_with_a_fifth_of_the_replies_is_found() {
        let expected = StarvedConnections {
            connections: 20,
            seldom_served: Some(1),
            replies_min: Some(100),
            replies_median: Some(500),
            waiting: None,
            waited_ns_max: None,
            reply_ns_max: 4 * MS,
        };
        assert_eq!(find(&closed(|_| {}).evidence()), Some(expected));
        assert!(!is_found(&closed(|shares| shares.seldom_served = 0)));
    }

    /// Bursts of 16, and ln(20 ÷ 0.001) ÷ 0.478 = 20.7 of them.
    #[test]
    fn what_chance_makes_is_not() {
        assert!(is_found(&closed(|shares| shares.mean = 332.0)));
        assert!(!is_found(&closed(|shares| shares.mean = 331.0)));
        assert!(!is_found(&closed(|shares| {
            shares.mean = 332.0;
            shares.connections = 2_000;
        })));
    }

    fn waiting(connections: u32, waited_ms: u64) -> Case {
        let mut case = case();
        case.exchange().starved = throng_record::StarvedConnections {
            connections,
            waited_ns_max: waited_ms * MS,
            reply_ns_max: 4 * MS,
        };
        case
    }

    #[test]
    fn one_that_waits_five_times_as_long_as_any_reply_took_is_found_in_any_loop() {
        let expected = StarvedConnections {
            connections: 20,
            seldom_served: None,
            replies_min: None,
            replies_median: None,
            waiting: Some(1),
            waited_ns_max: Some(20 * MS),
            reply_ns_max: 4 * MS,
        };
        assert_eq!(find(&waiting(1, 20).evidence()), Some(expected));
        assert!(!is_found(&waiting(1, 19)));
        assert!(!is_found(&waiting(0, 20)));
    }

    #[test]
    fn one_of_more_than_a_hundred_may_be_unlucky() {
        let mut case = waiting(1, 20);
        case.connect().connected = 100;
        assert!(is_found(&case));
        case.connect().connected = 101;
        assert!(!is_found(&case));
        case.exchange().starved.connections = 2;
        assert!(is_found(&case));
    }

    #[test]
    fn who_waits_by_design_or_is_told_of_as_a_tenth_is_not_told_of_here() {
        let mut by_design = waiting(1, 20);
        by_design.trial.job.fleet.serves_at_once = Some(20);
        assert!(is_found(&by_design));
        by_design.trial.job.fleet.serves_at_once = Some(19);
        assert!(!is_found(&by_design));
        let tenth = closed(|shares| {
            shares.mean = 400.0;
            (shares.p10, shares.p90, shares.seldom_served) = (20, 500, 3);
        });
        assert!(unfair_service::find(&tenth.evidence()).is_some());
        assert!(!is_found(&tenth));
    }
}
