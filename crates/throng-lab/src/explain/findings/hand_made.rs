//! A trial made by hand, for the tests of the findings.

use std::collections::BTreeMap;

use throng_record::plan::ListenFamily;
use throng_record::side::CounterDeltas;
use throng_record::{
    AcceptQueueRecord, Amount, Backend, CatalogueRecord, Check, ConnectPhase, ConnectionUse,
    ConnectionsPhase, ErrorCounts, ExchangePhase, ExchangeSpec, HandshakesRecord, Histogram,
    ListenerRecord, Network, Pacing, Protocol, Sequence, Setting, SideRecord, SourceAddresses,
    Stop, histogram,
};

use throng_sys::open_descriptors::OpenDescriptors;

use super::{CoresSeen, Evidence, Limits, ServerSeen};
use crate::explain::account::Account;
use crate::launcher::Ending;
use crate::limit::Busy;

/// Everything that evidence refers to.
pub(crate) struct Case {
    pub(crate) setting: Setting,
    pub(crate) network: Network,
    pub(crate) connect: ConnectPhase,
    pub(crate) exchange: ExchangePhase,
    pub(crate) has_own_connections: bool,
    pub(crate) phase: ConnectionsPhase,
    pub(crate) account: Account,
    pub(crate) is_queue_observed: bool,
    pub(crate) queue: AcceptQueueRecord,
    pub(crate) backlog_asked: Option<u32>,
    pub(crate) backlog_in_force: Option<u32>,
    pub(crate) somaxconn: Option<u32>,
    pub(crate) handshakes: Option<HandshakesRecord>,
    pub(crate) counters: CounterDeltas,
    pub(crate) errors: ErrorCounts,
    pub(crate) server_side: Option<SideRecord>,
    pub(crate) generator_side: Option<SideRecord>,
    pub(crate) busy: Busy,
    pub(crate) wanted: Busy,
    pub(crate) accepts_any_number: bool,
    pub(crate) was_listening: Option<bool>,
    pub(crate) checks: Vec<Check>,
    pub(crate) address: String,
    pub(crate) limits: Limits,
    pub(crate) is_built_in: bool,
    pub(crate) is_in_sight: bool,
    pub(crate) threads_max: u32,
    pub(crate) processes_max: u32,
    pub(crate) descriptors: Option<OpenDescriptors>,
    pub(crate) ending: Option<Ending>,
    pub(crate) served: Option<u32>,
    pub(crate) serves_at_once: Option<u32>,
    pub(crate) workers: Option<u32>,
    pub(crate) catalogue: Option<CatalogueRecord>,
    pub(crate) cores: Option<CoresSeen>,
}

impl Case {
    /// 32 clients with 5 requests each at 40 ms, in a private network, the queue observed, the server idle; nothing to find.
    pub(crate) fn backlog() -> Self {
        Self {
            setting: setting(),
            network: Network::Private,
            connect: ConnectPhase::default(),
            exchange: ExchangePhase::default(),
            has_own_connections: true,
            phase: ConnectionsPhase {
                begun: 160,
                connected: 160,
                answered: 160,
                ..ConnectionsPhase::default()
            },
            account: Account::default(),
            is_queue_observed: true,
            queue: AcceptQueueRecord::default(),
            backlog_asked: Some(5),
            backlog_in_force: None,
            somaxconn: None,
            handshakes: None,
            counters: CounterDeltas::new(),
            errors: ErrorCounts::default(),
            server_side: None,
            generator_side: None,
            busy: Busy {
                server: Some(0.05),
                generator: Some(0.05),
            },
            wanted: Busy {
                server: None,
                generator: None,
            },
            accepts_any_number: false,
            was_listening: None,
            checks: vec![],
            address: "tcp://127.0.0.1:80".to_owned(),
            limits: Limits::default(),
            is_built_in: false,
            is_in_sight: true,
            threads_max: 1,
            processes_max: 1,
            descriptors: None,
            ending: None,
            served: None,
            serves_at_once: None,
            workers: None,
            catalogue: None,
            cores: None,
        }
    }

