//! Unbalanced listeners: several share one port by `SO_REUSEPORT`, the kernel deals connections out by their hash, and one has a queue
//! while another is idle.

use throng_record::ListenerRecord;
use throng_record::finding::UnbalancedListeners;
use throng_record::format::plural;

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "unbalanced-listeners",
    title: "Unbalanced listeners",
    page: include_str!("../../../../docs/findings/unbalanced-listeners.md"),
};

/// The busiest has a connection waiting all the time.
const BUSIEST_DEPTH_MEAN_MIN: f64 = 1.0;
/// And several times as many as the idlest: loops that work through one connection after another have empty queues now and then
/// however evenly they share.
const DEPTH_RATIO_MIN: f64 = 3.0;
/// And for a good part of the time there was an empty queue beside a waiting one: a mean alone may come from one burst.
const UNEVEN_SHARE_MIN: f64 = 0.25;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<UnbalancedListeners> {
    let queue = evidence.trial.accept_queue.as_ref()?;
    let listeners = &queue.listeners;
    let by_depth = |a: &&ListenerRecord, b: &&ListenerRecord| a.depth_mean.total_cmp(&b.depth_mean);
    let busiest = listeners.iter().max_by(by_depth)?;
    // Listeners on the same port of other addresses get other connections, whatever their queue.
    let sharing = || {
        let all = listeners.iter();
        all.filter(|listener| listener.address == busiest.address)
    };
    let idlest = sharing().min_by(by_depth)?;
    let is_unbalanced = busiest.depth_mean >= BUSIEST_DEPTH_MEAN_MIN
        && busiest.depth_mean >= DEPTH_RATIO_MIN * idlest.depth_mean
        && queue.uneven_share? >= UNEVEN_SHARE_MIN;
    is_unbalanced.then(|| UnbalancedListeners {
        listeners: sharing().count() as u32,
        busiest_depth_max: busiest.depth_max,
        busiest_depth_mean: busiest.depth_mean,
        idlest_depth_max: idlest.depth_max,
        idlest_depth_mean: idlest.depth_mean,
    })
}

impl Words for UnbalancedListeners {
    fn happened(&self) -> String {
        format!(
            "{} on one port: on average {:.1} connections waited at the busiest (at most {}) and {:.1} at the idlest (at most {}).",
            plural(self.listeners.into(), "listener"),
            self.busiest_depth_mean,
            self.busiest_depth_max,
            self.idlest_depth_mean,
            self.idlest_depth_max
        )
    }

    fn cause(&self) -> &'static str {
        "SO_REUSEPORT gives a connection to a listener by a hash of its addresses, whether that one's loop is busy or not, and none takes from another's queue."
    }

    fn remedy(&self) -> String {
        "one listener that all loops share (EPOLLEXCLUSIVE, as in epoll-shared) where the tail of the latency matters more than the rate of accepting.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.busiest_depth_mean - self.idlest_depth_mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::{Case, listener};

    fn case(depths: &[f64]) -> Case {
        let mut case = Case::backlog();
        let of_depth = |&depth_mean| listener(128, 9, depth_mean);
        case.queue().listeners = depths.iter().map(of_depth).collect();
        case.queue().uneven_share = Some(0.5);
        case
    }

    fn found(depths: &[f64]) -> bool {
        find(&case(depths).evidence()).is_some()
    }

    #[test]
    fn a_queue_several_times_as_long_as_another_is_unbalanced() {
        assert!(found(&[0.0, 4.2]));
        assert!(found(&[4.33, 2.97, 1.25, 0.53]));
        assert!(found(&[1.0, 2.0, 0.66]));
        assert!(!found(&[0.99, 0.0]));
        assert!(!found(&[4.2, 1.5]));
        assert!(!found(&[4.2]));
        assert!(!found(&[]));
    }

    #[test]
    fn one_must_have_been_empty_while_another_was_not() {
        let mut burst = case(&[4.2, 0.3]);
        burst.queue().uneven_share = Some(0.24);
        assert_eq!(find(&burst.evidence()), None);
        burst.queue().uneven_share = Some(0.25);
        assert!(find(&burst.evidence()).is_some());
        burst.queue().uneven_share = None;
        assert_eq!(find(&burst.evidence()), None);
    }

    #[test]
    fn a_listener_on_another_address_shares_nothing() {
        let mut case = Case::backlog();
        let elsewhere = ListenerRecord {
            address: "[::]:80".to_owned(),
            ..listener(128, 0, 0.0)
        };
        case.queue().listeners = vec![listener(128, 9, 4.0), elsewhere];
        case.queue().uneven_share = Some(1.0);
        assert_eq!(find(&case.evidence()), None);
    }
}
