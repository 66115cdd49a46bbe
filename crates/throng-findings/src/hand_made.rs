//! A trial made by hand, for the tests of findings and checks.

use throng_record::{
    AcceptQueueRecord, ConnectPhase, ConnectionUse, ConnectionsPhase, ErrorKind, ExchangePhase,
    ExchangeSpec, FleetSpec, Histogram, HostPart, ListenerRecord, LoadJob, Measured, Network,
    Outcome, Phases, Sequence, Setting, SideRecord, Stop, TargetKind, TargetRecord, Trial,
    histogram,
};

use crate::account::Account;
use crate::asked::Asked;
use crate::evidence::{Evidence, Observed};
use crate::server::{Ending, LifeEnd};

/// The window of both sides.
const WINDOW_NS: u64 = 1_000_000_000;

/// Everything that evidence refers to.
pub(crate) struct Case {
    pub(crate) trial: Trial,
    pub(crate) target: TargetRecord,
    pub(crate) setting: Setting,
    pub(crate) seen: Observed,
}

impl Case {
    /// 32 clients with 5 requests each at 40 ms to a command, in a private network, the queue observed, both sides idle; nothing to find.
    pub(crate) fn backlog() -> Self {
        let connections = ConnectionsPhase {
            begun: 160,
            connected: 160,
            answered: 160,
            ..ConnectionsPhase::default()
        };
        let mut case = Self::with(
            setting(),
            Measured::Request {
                exchange: ExchangePhase::default(),
                connections,
            },
        );
        case.trial.accept_queue = Some(AcceptQueueRecord::default());
        case.seen.account = Some(Account::default());
        case
    }

    /// Kept connections to a command of unknown service time whose queue was not observed.
    pub(crate) fn echo() -> Self {
        let mut setting = setting();
        let exchange = setting.phases.exchange_mut().expect("one");
        exchange.connection = ConnectionUse::Kept;
        setting.phases = Sequence::of_exchange(exchange.clone());
        setting.service_time_ns = None;
        let mut case = Self::with(setting, Measured::Connect(ConnectPhase::default()));
        let exchange = Measured::Exchange(ExchangePhase::default());
        case.trial.phases.push(exchange);
        case
    }

    fn with(setting: Setting, measured: Measured) -> Self {
        let mut trial = Trial::new((0, 0, 0), job(&setting));
        trial.outcome = Outcome::Completed;
        trial.network = Network::Private;
        trial.phases = Phases::from_iter([measured]);
        trial.server = Some(side(0));
        trial.generator = Some(side(1));
        Self {
            trial,
            target: TargetRecord::named("made", TargetKind::Command),
            setting,
            seen: Observed::default(),
        }
    }

    pub(crate) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            trial: &self.trial,
            target: &self.target,
            setting: &self.setting,
            seen: &self.seen,
        }
    }

    pub(crate) fn connect(&mut self) -> &mut ConnectPhase {
        let phase = self.trial.phases.connect_mut();
        phase.expect("connections that are kept")
    }

    pub(crate) fn exchange(&mut self) -> &mut ExchangePhase {
        self.trial.phases.exchange_mut().expect("messages")
    }

    pub(crate) fn requests(&mut self) -> &mut ConnectionsPhase {
        let phase = self.trial.phases.connections_mut();
        phase.expect("connections of their own")
    }

    pub(crate) fn account(&mut self) -> &mut Account {
        let account = self.seen.account.as_mut();
        account.expect("connections of their own")
    }

    pub(crate) fn queue(&mut self) -> &mut AcceptQueueRecord {
        self.trial.accept_queue.as_mut().expect("observed")
    }

    pub(crate) fn server(&mut self) -> &mut SideRecord {
        self.trial.server.as_mut().expect("visible")
    }

    pub(crate) fn generator(&mut self) -> &mut SideRecord {
        self.trial.generator.as_mut().expect("observed")
    }

    pub(crate) fn counter(&mut self, name: &str, change: i64) {
        let counters = &mut self.trial.kernel_counters;
        counters.insert(name.to_owned(), change);
    }

    /// One message fails so.
    pub(crate) fn fail(&mut self, kind: ErrorKind) {
        self.exchange().errors.count(kind, String::new);
    }

    /// What the server used of its only CPU; absent: it was read too late.
    pub(crate) fn server_used(&mut self, share: Option<f64>) {
        use_cpu(self.server(), share);
    }

    /// The same of the generator.
    pub(crate) fn generator_used(&mut self, share: Option<f64>) {
        use_cpu(self.generator(), share);
    }

    /// A built-in server, which takes the backlog that it is asked for.
    pub(crate) fn ask_for_backlog(&mut self, backlog: u32) {
        self.target.kind = TargetKind::BuiltIn;
        self.setting.backlog = backlog;
    }

    pub(crate) fn end(&mut self, ending: Ending) {
        self.seen.server = LifeEnd::Ended(ending, Asked::default());
    }
}

fn use_cpu(side: &mut SideRecord, share: Option<f64>) {
    side.is_of_other_window = share.is_none();
    side.cpu_ns = (share.unwrap_or(0.0) * WINDOW_NS as f64).round() as u64;
}

/// A twentieth of a CPU, used by one thread.
fn side(cpu: u32) -> SideRecord {
    SideRecord {
        cpus: vec![cpu],
        window_ns: WINDOW_NS,
        cpu_ns: WINDOW_NS / 20,
        processes_max: 1,
        threads_max: 1,
        ..SideRecord::default()
    }
}

/// A host whose generator, on one CPU, is as idle as that of the case, with 16 connections.
pub(crate) fn host(rank: u32, name: &str) -> HostPart {
    HostPart {
        rank,
        name: name.to_owned(),
        connections: 16,
        connected: 16,
        source_addresses: 1,
        generator: Some(side(0)),
        ..HostPart::default()
    }
}

fn job(setting: &Setting) -> LoadJob {
    LoadJob {
        fleet: FleetSpec {
            addresses: vec!["tcp://127.0.0.1:80".to_owned()],
            ..FleetSpec::from(setting)
        },
        phases: setting.phases.clone(),
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
        connections: 32,
        phases: Sequence::of_exchange(ExchangeSpec {
            stop: Stop::MessagesEach(5),
            connection: ConnectionUse::PerMessage {
                slow_first_byte_ns: 240_000_000,
                tells_every_request: true,
            },
            ..ExchangeSpec::default()
        }),
        workload: throng_record::Workload::Oneshot,
        service_time_ns: Some(40_000_000),
        backlog: 5,
        ..Setting::default()
    }
}
