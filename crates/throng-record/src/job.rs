//! What the generator process is told, and what it tells while and after it works.

use serde::{Deserialize, Serialize};

use crate::{
    AcceptPhase, ClosePhase, ConnectPhase, ConnectionsPhase, ErrorCounts, ExchangePhase,
    ExchangeSpec, FanoutPhases, FleetSpec, HoldPhases, PhaseName, Work,
};

/// Everything a generator process needs: read as JSON from its standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadJob {
    /// The connections.
    pub fleet: FleetSpec,
    /// The exchange: what is done with them, unless `work` says otherwise. Its protocol is that of pings too.
    pub exchange: ExchangeSpec,
    /// What is to be done.
    #[serde(default)]
    pub work: Work,
}

/// One line of the generator's standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LoadEvent {
    /// All connects have ended, and in a fan-out the greetings have come; nothing has been sent yet. The server may not have accepted all of them.
    /// Where each message has a connection of its own, told before the first connect, of none.
    Connected {
        /// Connections that opened.
        connected: u32,
    },
    /// A phase begins as soon as the generator is told to go on: until then it waits, and both sides are read. Only the acknowledgements
    /// are not waited for: they come of the server's own accord, so that the generator goes on at once.
    Phase {
        /// Which.
        phase: PhaseName,
    },
    /// The warm-up is over; the measured window begins.
    Measuring,
    /// Work under way, about ten times a second.
    Progress {
        /// Replies so far, warm-up included.
        replies: u64,
    },
    /// The measured window has ended; replies under way still come in. Where each message has a connection of its own, the last
    /// request has ended.
    Measured,
    /// The exchange is over: each reply has come, or has been given up. The generator waits, with every connection that is kept still open; both
    /// sides are read.
    Drained,
    /// The work is done, or was ended early.
    Finished {
        /// All that was measured.
        record: Box<LoadRecord>,
    },
    /// The job could not be done at all.
    Failed {
        /// What failed, the likely cause and the next command, in words.
        message: String,
    },
}

impl LoadEvent {
    /// Whether the generator now waits until it is told to go on.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        match self {
            Self::Connected { .. } | Self::Drained => true,
            Self::Phase { phase } => *phase != PhaseName::Acknowledge,
            _ => false,
        }
    }
}

/// What a generator measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadRecord {
    /// Opening the connections.
    pub connect: ConnectPhase,
    /// Exchanging messages.
    pub exchange: ExchangePhase,
    /// Closing the connections.
    pub close: ClosePhase,
    /// Where each message has a connection of its own: those connections. `connect` and `close` are then empty.
    #[serde(default)]
    pub connections: Option<ConnectionsPhase>,
    /// A fan-out's phases. `connect` and `close` stand beside them, `exchange` is empty.
    #[serde(default)]
    pub fanout: Option<FanoutPhases>,
    /// Holding; likewise.
    #[serde(default)]
    pub hold: Option<HoldPhases>,
    /// A multiplexer's cost; there is no fleet, so all else is empty.
    #[serde(default)]
    pub accept: Option<AcceptPhase>,
    /// Ended early by request (Ctrl-C): what was measured until then stands.
    pub interrupted: bool,
    /// The generator's own memory per idle connection: growth of its anonymous memory from before the fleet was made to
    /// all connections open, ÷ connections. Includes the fixed part, so that it is exact only for large fleets.
    pub user_bytes_per_connection: f64,
}

impl LoadRecord {
    /// Connections that opened, whether they were kept or each served one message, warm-up included.
    #[must_use]
    pub fn connected(&self) -> u64 {
        match &self.connections {
            Some(connections) => connections.connected_in_all(),
            None => self.connect.connected.into(),
        }
    }

    /// Connections that failed, in whichever phase, by kind.
    #[must_use]
    pub fn errors(&self) -> ErrorCounts {
        let mut errors = self.connect.errors.clone();
        errors.merge(&self.exchange.errors);
        if let Some(fanout) = &self.fanout {
            errors.merge(&fanout.errors());
        }
        if let Some(hold) = &self.hold {
            errors.merge(&hold.lost_errors);
            errors.merge(&hold.ping_errors);
        }
        errors.merge(&self.close.errors);
        errors
    }
}
