//! The kernel's account of connections: the accept queue and the handshakes, observed while every message has a connection of its own.
//!
//! What cannot be observed here is no error. It is told, with what would let it be seen.

use std::net::SocketAddr;

use throng_record::{AcceptQueueRecord, DepthSample, ListenerRecord};
use throng_sys::namespace::Network;
use throng_sys::packet::Interfaces;

use super::accept_queue::{AcceptQueueObserver, AcceptQueueSeen, ListenerSeen, PERIOD_NS};
use super::capture::TrialCapture;
use super::handshakes::{HandshakeObserver, HandshakesSeen};
use super::running::is_local;
use crate::explain::{FlowSeen, FlowsSeen, QueueSeen};

/// Changes of the depth that are kept in the record.
const DEPTHS_MAX: usize = 4_000;

/// The observers at work.
#[derive(Debug)]
pub(crate) struct KernelAccount {
    server: SocketAddr,
    queue: Option<AcceptQueueObserver>,
    handshakes: Option<HandshakeObserver>,
    was_listening: Option<bool>,
    unseen: Vec<String>,
}

/// What they saw.
#[derive(Debug, Default)]
pub(crate) struct KernelAccountSeen {
    pub(crate) queue: Option<AcceptQueueSeen>,
    pub(crate) handshakes: Option<HandshakesSeen>,
    /// Whether there was a listener when the observation began; absent where that could not be seen.
    pub(crate) was_listening: Option<bool>,
    /// What could not be seen, each with its reason and what would let it.
    pub(crate) unseen: Vec<String>,
}

impl KernelAccount {
    /// Begins to observe; all that comes after this returns is seen.
    pub(crate) fn start(
        network: &Network,
        server: SocketAddr,
        is_loaded_from_elsewhere: bool,
        capture: Option<TrialCapture>,
    ) -> Self {
        let server_is_here = network.is_private() || is_local(server.ip());
        let interfaces = match server_is_here && !is_loaded_from_elsewhere {
            true => Interfaces::Loopback,
            false => Interfaces::All,
        };
        let mut account = Self {
            server,
            queue: None,
            handshakes: None,
            was_listening: None,
            unseen: Vec::new(),
        };
        if server_is_here {
            account.watch_queue(network);
        } else {
            account.unseen.push(format!(
                "the accept queue of {server} and the counters of its kernel (ListenOverflows and others): they are on another host; run throng there as well, or look with `ss -ltn` and `nstat -az`"
            ));
        }
        match HandshakeObserver::start(network, server, interfaces, capture) {
            Ok(observer) => account.handshakes = Some(observer),
            Err(error) => account.unseen.push(error.to_string()),
        }
        account
    }

    fn watch_queue(&mut self, network: &Network) {
        let server = self.server;
        self.was_listening = network
            .find_listener(server)
            .ok()
            .map(|found| found.is_some());
        match AcceptQueueObserver::start(network, server) {
            Ok(observer) => self.queue = Some(observer),
            Err(error) => self.unseen.push(format!(
                "the accept queue of {server}: {error}; look with `ss -ltn`"
            )),
        }
    }

    /// Looks a last time, and tells what was seen.
    pub(crate) fn stop(self) -> KernelAccountSeen {
        let mut unseen = self.unseen;
        let queue = self.queue.map(AcceptQueueObserver::stop);
        // Last: right after it the caller reads the counters that the handshakes are compared with.
        let handshakes = self.handshakes.map(HandshakeObserver::stop);
        let queue = queue.filter(|seen| !seen.listeners.is_empty());
        if queue.is_none() && self.was_listening == Some(false) {
            unseen.push(format!(
                "the accept queue of {}: this network has no listener there; if the server runs in a container, run throng in its network (nsenter --net --target PID)",
                self.server
            ));
        }
        KernelAccountSeen {
            queue,
            handshakes,
            was_listening: self.was_listening,
            unseen,
        }
    }
}

impl AcceptQueueSeen {
    /// As it stands in the record, its history counted from the phase's first connect on.
    pub(crate) fn record(
        &self,
        backlog_asked: Option<u32>,
        somaxconn: Option<u32>,
        phase_started_at_ns: u64,
    ) -> AcceptQueueRecord {
        let runs = self.total.runs();
        let kept = runs
            .iter()
            .filter(|run| run.last_ns >= phase_started_at_ns)
            .take(DEPTHS_MAX);
        AcceptQueueRecord {
            backlog_asked,
            somaxconn,
            samples: self.samples,
            interval_ns: PERIOD_NS,
            gap_ns_max: self.longest_gap_ns,
            listeners: self.listeners.iter().map(listener_record).collect(),
            uneven_share: self.uneven_share(),
            depths: kept
                .map(|run| DepthSample {
                    at_ns: run.first_ns.saturating_sub(phase_started_at_ns),
                    depth: run.depth.unwrap_or(0),
                })
                .collect(),
        }
    }
}

fn listener_record(seen: &ListenerSeen) -> ListenerRecord {
    let ListenerSeen { listener, timeline } = seen;
    ListenerRecord {
        address: listener.address.to_string(),
        inode: listener.inode.into(),
        backlog: listener.accept_queue_limit,
        depth_max: timeline.depth_max,
        depth_mean: timeline.depth_mean().unwrap_or(0.0),
        full_share: if timeline.watched_ns > 0 {
            timeline.full_ns as f64 / timeline.watched_ns as f64
        } else {
            0.0
        },
    }
}

impl QueueSeen for AcceptQueueSeen {
    fn depth_from(&self, at_ns: u64) -> Option<u32> {
        Self::depth_from(self, at_ns)
    }

    fn left_by(&self, at_ns: u64) -> Option<u64> {
        Self::left_by(self, at_ns)
    }

    fn interval_ns(&self) -> u64 {
        PERIOD_NS
    }

    fn longest_gap_ns(&self, from_ns: u64, until_ns: u64) -> u64 {
        self.gap_ns_max_within(from_ns, until_ns)
    }
}

impl FlowsSeen for HandshakesSeen {
    fn flow(&self, client: SocketAddr, until_ns: u64) -> Option<FlowSeen> {
        Self::flow(self, client, until_ns)
    }
}
