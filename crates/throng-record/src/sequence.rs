//! The phases that a generator is asked for, in their order: what an experiment is made of.

use serde::{Deserialize, Serialize};

use crate::{AcceptSpec, Arrivals, ConnectionUse, ExchangeSpec, PhaseName, Protocol, TasksSpec};

/// A phase, as the generator is asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "phase", rename_all = "kebab-case")]
pub enum PhaseSpec {
    /// Every connection is opened.
    Connect,
    /// Every connection makes its TLS handshake.
    Tls,
    /// Every connection is to be greeted.
    Acknowledge {
        /// With this line, its newline included.
        greeting: Vec<u8>,
    },
    /// One line is put on one connection, and is to come out of every one.
    Get(PutSpec),
    /// Lines are put at a rate.
    Sustain(SustainSpec),
    /// Messages are exchanged.
    Exchange(ExchangeSpec),
    /// Nothing is sent.
    Hold {
        /// For so long.
        duration_ns: u64,
    },
    /// A sample of the connections is pinged.
    Ping(PingSpec),
    /// Every connection is closed.
    Close,
    /// A multiplexer is timed, without a server and without a fleet.
    Multiplex(AcceptSpec),
}

/// A line that is put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PutSpec {
    /// The line, its newline included.
    pub line: Vec<u8>,
    /// Index of the connection that speaks; where it failed to open, the next that did speaks.
    pub speaker: u32,
}

/// Lines that are put at a rate, each with its number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SustainSpec {
    /// The line before it is numbered, and who speaks.
    pub put: PutSpec,
    /// Lines put per second, above 0. Each is due to come out of every connection.
    pub rate_per_second: f64,
    /// How their due times are spaced.
    pub arrivals: Arrivals,
    /// How long lines are put; what is then under way is still awaited.
    pub duration_ns: u64,
}

/// Connections that are pinged: spread evenly over all that are open, one message each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PingSpec {
    /// What is sent and expected.
    pub protocol: Protocol,
    /// Whether the returned bytes are compared with the expected ones.
    pub verify: bool,
    /// How many.
    pub pings: u32,
    /// Under way at once, over the whole fleet.
    pub at_once: u32,
}

impl PhaseSpec {
    /// Its name in the record.
    #[must_use]
    pub fn name(&self) -> PhaseName {
        match self {
            Self::Connect => PhaseName::Connect,
            Self::Tls => PhaseName::Tls,
            Self::Acknowledge { .. } => PhaseName::Acknowledge,
            Self::Get(_) => PhaseName::Get,
            Self::Sustain(_) => PhaseName::Sustain,
            Self::Exchange(spec) if spec.connection == ConnectionUse::Kept => PhaseName::Exchange,
            Self::Exchange(_) => PhaseName::Request,
            Self::Hold { .. } => PhaseName::Hold,
            Self::Ping(_) => PhaseName::Ping,
            Self::Close => PhaseName::Close,
            Self::Multiplex(_) => PhaseName::Multiplex,
        }
    }
}

/// Phases, in their order. Where a kind occurs more than once, the look-ups give its first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Sequence(pub Vec<PhaseSpec>);

impl Sequence {
    /// These, between opening all connections and closing them.
    #[must_use]
    pub fn on_open_connections(phases: impl IntoIterator<Item = PhaseSpec>) -> Self {
        let connect = std::iter::once(PhaseSpec::Connect);
        Self(connect.chain(phases).chain([PhaseSpec::Close]).collect())
    }

    /// The same over TLS: the handshakes follow the connects.
    pub fn secure(&mut self) {
        let connects = self.0.iter().position(|one| *one == PhaseSpec::Connect);
        if let Some(connects) = connects.filter(|_| !self.has(PhaseName::Tls)) {
            self.0.insert(connects + 1, PhaseSpec::Tls);
        }
    }

    /// Messages, on kept connections or each on one of its own.
    #[must_use]
    pub fn of_exchange(spec: ExchangeSpec) -> Self {
        match spec.connection {
            ConnectionUse::Kept => Self::on_open_connections([PhaseSpec::Exchange(spec)]),
            ConnectionUse::PerMessage { .. } => Self(vec![PhaseSpec::Exchange(spec)]),
        }
    }

