//! Findings: what explains a trial's figures, each a small function of the same evidence.
//!
//! A finding claims something, so each has thresholds above what chance makes, with their reasons beside them. None is made from
//! counters that somebody else may have moved: in the host's network they are believed only where the trial's own connections show the
//! same ([`Evidence::counter_of_overflow`]).

mod accept_queue_overflow;
mod backlog_clamped;
mod capacity;
mod connections_refused;
pub(crate) mod cost_grows_with_idle;
mod delayed_ack;
mod descriptors_exhausted;
mod final_ack_dropped;
mod generator_bound;
mod half_the_ports_gone;
mod head_of_line_blocking;
mod idle_server;
mod one_core_of_many;
mod ports_exhausted;
mod stalls;
mod starved_connections;
mod syn_cookies;
mod syn_retransmission_steps;
mod threads_exhausted;
mod too_few_acceptors;
mod unbalanced_listeners;
mod unfair_service;

use throng_record::connections::SLOW_CONNECT_NS;
use throng_record::side::CounterDeltas;
use throng_record::{
    AcceptQueueRecord, Check, ConnectPhase, ConnectionsPhase, ErrorCounts, ErrorKind,
    ExchangePhase, Finding, HandshakesRecord, Histogram, Network, Setting, SideRecord,
};

use super::account::Account;
use crate::limit::Busy;
pub(crate) use capacity::{Limits, ServerSeen};
pub(crate) use one_core_of_many::CoresSeen;

/// What the findings of one trial are made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) setting: &'a Setting,
    /// Where the generator connects to.
    pub(crate) address: &'a str,
    pub(crate) server: ServerSeen<'a>,
    /// What bounds the number of connections here.
    pub(crate) limits: &'a Limits,
    /// Whose network it was: whether the counters are of this trial alone.
    pub(crate) network: Network,
    /// Opening kept connections.
    pub(crate) connect: Option<&'a ConnectPhase>,
    /// Messages.
    pub(crate) exchange: Option<&'a ExchangePhase>,
    /// Where each message had a connection of its own: those, attributed, and the account that came with it.
    pub(crate) connections: Option<(&'a ConnectionsPhase, &'a Account)>,
    /// Absent where it was not observed.
    pub(crate) accept_queue: Option<&'a AcceptQueueRecord>,
    /// The backlog that was looked up when the trial began; absent where that failed.
    pub(crate) backlog_in_force: Option<u32>,
    /// `net.core.somaxconn` of the server's network; absent where it could not be read.
    pub(crate) somaxconn: Option<u32>,
    /// Absent where they were not observed.
    pub(crate) handshakes: Option<&'a HandshakesRecord>,
    /// Of the server's network, by full name; empty where that is not visible.
    pub(crate) kernel_counters: &'a CounterDeltas,
    /// Failures of all phases.
    pub(crate) errors: &'a ErrorCounts,
    /// The server's process tree; absent where it is not visible from here.
    pub(crate) server_side: Option<&'a SideRecord>,
    /// The generator's.
    pub(crate) generator_side: Option<&'a SideRecord>,
    pub(crate) busy: Busy,
    /// The same with the time in which they waited for a CPU; absent where that could not be read.
    pub(crate) wanted: Busy,
    /// Connections that the server serves at once, if it said so.
    pub(crate) serves_at_once: Option<u32>,
    /// Whether its design lets it accept every client at once, by its own word: an event loop, a thread for each connection.
    pub(crate) accepts_any_number: bool,
    /// Whether a listener was there when the trial began; absent where it could not be looked up.
    pub(crate) was_listening: Option<bool>,
    pub(crate) checks: &'a [Check],
}

/// Every finding, the gravest first: what lost requests, what cost them seconds, what cost them the server's time, what
/// qualifies the figures.
pub(crate) fn findings(evidence: &Evidence<'_>) -> Vec<Finding> {
    let all = [
        connections_refused::find,
        ports_exhausted::find,
        descriptors_exhausted::of_generator,
        descriptors_exhausted::of_server,
        threads_exhausted::find,
        accept_queue_overflow::find,
        backlog_clamped::find,
        syn_retransmission_steps::find,
        half_the_ports_gone::find,
        final_ack_dropped::find,
        syn_cookies::find,
        unbalanced_listeners::find,
        too_few_acceptors::find,
        head_of_line_blocking::find,
        delayed_ack::find,
        stalls::find,
        starved_connections::find,
        one_core_of_many::find,
        unfair_service::find,
        generator_bound::find,
    ];
    all.into_iter().filter_map(|find| find(evidence)).collect()
}

impl Evidence<'_> {
    /// Connections that were opened to be kept.
    fn connected(&self) -> u32 {
        self.connect.map_or(0, |phase| phase.connected)
    }

    /// By how much a counter grew; 0 where it did not, or is not known.
    fn counter(&self, name: &str) -> u64 {
        let change = self.kernel_counters.get(name).copied().unwrap_or(0);
        u64::try_from(change).unwrap_or(0)
    }

    /// The same for a counter of the accept queue and the request queue. In the host's network other servers move it too: there it counts
    /// only where this trial has met a full queue.
    fn counter_of_overflow(&self, name: &str) -> u64 {
        if self.network == Network::Private || self.has_met_full_queue() {
            self.counter(name)
        } else {
            0
        }
    }

    fn has_met_full_queue(&self) -> bool {
        let mut listeners = self
            .accept_queue
            .into_iter()
            .flat_map(|queue| &queue.listeners);
        let was_seen_full = listeners.any(|listener| listener.depth_max > listener.backlog);
        let has_final_ack_dropped = self
            .connections
            .is_some_and(|(_, account)| account.final_acks_dropped > 0);
        let is_without_server = self.errors.of(ErrorKind::NotAcknowledged) > 0;
        was_seen_full || has_final_ack_dropped || is_without_server || self.connects_delayed() > 0
    }

    /// Connects that took longer by retransmitting their SYN. Of kept connections whose `TCP_INFO` tells of none the time alone does.
    fn connects_delayed(&self) -> u64 {
        match (self.connections, self.connect) {
            (Some((phase, _)), _) => phase.attribution.connects_by_syn_retransmission,
            (None, Some(connect)) if connect.retransmitted > 0 => connect.retransmitted.into(),
            (None, Some(connect)) => count_between(&connect.latency, SLOW_CONNECT_NS, u64::MAX),
            (None, None) => 0,
        }
    }

    /// The backlog in force; of several listeners the shortest that was observed. Absent where none was.
    fn backlog(&self) -> Option<u32> {
        let observed = self.accept_queue.into_iter();
        let listeners = observed.flat_map(|queue| &queue.listeners);
        let shortest = listeners.map(|listener| listener.backlog).min();
        shortest.or(self.backlog_in_force)
    }
}

/// Values of a stored histogram from `low` to `high`, both included; 0 where it is damaged.
fn count_between(histogram: &Histogram, low: u64, high: u64) -> u64 {
    let live = histogram.decode();
    live.map_or(0, |live| live.count_between(low, high))
}

#[cfg(test)]
pub(super) mod hand_made;
#[cfg(test)]
mod tests;
