//! The phases of a trial: what each measured, and what it cost both sides, in their order.

use serde::{Deserialize, Serialize};

use crate::{
    AcceptPhase, ClosePhase, ConnectPhase, ConnectionsPhase, ErrorCounts, ExchangePhase, HoldPhase,
    LinePhase, PhaseSpec, PingPhase, PutPhase, Sequence, SustainedPhase, TasksRecord, TlsPhase,
};

/// A stretch of a trial that is measured as a whole: on one side by the clock, on both by their CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PhaseName {
    /// Every connection is opened.
    Connect,
    /// Every connection makes its TLS handshake.
    Tls,
    /// Every connection is greeted. It begins with the end of the last connect, without a wait between the two.
    Acknowledge,
    /// One line is put, and comes out of every connection. A reading between the two would hold up those that read.
    Get,
    /// Lines are put at a rate.
    Sustain,
    /// Messages are exchanged on the open connections.
    Exchange,
    /// Messages are exchanged, each on a connection of its own.
    Request,
    /// Nothing is sent.
    Hold,
    /// A sample is pinged.
    Ping,
    /// Every connection is closed.
    Close,
    /// A multiplexer is timed.
    Multiplex,
}

impl PhaseName {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Acknowledge => "acknowledge",
            Self::Get => "get",
            Self::Sustain => "sustain",
            Self::Exchange => "exchange",
            Self::Request => "request",
            Self::Hold => "hold",
            Self::Ping => "ping",
            Self::Close => "close",
            Self::Multiplex => "multiplex",
        }
    }
}

/// What a phase measured, by its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "phase", content = "measured", rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "a trial has a handful of phases, each moved once"
)]
pub enum Measured {
    /// Every connection is opened.
    Connect(ConnectPhase),
    /// Every connection makes its TLS handshake.
    Tls(TlsPhase),
    /// Every connection is greeted. A connection's latency is from its completed connect.
    Acknowledge(LinePhase),
    /// One line is put, and comes out of every connection.
    Get(PutPhase),
    /// Lines are put at a rate.
    Sustain(SustainedPhase),
    /// Messages are exchanged on the open connections.
    Exchange(ExchangePhase),
    /// Messages are exchanged, each on a connection of its own.
    Request {
        /// The messages.
        exchange: ExchangePhase,
        /// Their connections.
        connections: ConnectionsPhase,
    },
    /// Nothing is sent.
    Hold(HoldPhase),
    /// A sample of the connections is pinged.
    Ping(PingPhase),
    /// Every connection is closed.
    Close(ClosePhase),
    /// A multiplexer is timed, without a server and without a fleet.
    Multiplex(AcceptPhase),
}

impl Measured {
    /// Which phase it is of.
    #[must_use]
    pub fn name(&self) -> PhaseName {
        match self {
            Self::Connect(_) => PhaseName::Connect,
            Self::Tls(_) => PhaseName::Tls,
            Self::Acknowledge(_) => PhaseName::Acknowledge,
            Self::Get(_) => PhaseName::Get,
            Self::Sustain(_) => PhaseName::Sustain,
            Self::Exchange(_) => PhaseName::Exchange,
            Self::Request { .. } => PhaseName::Request,
            Self::Hold(_) => PhaseName::Hold,
            Self::Ping(_) => PhaseName::Ping,
            Self::Close(_) => PhaseName::Close,
            Self::Multiplex(_) => PhaseName::Multiplex,
        }
    }

    /// What went wrong with connections.
    fn errors(&self) -> Vec<&ErrorCounts> {
        match self {
            Self::Connect(phase) => vec![&phase.errors],
            Self::Tls(phase) => vec![&phase.errors],
            Self::Acknowledge(line) | Self::Get(PutPhase { line, .. }) => vec![&line.errors],
            Self::Sustain(phase) => vec![&phase.errors],
            Self::Exchange(exchange) | Self::Request { exchange, .. } => vec![&exchange.errors],
            Self::Hold(phase) => vec![&phase.errors],
            Self::Ping(phase) => vec![&phase.lost_errors, &phase.errors],
            Self::Close(phase) => vec![&phase.errors],
            Self::Multiplex(_) => vec![],
        }
    }
}

/// One phase of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PhaseRecord {
    /// What it measured.
    #[serde(flatten)]
    pub measured: Measured,
    /// When the generator began it, by `CLOCK_MONOTONIC`: the same instant for all where there are several.
    pub begun_at_monotonic_ns: Option<u64>,
    /// What it cost both sides; absent where they were not read around it.
    pub cost: Option<PhaseCost>,
}

/// What a phase cost both sides. The readings are taken while the generator waits between two phases; only that between the connects and
/// the acknowledgements is taken while it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PhaseCost {
    /// From the reading before it to the reading after it, on the wall clock.
    pub window_ns: u64,
    /// The generator.
    pub generator: Option<SideCost>,
    /// The server; absent where its process is not visible from here.
    pub server: Option<SideCost>,
}

/// What a phase cost one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideCost {
    /// CPU time, from the scheduler's nanosecond account.
    pub cpu_ns: u64,
    /// The user part, tick based: below 50 ms it is noise.
    pub user_ns: u64,
    /// The system part, tick based: below 50 ms it is noise.
    pub system_ns: u64,
    /// Threads at its end.
    pub threads: u32,
    /// Resident set at its end, summed over processes.
    pub rss_bytes: u64,
}