    /// The messages that are exchanged.
    #[must_use]
    pub fn exchange(&self) -> Option<&ExchangeSpec> {
        self.0.iter().find_map(|phase| match phase {
            PhaseSpec::Exchange(spec) => Some(spec),
            _ => None,
        })
    }

    /// The same, to be changed.
    pub fn exchange_mut(&mut self) -> Option<&mut ExchangeSpec> {
        self.0.iter_mut().find_map(|phase| match phase {
            PhaseSpec::Exchange(spec) => Some(spec),
            _ => None,
        })
    }

    /// How clients go about their tasks at several services, where they have any.
    #[must_use]
    pub fn tasks(&self) -> Option<&TasksSpec> {
        self.exchange()?.pacing.tasks()
    }

    /// The line that is put and comes out of every connection.
    #[must_use]
    pub fn put(&self) -> Option<&PutSpec> {
        self.0.iter().find_map(|phase| match phase {
            PhaseSpec::Get(spec) => Some(spec),
            _ => None,
        })
    }

    /// The line that every connection is greeted with.
    #[must_use]
    pub fn greeting(&self) -> Option<&[u8]> {
        self.0.iter().find_map(|phase| match phase {
            PhaseSpec::Acknowledge { greeting } => Some(&greeting[..]),
            _ => None,
        })
    }

    /// Lines at a rate.
    #[must_use]
    pub fn sustain(&self) -> Option<&SustainSpec> {
        self.0.iter().find_map(|phase| match phase {
            PhaseSpec::Sustain(spec) => Some(spec),
            _ => None,
        })
    }

    /// How long all connections are held.
    #[must_use]
    pub fn hold_ns(&self) -> Option<u64> {
        self.0.iter().find_map(|phase| match phase {
            PhaseSpec::Hold { duration_ns } => Some(*duration_ns),
            _ => None,
        })
    }

    /// The pings.
    #[must_use]
    pub fn ping(&self) -> Option<&PingSpec> {
        self.0.iter().find_map(|phase| match phase {
            PhaseSpec::Ping(spec) => Some(spec),
            _ => None,
        })
    }

    /// The multiplexer that is timed.
    #[must_use]
    pub fn multiplexer(&self) -> Option<&AcceptSpec> {
        self.0.iter().find_map(|phase| match phase {
            PhaseSpec::Multiplex(spec) => Some(spec),
            _ => None,
        })
    }

    /// What is sent and expected, where messages are answered.
    #[must_use]
    pub fn protocol(&self) -> Option<&Protocol> {
        let of_exchange = self.exchange().map(|spec| &spec.protocol);
        of_exchange.or(self.ping().map(|spec| &spec.protocol))
    }

    /// Whether every message has a connection of its own.
    #[must_use]
    pub fn is_of_requests(&self) -> bool {
        self.has(PhaseName::Request)
    }

    /// Connections that belong to one client, and are never divided between two threads of the generator.
    #[must_use]
    pub fn connections_of_client(&self) -> u32 {
        match self.tasks() {
            None => 1,
            Some(tasks) if self.is_of_requests() => tasks.services,
            Some(tasks) => tasks.services.saturating_mul(tasks.choices),
        }
    }

    /// Whole clients to whom so many connections belong.
    #[must_use]
    pub fn clients(&self, connections: u32) -> u32 {
        connections / self.connections_of_client().max(1)
    }

    /// Whether there is a phase of this name.
    #[must_use]
    pub fn has(&self, name: PhaseName) -> bool {
        self.0.iter().any(|phase| phase.name() == name)
    }

    /// The phase that the trial is about, during which both sides are observed most closely.
    #[must_use]
    pub fn window(&self) -> Option<PhaseName> {
        use PhaseName::{Connect, Exchange, Get, Multiplex, Request, Sustain};
        let by_weight = [Exchange, Request, Sustain, Get, Multiplex, Connect];
        by_weight.into_iter().find(|&name| self.has(name))
    }
}
