//! What checks and findings are made from: a trial's record as far as it stands, and what was seen of it beside that.

use std::net::{IpAddr, SocketAddr};

use throng_record::connections::SLOW_CONNECT_NS;
use throng_record::{
    ConnectionsPhase, ErrorCounts, ErrorKind, Histogram, HostPart, Network, Phases, Setting,
    TargetKind, TargetRecord, Trial,
};

use crate::account::Account;
use crate::asked::{accepted, heard};
use crate::cpu_time::{Others, Stolen};
use crate::hosts;
use crate::limit::{Busy, cores_used, left};
use crate::limits::Limits;
use crate::server::{Ending, LifeEnd};

/// All of it.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// Its phases, both sides, queue, handshakes and counters; for findings its checks too.
    pub trial: &'a Trial,
    /// What was tried.
    pub target: &'a TargetRecord,
    /// What was asked for.
    pub setting: &'a Setting,
    /// What does not stand in the record.
    pub seen: &'a Observed,
}

/// What was seen of a trial and does not stand in its record.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Of all requests, the quick ones too, where each had a connection of its own.
    pub account: Option<Account>,
    /// Whether a listener was there when the trial began; absent where it could not be looked up.
    pub was_listening: Option<bool>,
    /// `net.core.somaxconn` where the trial was; absent where it could not be read.
    pub somaxconn: Option<u32>,
    /// What bounds the number of connections here; what bounds those of other hosts that generate stands in the record.
    pub limits: Limits,
    /// How it stands with the server.
    pub server: LifeEnd,
    /// Of the server, with every connection open; absent where that is not visible, or is more than one process.
    pub descriptors: Option<Descriptors>,
    /// Cores of the server's CPUs on which nobody ran in the measured window; absent where it cannot be told.
    pub cores_idle: Option<f64>,
    /// In the measured window, on the CPUs of both sides; absent where it cannot be told.
    pub stolen: Option<Stolen>,
    /// What others used meanwhile of the CPUs of each side, or of both together; empty where it cannot be told whose time it was.
    pub others: Vec<Others>,
}

/// A process's table of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors {
    /// Those that are open.
    pub open: u64,
    /// The soft `RLIMIT_NOFILE`.
    pub limit: u64,
}

/// How a server used its CPUs in the measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CoresSeen {
    /// Its CPU time ÷ the window.
    pub(crate) used: f64,
    /// CPUs that it was allowed.
    pub(crate) allowed: u32,
    /// The share of their time that the hypervisor left.
    pub(crate) left: f64,
    /// What nobody used of these; absent where it cannot be told.
    pub(crate) idle: Option<f64>,
    /// Its busiest thread; absent where it could not be read.
    pub(crate) busiest_thread: Option<f64>,
}