    /// Kept connections to a server of unknown service time whose queue was not observed.
    pub(crate) fn echo() -> Self {
        let backlog = Self::backlog();
        let mut exchange = backlog.setting.phases.exchange().expect("one").clone();
        exchange.connection = ConnectionUse::Kept;
        Self {
            setting: Setting {
                service_time_ns: None,
                phases: Sequence::of_exchange(exchange),
                ..backlog.setting
            },
            has_own_connections: false,
            is_queue_observed: false,
            ..backlog
        }
    }

    pub(crate) fn counter(&mut self, name: &str, change: i64) {
        self.counters.insert(name.to_owned(), change);
    }

    pub(crate) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            setting: &self.setting,
            address: &self.address,
            server: ServerSeen {
                is_built_in: self.is_built_in,
                is_in_sight: self.is_in_sight,
                backlog_asked: self.backlog_asked,
                threads_max: self.threads_max,
                processes_max: self.processes_max,
                descriptors: self.descriptors,
                ending: self.ending.as_ref(),
                served: self.served,
                workers: self.workers,
                catalogue: self.catalogue.as_ref(),
                cores: self.cores,
            },
            limits: &self.limits,
            network: self.network,
            connect: (!self.has_own_connections).then_some(&self.connect),
            exchange: Some(&self.exchange),
            connections: self
                .has_own_connections
                .then_some((&self.phase, &self.account)),
            accept_queue: self.is_queue_observed.then_some(&self.queue),
            backlog_in_force: self.backlog_in_force,
            somaxconn: self.somaxconn,
            handshakes: self.handshakes.as_ref(),
            kernel_counters: &self.counters,
            errors: &self.errors,
            server_side: self.server_side.as_ref(),
            generator_side: self.generator_side.as_ref(),
            busy: self.busy,
            wanted: self.wanted,
            serves_at_once: self.serves_at_once,
            accepts_any_number: self.accepts_any_number,
            was_listening: self.was_listening,
            checks: &self.checks,
        }
    }
}

/// A listener on the one port that there is.
pub(crate) fn listener(backlog: u32, depth_max: u32, depth_mean: f64) -> ListenerRecord {
    ListenerRecord {
        address: "127.0.0.1:80".to_owned(),
        backlog,
        depth_max,
        depth_mean,
        ..ListenerRecord::default()
    }
}

/// A server that left in order, with this as the last line of its output.
pub(crate) fn ended_with(line: &str) -> Ending {
    Ending {
        tail: vec![line.to_owned()],
        ..Ending::in_order_for_tests()
    }
}

/// Values, each so many times.
pub(crate) fn histogram(values: &[(u64, u64)]) -> Histogram {
    let mut live = histogram::empty();
    for &(value, times) in values {
        live.record_n(value, times).expect("within range");
    }
    Histogram::from(&live)
}

fn setting() -> Setting {
    Setting {
        closing: throng_record::Closing::Fin,
        swept: vec![],
        connections: 32,
        connect_concurrency: 64,
        connect_rate_per_second: None,
        phases: Sequence::of_exchange(ExchangeSpec {
            protocol: Protocol::Echo { size_bytes: 6 },
            verify: true,
            pacing: Pacing::Closed { outstanding: 1 },
            warmup: Amount::Messages(0),
            stop: Stop::MessagesEach(5),
            connection: ConnectionUse::PerMessage {
                slow_first_byte_ns: 240_000_000,
                tells_every_request: true,
            },
        }),
        workload: throng_record::Workload::Oneshot,
        service_time_ns: Some(40_000_000),
        backend: Backend::Epoll,
        shards: 1,
        source: SourceAddresses::Spread,
        nodelay: true,
        connect_timeout_ns: 10_000_000_000,
        reply_timeout_ns: 10_000_000_000,
        ready_timeout_ns: 10_000_000_000,
        server_cpus: vec![],
        generator_cpus: vec![],
        listen: ListenFamily::Ipv4,
        backlog: 5,
        workers: None,
        accept_threads: None,
        delay_inline: false,
        observe: true,
        kernel: BTreeMap::new(),
    }
}
