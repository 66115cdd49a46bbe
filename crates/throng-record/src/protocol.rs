//! What is exchanged on a connection, how it is paced, and when it stops.

use serde::{Deserialize, Serialize};

use crate::{PagesSpec, TasksSpec};

/// What one message is and what its reply must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Every byte sent must come back, in order. Messages differ from one another, so that loss, reordering and
    /// corruption show; those of two bytes and more end in a newline, so that line-oriented servers serve them too.
    Echo {
        /// Bytes of a message, 1 to 1,048,576.
        size_bytes: u32,
    },
    /// The same request again and again, each answered by what `expect` says.
    Request {
        /// The request, as bytes.
        send: Vec<u8>,
        /// What ends a reply.
        expect: Expect,
    },
    /// Pages of an HTTP server, on kept connections.
    Pages(PagesSpec),
}

/// How the end, and the rightness, of a reply is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// Exactly these bytes.
    Text(Vec<u8>),
    /// This many bytes, whatever they are.
    Bytes(u64),
    /// Everything up to and including this delimiter.
    Until(Vec<u8>),
    /// Everything until the peer ends its output, and at least one byte.
    End,
    /// One frame: its length in four bytes, the highest first, and JSON with the code 200.
    Frame,
    /// One HTTP/1.1 response with a status of 200 to 399: its head, and a body by Content-Length, by chunks or to the end.
    HttpResponse,
}

/// When the next message is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Closed loop: each connection keeps `outstanding` messages unanswered; a reply is followed at once by the next message.
    Closed {
        /// Unanswered messages per connection, at least 1.
        outstanding: u32,
    },
    /// Closed loop of clients that have a task with each of several services: one request under way for each task, and the tasks end after so
    /// many ([`Stop::MessagesEach`]). A request that fails ends its task.
    Tasks(TasksSpec),
    /// Closed loop in step: a group of `group` connections sends one message on each, waits for all replies, then goes on.
    Lockstep {
        /// Connections in a group, at least 1; the last group may be smaller.
        group: u32,
    },
    /// Open loop: messages are due by a schedule that does not wait for replies, and latency counts from the due time.
    /// A message that finds every connection busy waits for one; that wait is part of its latency.
    Open {
        /// Messages per second over the whole fleet, above 0.
        rate_per_second: f64,
        /// How the due times are spaced.
        arrivals: Arrivals,
        /// Unanswered messages per connection at most.
        outstanding: u32,
        /// Spin for the last microseconds before a due time rather than sleep through them.
        spin: bool,
    },
}

impl Pacing {
    /// Unanswered messages that one connection may have.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        match self {
            Self::Closed { outstanding } | Self::Open { outstanding, .. } => *outstanding,
            Self::Lockstep { .. } | Self::Tasks(_) => 1,
        }
    }

    /// The tasks, where clients have some.
    #[must_use]
    pub fn tasks(&self) -> Option<&TasksSpec> {
        match self {
            Self::Tasks(spec) => Some(spec),
            Self::Closed { .. } | Self::Lockstep { .. } | Self::Open { .. } => None,
        }
    }

    /// Whether this is a plain closed loop, the only pacing for which Little's law is a check.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }
}

/// How the due times of an open loop are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Equal gaps.
    Constant,
    /// Exponentially distributed gaps: a Poisson process, as independent users make.
    Exponential,
}

/// A number of messages or a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// Messages over the whole fleet.
    Messages(u64),
    /// Nanoseconds.
    DurationNs(u64),
}

impl Amount {
    /// Whether it is none of either.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        matches!(self, Self::Messages(0) | Self::DurationNs(0))
    }
}

/// When the measured part of an exchange ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// After exactly this many messages over the whole fleet.
    Messages(u64),
    /// After exactly this many messages of each client where each message has a connection of its own; of each task where clients have tasks.
    MessagesEach(u64),
    /// After this many nanoseconds; what is then under way is still awaited and recorded.
    DurationNs(u64),
    /// When the 95 % confidence interval of the throughput (batch means) is at most this wide.
    Confidence {
        /// Half the interval's width ÷ the mean, for example 0.01.
        relative_half_width: f64,
        /// The longest that is waited for it.
        max_duration_ns: u64,
    },
}

impl Stop {
    /// Messages of each client or task, where their number is what ends it; without a bound otherwise.
    #[must_use]
    pub fn each(self) -> u64 {
        match self {
            Self::MessagesEach(each) => each,
            Self::Messages(_) | Self::DurationNs(_) | Self::Confidence { .. } => u64::MAX,
        }
    }
}

/// Whether messages share connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionUse {
    /// Connections are opened first and kept for all messages.
    #[default]
    Kept,
    /// Every message has a connection of its own: connect, send, receive, close. A fleet's connections are then clients, each with
    /// one at a time.
    PerMessage {
        /// Of requests whose first byte comes later than this, and of failed ones, the generator tells even where it has no room for all.
        slow_first_byte_ns: u64,
        /// Whether it tells of the others too, as far as there is room.
        tells_every_request: bool,
    },
}

/// One exchange of a fleet: protocol, pacing, warm-up and stop, which compose freely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExchangeSpec {
    /// What is sent and expected.
    pub protocol: Protocol,
    /// Whether the returned bytes are compared with the expected ones.
    pub verify: bool,
    /// Whether messages share connections.
    pub connection: ConnectionUse,
    /// When messages are sent.
    pub pacing: Pacing,
    /// What is exchanged before the measurement begins; recorded apart.
    pub warmup: Amount,
    /// When the measurement ends.
    pub stop: Stop,
}

/// One message of six bytes, without a warm-up.
impl Default for ExchangeSpec {
    fn default() -> Self {
        Self {
            protocol: Protocol::Echo { size_bytes: 6 },
            verify: true,
            connection: ConnectionUse::default(),
            pacing: Pacing::Closed { outstanding: 1 },
            warmup: Amount::Messages(0),
            stop: Stop::Messages(1),
        }
    }
}