impl<'a> Evidence<'a> {
    pub(crate) fn phases(&self) -> &'a Phases {
        &self.trial.phases
    }

    /// Failures of all phases.
    pub(crate) fn errors(&self) -> ErrorCounts {
        self.phases().errors()
    }

    /// Whether each message had a connection of its own.
    pub(crate) fn has_own_connections(&self) -> bool {
        self.phases().connections().is_some()
    }

    /// Where each message had a connection of its own: those, attributed, and the account that came with it.
    pub(crate) fn requests(&self) -> Option<(&'a ConnectionsPhase, &'a Account)> {
        self.phases().connections().zip(self.seen.account.as_ref())
    }

    pub(crate) fn busy(&self) -> Busy {
        Busy::of(self.trial)
    }

    /// The same with the time in which they waited for a CPU.
    pub(crate) fn wanted(&self) -> Busy {
        Busy::wanted_by(self.trial)
    }

    /// Absent where the server's CPU time is not known.
    pub(crate) fn cores(&self) -> Option<CoresSeen> {
        let side = self.trial.server.as_ref()?;
        let cores = |time_ns: u64| time_ns as f64 / side.window_ns as f64;
        Some(CoresSeen {
            used: cores_used(side)?,
            allowed: side.cpus.len() as u32,
            left: left(side),
            idle: self.seen.cores_idle,
            busiest_thread: side.busiest_thread_ns.map(cores),
        })
    }

    /// Connections that the server serves at once, if it said so.
    pub(crate) fn serves_at_once(&self) -> Option<u32> {
        self.trial.job.fleet.serves_at_once
    }

    /// Whether the server's design lets it accept every client at once, by its own word: an event loop, a thread for each connection. A built-in
    /// server says how many it serves where its design bounds them; nobody else's silence says anything.
    pub(crate) fn accepts_any_number(&self) -> bool {
        match self.serves_at_once() {
            Some(at_once) => at_once >= self.setting.connections,
            None => self.target.kind.keeps_contract(),
        }
    }

    /// Connections that were served at once; absent where no message went over all of them.
    pub(crate) fn served(&self) -> Option<u32> {
        let phases = self.phases();
        let accepted = phases
            .hold()
            .and_then(|_| Some(accepted(phases, self.trial.unaccepted?)));
        let answered = || {
            let exchange = phases
                .exchange()
                .filter(|_| phases.connections().is_none())?;
            (exchange.connections_served > 0).then_some(exchange.connections_served)
        };
        heard(phases).or(accepted).or_else(answered)
    }

    /// Most threads of the server seen at once, over all its processes.
    pub(crate) fn threads_max(&self) -> u32 {
        let server = self.trial.server.as_ref();
        server.map_or(0, |side| side.threads_max)
    }

    pub(crate) fn processes_max(&self) -> u32 {
        let server = self.trial.server.as_ref();
        server.map_or(0, |side| side.processes_max)
    }

    /// How the server ended; absent where it lives on, or is not ours.
    pub(crate) fn ending(&self) -> Option<&'a Ending> {
        self.seen.server.ending()
    }

    /// Whether the network whose counters and settings were read is the server's. That of a server on another host, or in a container's
    /// network, is not: its counters are not ours. A multiplexer has no server.
    #[must_use]
    pub fn is_in_sight(&self) -> bool {
        let is_launched = !matches!(
            self.target.kind,
            TargetKind::Running | TargetKind::Multiplexer
        );
        // Where nobody looked for its listener, a process that was found by its listener tells the same.
        let is_observed = self.trial.server.is_some();
        is_launched || self.seen.was_listening.unwrap_or(is_observed)
    }

    /// The part of each host, where the load came from other hosts; none otherwise.
    pub(crate) fn hosts(&self) -> &'a [HostPart] {
        &self.trial.hosts
    }

    /// By how much a counter changed, in the networks of the sides whose kernels count it; 0 where it did not, or is not known.
    pub(crate) fn change(&self, counter: &str) -> i64 {
        hosts::counter_change(self.trial, counter, self.is_in_sight())
    }

    /// By how much it grew; 0 where it did not.
    #[must_use]
    pub fn counter(&self, name: &str) -> u64 {
        u64::try_from(self.change(name)).unwrap_or(0)
    }

    /// The same for a counter of the accept queue and the request queue. In the host's network other servers move it too: there it counts
    /// only where this trial has met a full queue.
    pub(crate) fn counter_of_overflow(&self, name: &str) -> u64 {
        if self.trial.network == Network::Private || self.has_met_full_queue() {
            self.counter(name)
        } else {
            0
        }
    }

    fn has_met_full_queue(&self) -> bool {
        let queue = self.trial.accept_queue.as_ref();
        let mut listeners = queue.into_iter().flat_map(|queue| &queue.listeners);
        let was_seen_full = listeners.any(|listener| listener.depth_max > listener.backlog);
        let has_final_ack_dropped = self
            .requests()
            .is_some_and(|(_, account)| account.final_acks_dropped > 0);
        let is_without_server = self.errors().of(ErrorKind::NotAcknowledged) > 0;
        was_seen_full || has_final_ack_dropped || is_without_server || self.connects_delayed() > 0
    }

    /// Connects that took longer by retransmitting their SYN. Of kept connections whose `TCP_INFO` tells of none the time alone does.
    pub(crate) fn connects_delayed(&self) -> u64 {
        match (self.phases().connections(), self.phases().connect()) {
            (Some(phase), _) => phase.attribution.connects_by_syn_retransmission,
            (None, Some(connect)) if connect.retransmitted > 0 => connect.retransmitted.into(),
            (None, Some(connect)) => count_between(&connect.latency, SLOW_CONNECT_NS, u64::MAX),
            (None, None) => 0,
        }
    }

    /// The backlog that the server was asked for; absent where it was not ours to ask.
    pub(crate) fn backlog_asked(&self) -> Option<u32> {
        let takes = self.target.takes_backlog();
        takes.then_some(self.setting.backlog)
    }

    /// The backlog in force; of several listeners the shortest that was observed. Absent where none was.
    pub(crate) fn backlog(&self) -> Option<u32> {
        let observed = self.trial.accept_queue.iter();
        let listeners = observed.flat_map(|queue| &queue.listeners);
        let shortest = listeners.map(|listener| listener.backlog).min();
        shortest.or(self.trial.backlog_in_force)
    }

    /// `net.core.somaxconn` of the server's network; absent where that is not visible, or it could not be read.
    pub(crate) fn somaxconn(&self) -> Option<u32> {
        self.seen.somaxconn.filter(|_| self.is_in_sight())
    }

    /// Where the generator connects to; absent of anything but TCP, and of several addresses.
    pub(crate) fn tcp_address(&self) -> Option<SocketAddr> {
        let [address] = &self.trial.job.fleet.addresses[..] else {
            return None;
        };
        address.strip_prefix("tcp://")?.parse().ok()
    }
}