/// The phases that a trial came to, in their order. Where a kind occurs more than once, the look-ups give its first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Phases(pub Vec<PhaseRecord>);

/// Looks a kind of phase up, to read and to change.
macro_rules! look_up {
    ($($(#[$doc:meta])* $name:ident, $name_mut:ident: $kind:ty = $($pattern:pat => $found:expr),+;)+) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> Option<&$kind> {
                self.0.iter().find_map(|phase| match &phase.measured {
                    $($pattern => Some($found),)+
                    _ => None,
                })
            }

            /// The same, to be changed.
            pub fn $name_mut(&mut self) -> Option<&mut $kind> {
                self.0.iter_mut().find_map(|phase| match &mut phase.measured {
                    $($pattern => Some($found),)+
                    _ => None,
                })
            }
        )+
    };
}

impl Phases {
    look_up! {
        /// Opening the connections.
        connect, connect_mut: ConnectPhase = Measured::Connect(phase) => phase;
        /// The TLS handshakes.
        tls, tls_mut: TlsPhase = Measured::Tls(phase) => phase;
        /// The greetings.
        greeting, greeting_mut: LinePhase = Measured::Acknowledge(phase) => phase;
        /// The line that was put, and came out of every connection.
        put, put_mut: PutPhase = Measured::Get(phase) => phase;
        /// Lines at a rate.
        sustained, sustained_mut: SustainedPhase = Measured::Sustain(phase) => phase;
        /// Messages, on kept connections or each on its own.
        exchange, exchange_mut: ExchangePhase =
            Measured::Exchange(exchange) | Measured::Request { exchange, .. } => exchange;
        /// The connections of messages that each had their own.
        connections, connections_mut: ConnectionsPhase =
            Measured::Request { connections, .. } => connections;
        /// Holding.
        hold, hold_mut: HoldPhase = Measured::Hold(phase) => phase;
        /// Pings.
        ping, ping_mut: PingPhase = Measured::Ping(phase) => phase;
        /// Closing the connections.
        close, close_mut: ClosePhase = Measured::Close(phase) => phase;
        /// A multiplexer's cost.
        multiplexer, multiplexer_mut: AcceptPhase = Measured::Multiplex(phase) => phase;
    }

    /// What became of clients that have tasks at several services, and of these.
    #[must_use]
    pub fn tasks(&self) -> Option<&TasksRecord> {
        self.exchange()?.tasks.as_ref()
    }

    /// Adds the phase that came next.
    pub fn push(&mut self, measured: Measured) {
        self.0.push(PhaseRecord {
            measured,
            begun_at_monotonic_ns: None,
            cost: None,
        });
    }

    /// Puts what the phases cost beside what they measured. Both are in the order of the phases; a phase whose record is missing is passed over.
    pub fn add_costs(&mut self, costs: impl IntoIterator<Item = (PhaseName, PhaseCost)>) {
        let mut phases = self.0.iter_mut();
        for (name, cost) in costs {
            if let Some(phase) = phases.find(|phase| phase.measured.name() == name) {
                // That of generators on other hosts is known already.
                let elsewhere = phase.cost.take().and_then(|cost| cost.generator);
                phase.cost = Some(PhaseCost {
                    generator: cost.generator.or(elsewhere),
                    ..cost
                });
            }
        }
    }

    /// Each with what was asked of it. Phases that were left out, as after an interrupt, are passed over.
    pub fn as_asked<'a>(
        &'a self,
        asked: &'a Sequence,
    ) -> impl Iterator<Item = (&'a PhaseSpec, &'a PhaseRecord)> {
        let mut asked = asked.0.iter();
        self.0.iter().filter_map(move |phase| {
            let name = phase.measured.name();
            Some((asked.find(|spec| spec.name() == name)?, phase))
        })
    }

    /// What the first phase of this name cost both sides.
    #[must_use]
    pub fn cost(&self, name: PhaseName) -> Option<&PhaseCost> {
        let phase = self.0.iter().find(|phase| phase.measured.name() == name)?;
        phase.cost.as_ref()
    }

    /// Connections that were opened to be kept; 0 where each message has one of its own.
    #[must_use]
    pub fn kept(&self) -> u32 {
        self.connect().map_or(0, |phase| phase.connected)
    }

    /// Connections that opened, whether they were kept or each served one message, warm-up included.
    #[must_use]
    pub fn connected(&self) -> u64 {
        match self.connections() {
            Some(connections) => connections.connected_in_all(),
            None => self.kept().into(),
        }
    }

    /// Connections that failed, in whichever phase, by kind.
    #[must_use]
    pub fn errors(&self) -> ErrorCounts {
        let mut errors = ErrorCounts::default();
        for of_phase in self.0.iter().flat_map(|phase| phase.measured.errors()) {
            errors.merge(of_phase);
        }
        errors
    }
}

impl FromIterator<Measured> for Phases {
    fn from_iter<I: IntoIterator<Item = Measured>>(measured: I) -> Self {
        let mut phases = Self::default();
        measured.into_iter().for_each(|one| phases.push(one));
        phases
    }
}
