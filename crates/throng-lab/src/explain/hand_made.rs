//! Evidence made by hand, for the tests of this module.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::accounts::{Accounts, FlowSeen, FlowsSeen, QueueSeen};
use throng_record::{ErrorKind, RequestRecord};

pub(super) const MS: u64 = 1_000_000;
/// `CLOCK_MONOTONIC` of the phase's first connect.
pub(super) const PHASE_NS: u64 = 500_000 * MS;

/// An accept queue sampled every millisecond: what the samples from each moment on saw, in milliseconds since the phase's start.
pub(super) struct Queue {
    pub(super) depths: Vec<(u64, u32)>,
    pub(super) gap_ms: u64,
}

/// A queue of these depths, sampled without a gap.
pub(super) fn queue(depths: &[(u64, u32)]) -> Queue {
    Queue {
        depths: depths.to_vec(),
        gap_ms: 1,
    }
}

impl Queue {
    /// What the samples from that moment on saw.
    fn from(&self, at_ns: u64) -> &[(u64, u32)] {
        let next_ms = self.depths.iter().skip(1).map(|&(from_ms, _)| from_ms);
        let last_ns = next_ms.map(|next_ms| PHASE_NS + next_ms.saturating_sub(1) * MS);
        let ended = last_ns.take_while(|&last_ns| last_ns < at_ns).count();
        &self.depths[ended.min(self.depths.len())..]
    }
}

impl QueueSeen for Queue {
    fn depth_from(&self, at_ns: u64) -> Option<u32> {
        self.from(at_ns).first().map(|&(_, depth)| depth)
    }

    fn left_by(&self, at_ns: u64) -> Option<u64> {
        let from = self.from(at_ns);
        let &(first_ms, depth) = from.first()?;
        let mut ahead = depth;
        if ahead == 0 {
            return Some((PHASE_NS + first_ms * MS).max(at_ns));
        }
        let mut changes = from.windows(2);
        let left = changes.find(|change| {
            ahead = ahead.saturating_sub(change[0].1.saturating_sub(change[1].1));
            ahead == 0
        })?;
        Some(PHASE_NS + left[1].0 * MS)
    }

    fn interval_ns(&self) -> u64 {
        MS
    }

    fn longest_gap_ns(&self, _from_ns: u64, _until_ns: u64) -> u64 {
        self.gap_ms * MS
    }
}

/// Handshakes by client address.
#[derive(Default)]
pub(super) struct Flows(pub(super) BTreeMap<SocketAddr, FlowSeen>);

impl FlowsSeen for Flows {
    fn flow(&self, client: SocketAddr, _until_ns: u64) -> Option<FlowSeen> {
        self.0.get(&client).cloned()
    }
}

/// A flow with SYNs and SYN-ACKs at these milliseconds since the phase's start.
pub(super) fn flow(syns_ms: &[u64], syn_acks_ms: &[u64]) -> FlowSeen {
    let times = |ms: &[u64]| ms.iter().map(|ms| PHASE_NS + ms * MS).collect();
    FlowSeen {
        syns_ns: times(syns_ms),
        syn_acks_ns: times(syn_acks_ms),
    }
}

/// A service of 40 ms, overflows, kernel defaults; neither queue nor handshakes observed.
pub(super) fn seen<'a>() -> Accounts<'a> {
    Accounts {
        service_time_ns: Some(40 * MS),
        syn_linear_timeouts: 4,
        aborts_on_overflow: false,
        overflows: Some(9),
        queue: None,
        flows: None,
    }
}

/// A request begun with the phase, connected at once and answered by its first byte after so long.
pub(super) fn answered(first_byte_ms: u64) -> RequestRecord {
    RequestRecord {
        connect_ns: Some(0),
        first_byte_ns: Some(first_byte_ms * MS),
        duration_ns: first_byte_ms * MS,
        last_data_sent_ns: Some(0),
        is_acknowledged: true,
        ..RequestRecord::default()
    }
}

/// One that was connected at once and failed after so long without a byte.
pub(super) fn failed(error: ErrorKind, after_ms: u64) -> RequestRecord {
    RequestRecord {
        first_byte_ns: None,
        error: Some(error),
        ..answered(after_ms)
    }
}
