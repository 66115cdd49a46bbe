//! Unbalanced listeners: several share one port by `SO_REUSEPORT`, the kernel deals connections out by their hash, and one has a queue
//! while another is idle.

use throng_record::finding::UnbalancedListeners;
use throng_record::format::plural;

use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "unbalanced-listeners",
    title: "Unbalanced listeners",
    page: include_str!("../../../../docs/findings/unbalanced-listeners.md"),
};

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
