//! Unbalanced listeners: several share one port by `SO_REUSEPORT`, the kernel deals connections out by their hash, and one has a queue
//! while another is idle.

use throng_record::{Finding, ListenerRecord};

use super::Evidence;

/// The busiest has a connection waiting all the time.
const BUSIEST_DEPTH_MEAN_MIN: f64 = 1.0;
/// The idlest has, most of the time, none.
const IDLEST_DEPTH_MEAN_MAX: f64 = 0.25;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let listeners = &evidence.accept_queue?.listeners;
    let by_depth = |a: &&ListenerRecord, b: &&ListenerRecord| a.depth_mean.total_cmp(&b.depth_mean);
    let busiest = listeners.iter().max_by(by_depth)?;
    // Listeners on the same port of other addresses get other connections, whatever their queue.
    let sharing = || {
        let all = listeners.iter();
        all.filter(|listener| listener.address == busiest.address)
    };
    let idlest = sharing().min_by(by_depth)?;
    let is_unbalanced =
        busiest.depth_mean >= BUSIEST_DEPTH_MEAN_MIN && idlest.depth_mean <= IDLEST_DEPTH_MEAN_MAX;
    is_unbalanced.then(|| Finding::UnbalancedListeners {
        listeners: sharing().count() as u32,
        busiest_depth_max: busiest.depth_max,
        busiest_depth_mean: busiest.depth_mean,
        idlest_depth_max: idlest.depth_max,
        idlest_depth_mean: idlest.depth_mean,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::findings::hand_made::{Case, listener};

    fn found(depths: &[f64]) -> bool {
        let mut case = Case::backlog();
        let of_depth = |&depth_mean| listener(128, 9, depth_mean);
        case.queue.listeners = depths.iter().map(of_depth).collect();
        find(&case.evidence()).is_some()
    }

    #[test]
    fn a_long_queue_beside_an_empty_one_is_unbalanced() {
        assert!(found(&[0.0, 4.2]));
        assert!(found(&[1.0, 2.0, 0.25]));
        assert!(!found(&[0.99, 0.0]));
        assert!(!found(&[4.2, 0.26]));
        assert!(!found(&[4.2]));
        assert!(!found(&[]));
    }

    #[test]
    fn a_listener_on_another_address_shares_nothing() {
        let mut case = Case::backlog();
        let elsewhere = ListenerRecord {
            address: "[::]:80".to_owned(),
            ..listener(128, 0, 0.0)
        };
        case.queue.listeners = vec![listener(128, 9, 4.0), elsewhere];
        assert_eq!(find(&case.evidence()), None);
    }
}