/// Whether every address of 127.0.0.0/8 can be a source of connections to this one.
pub(crate) fn is_ipv4_loopback(address: SocketAddr) -> bool {
    matches!(address.ip(), IpAddr::V4(ip) if ip.is_loopback())
}

/// Values of a stored histogram from `low` to `high`, both included; 0 where it is damaged.
pub(crate) fn count_between(histogram: &Histogram, low: u64, high: u64) -> u64 {
    let live = histogram.decode();
    live.map_or(0, |live| live.count_between(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::Case;

    #[test]
    fn another_hosts_server_is_not_in_sight() {
        use TargetKind::{BuiltIn, Command, Running};
        let is_in_sight = |kind, was_listening, is_observed: bool| {
            let mut case = Case::backlog();
            case.target.kind = kind;
            case.seen.was_listening = was_listening;
            case.trial.server = case.trial.server.filter(|_| is_observed);
            case.evidence().is_in_sight()
        };
        for (was_listening, is_observed, expected) in [
            (None, false, false),
            (None, true, true),
            (Some(false), false, false),
            (Some(true), false, true),
        ] {
            assert_eq!(
                is_in_sight(Running, was_listening, is_observed),
                expected,
                "{was_listening:?} {is_observed}"
            );
        }
        assert!(is_in_sight(BuiltIn, None, false));
        assert!(is_in_sight(Command, None, false));
    }

    #[test]
    fn only_a_built_in_server_that_names_no_bound_has_none() {
        use TargetKind::{BuiltIn, Command, Running};
        let accepts_any_number = |kind, serves_at_once, clients| {
            let mut case = Case::backlog();
            case.target.kind = kind;
            case.trial.job.fleet.serves_at_once = serves_at_once;
            case.setting.connections = clients;
            case.evidence().accepts_any_number()
        };
        assert!(accepts_any_number(BuiltIn, None, 1_000));
        assert!(accepts_any_number(BuiltIn, Some(1_020), 32));
        assert!(!accepts_any_number(BuiltIn, Some(1), 2));
        assert!(!accepts_any_number(Command, None, 2));
        assert!(!accepts_any_number(Running, None, 2));
    }

    #[test]
    fn a_counter_that_shrank_or_is_absent_counts_as_nothing() {
        let mut case = Case::backlog();
        case.counter("TcpExt.ListenOverflows", -3);
        let evidence = case.evidence();
        assert_eq!(evidence.counter("TcpExt.ListenOverflows"), 0);
        assert_eq!(evidence.counter("TcpExt.ListenDrops"), 0);
    }
}
