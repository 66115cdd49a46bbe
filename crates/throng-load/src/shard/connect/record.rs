//! What one shard measures of its connects: all memory is taken before the first.

use throng_record::{
    ConnectStop, ErrorCounts, ErrorKind, QueueFullWaits, SlowConnection, histogram,
};
use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};
use throng_sys::tcp_info::TcpInfo;

use crate::recorder::LiveTimeline;
use crate::slowest::Slowest;

/// A SYN is sent again after one second at the earliest (RFC 6298, `TCP_TIMEOUT_INIT`), so that faster connects had none, and are
/// spared the system call.
pub(in crate::shard) const RETRANSMITTED_FROM_NS: u64 = 500 * MILLISECOND_NS;

/// What one shard measured of its connects.
pub(crate) struct ShardConnect {
    pub(crate) connected: u32,
    /// Of these, those that have ended since.
    pub(crate) lost: u32,
    pub(crate) not_begun: u32,
    pub(crate) started_at_ns: u64,
    pub(crate) ended_at_ns: u64,
    /// When the last one so far completed.
    pub(crate) opened_at_ns: Option<u64>,
    pub(crate) latency: hdrhistogram::Histogram<u64>,
    /// From the fleet's start, which is the same for all shards.
    pub(crate) timeline: LiveTimeline,
    pub(crate) queue_full: QueueFullWaits,
    pub(crate) slowest: Slowest,
    pub(crate) syn_retransmissions: u64,
    pub(crate) retransmitted: u32,
    /// The first failure; its time is that of the monotonic clock.
    pub(crate) stop: Option<ConnectStop>,
    pub(crate) errors: ErrorCounts,
    fleet_started_at_ns: u64,
}

impl ShardConnect {
    pub(super) fn new(fleet_started_at_ns: u64) -> Self {
        let now_ns = monotonic_ns();
        Self {
            connected: 0,
            lost: 0,
            not_begun: 0,
            started_at_ns: now_ns,
            ended_at_ns: now_ns,
            opened_at_ns: None,
            latency: histogram::empty(),
            timeline: LiveTimeline::new(),
            queue_full: QueueFullWaits::default(),
            slowest: Slowest::default(),
            syn_retransmissions: 0,
            retransmitted: 0,
            stop: None,
            errors: ErrorCounts::default(),
            fleet_started_at_ns,
        }
    }

    /// A connect that took so long has ended now. `info` is asked only where there may be something to learn.
    #[inline]
    pub(super) fn connected(
        &mut self,
        connection: u32,
        latency_ns: u64,
        now_ns: u64,
        info: impl FnOnce() -> Option<TcpInfo>,
    ) {
        self.connected += 1;
        self.opened_at_ns = Some(now_ns);
        self.latency.saturating_record(latency_ns);
        let since_start_ns = now_ns.saturating_sub(self.fleet_started_at_ns);
        self.timeline.add(since_start_ns, latency_ns);
        let syn_retransmissions = if latency_ns >= RETRANSMITTED_FROM_NS {
            self.note_retransmissions(info())
        } else {
            0
        };
        self.slowest.note(SlowConnection {
            connection,
            latency_ns,
            syn_retransmissions,
        });
    }

    /// What the kernel says of a connect that has just ended, in whichever way: how often its SYN was sent again.
    #[cold]
    pub(super) fn note_retransmissions(&mut self, info: Option<TcpInfo>) -> u32 {
        let count = info.map_or(0, |info| info.total_retrans);
        self.syn_retransmissions += u64::from(count);
        self.retransmitted += u32::from(count > 0);
        count
    }

    /// A connection that did not open, or did not stay; `open` are those that had, over the whole fleet.
    #[cold]
    pub(super) fn stopped(&mut self, connection: u32, open: u32, kind: ErrorKind, message: &str) {
        self.stop.get_or_insert_with(|| ConnectStop {
            connection,
            open,
            at_ns: monotonic_ns(),
            kind,
            message: message.to_owned(),
        });
    }
}
