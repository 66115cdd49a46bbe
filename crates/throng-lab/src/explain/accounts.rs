//! What attribution asks of the observers, and of the network that the server is in.

use std::net::SocketAddr;

/// The accept queue over time. All moments are nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) trait QueueSeen {
    /// The depth by the first sample that was taken not earlier than this; `None` after the last, and where nobody listened.
    fn depth_from(&self, at_ns: u64) -> Option<u32>;

    /// The latest moment at which a connection that was there by `at_ns` had left the queue (of a group of listeners: whichever it was in):
    /// the queue is first in, first out, so when as many had been seen to leave as waited at `at_ns`, or when there was no listener
    /// any more. `None` where that was not seen.
    fn left_by(&self, at_ns: u64) -> Option<u64>;

    /// The time between two samples as meant.
    fn interval_ns(&self) -> u64;

    /// The longest time between two samples that touches this stretch. The time before the first sample and after the last
    /// counts as such. An observer that knows only the longest of the whole trial may give that.
    fn longest_gap_ns(&self, from_ns: u64, until_ns: u64) -> u64;
}

/// The handshakes by connection.
pub(crate) trait FlowsSeen {
    /// What was seen of the connection that this client address had ended by this moment of `CLOCK_MONOTONIC`; `None` where that is not
    /// known.
    fn flow(&self, client: SocketAddr, until_ns: u64) -> Option<FlowSeen>;
}

/// The handshake of one client address, in the order of time, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowSeen {
    /// Each SYN, the first and those sent again.
    pub(crate) syns_ns: Vec<u64>,
    /// Each SYN-ACK, likewise.
    pub(crate) syn_acks_ns: Vec<u64>,
}

/// Everything beside the requests themselves that their attribution is made from.
#[derive(Clone, Copy)]
pub(crate) struct Accounts<'a> {
    /// How long the server takes for a request; absent where it is not known.
    pub(crate) service_time_ns: Option<u64>,
    /// `net.ipv4.tcp_syn_linear_timeouts` of the clients' network; 0 for kernels that lack it (before 6.5).
    pub(crate) syn_linear_timeouts: u32,
    /// Whether `net.ipv4.tcp_abort_on_overflow` is set in the server's network: a final ACK that finds the queue full is then
    /// answered by RST.
    pub(crate) aborts_on_overflow: bool,
    /// By how much `ListenOverflows` of the server's network grew; absent where that network is not visible. Where it did not grow, no
    /// final ACK was dropped, and data that was sent again was lost otherwise.
    pub(crate) overflows: Option<u64>,
    /// The accept queue; absent where it was not observed.
    pub(crate) queue: Option<&'a dyn QueueSeen>,
    /// The handshakes; absent where they were not observed.
    pub(crate) flows: Option<&'a dyn FlowsSeen>,
}

impl FlowSeen {
    /// What of it lies in this stretch, both ends included.
    pub(super) fn within(&self, from_ns: u64, until_ns: u64) -> Self {
        let inside = |times: &[u64]| {
            let times = times.iter().copied();
            times
                .filter(|at_ns| (from_ns..=until_ns).contains(at_ns))
                .collect()
        };
        Self {
            syns_ns: inside(&self.syns_ns),
            syn_acks_ns: inside(&self.syn_acks_ns),
        }
    }
}
