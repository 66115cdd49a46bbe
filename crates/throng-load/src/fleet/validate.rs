//! Jobs that contradict themselves are refused before anything is connected, in words.

use throng_record::{
    Amount, ConnectionUse, ExchangeSpec, Expect, FanoutSpec, FleetSpec, HoldSpec, LoadJob, Pacing,
    Protocol, Stop, Sustain,
};
use throng_sys::address::Address;

use crate::error::LoadError;
use crate::script::NUMBER_BYTES;

/// All numbered lines of a fan-out stand in memory.
const NUMBERED_BYTES_MAX: f64 = (256 << 20) as f64;

type Checked = Result<(), LoadError>;

fn refuse(reason: &str) -> Checked {
    Err(LoadError::Job(reason.to_owned()))
}

pub(super) fn validate(spec: &FleetSpec, exchange: &ExchangeSpec, address: &Address) -> Checked {
    fleet(spec)?;
    pacing(&exchange.pacing)?;
    protocol(&exchange.protocol)?;
    match exchange.connection {
        ConnectionUse::Kept => kept(exchange),
        ConnectionUse::PerMessage { .. } => per_message(exchange, address),
    }
}

fn fleet(spec: &FleetSpec) -> Checked {
    match () {
        () if spec.connections == 0 => refuse("it has no connections; ask for at least one"),
        () if spec.shards == 0 || spec.shards > spec.connections => {
            refuse("the number of shards is from 1 to the number of connections")
        }
        () if spec.connect_concurrency == 0 => {
            refuse("no connect may be in flight; ask for at least one at once")
        }
        () if spec
            .connect_rate_per_second
            .is_some_and(|rate| !rate.is_finite() || rate <= 0.0) =>
        {
            refuse("the rate of connects is a number above 0")
        }
        () => Ok(()),
    }
}

pub(super) fn fanout(spec: &FleetSpec, fanout: &FanoutSpec) -> Checked {
    fleet(spec)?;
    let is_line = |bytes: &[u8]| {
        let newline = bytes.iter().position(|&byte| byte == b'\n');
        bytes.len() <= 1 << 20 && newline.is_some_and(|newline| newline + 1 == bytes.len())
    };
    let greeting = fanout.greeting.as_deref();
    match () {
        () if fanout.speaker >= spec.connections => refuse(
            "the connection that speaks is one of the fleet: its index is below the number of connections",
        ),
        () if !is_line(&fanout.line) => {
            refuse("a line ends in a newline, has no other, and has 1 MiB at most")
        }
        () if greeting.is_some_and(|greeting| !is_line(greeting)) => refuse(
            "a greeting ends in a newline, has no other, and has 1 MiB at most; where the server greets nobody, leave it out",
        ),
        () if greeting == Some(&fanout.line) => refuse(
            "the line is the greeting, so that one could not be told from the other; put another line",
        ),
        () => fanout
            .sustain
            .map_or(Ok(()), |asked| sustain(&asked, fanout.line.len())),
    }
}

fn sustain(sustain: &Sustain, line_bytes: usize) -> Checked {
    let rate = sustain.rate_per_second;
    if !rate.is_finite() || rate <= 0.0 {
        return refuse("the rate of lines is a number above 0");
    }
    let lines = rate * sustain.duration_ns as f64 / 1e9;
    if lines * (line_bytes + NUMBER_BYTES) as f64 > NUMBERED_BYTES_MAX {
        return refuse(
            "its lines would take more than 256 MiB; ask for a lower rate or a shorter time",
        );
    }
    Ok(())
}

fn pacing(pacing: &Pacing) -> Checked {
    match pacing {
        pacing if pacing.outstanding() == 0 => {
            refuse("nothing may be outstanding; ask for at least one")
        }
        Pacing::Lockstep { group: 0 } => refuse("a lockstep group has at least one connection"),
        Pacing::Open {
            rate_per_second, ..
        } if !rate_per_second.is_finite() || *rate_per_second <= 0.0 => {
            refuse("the rate of an open loop is a number above 0")
        }
        _ => Ok(()),
    }
}

fn protocol(protocol: &Protocol) -> Checked {
    let size_is_wrong = match protocol {
        Protocol::Echo { size_bytes } => !(1..=1 << 20).contains(size_bytes),
        Protocol::Request { send, .. } => send.is_empty(),
    };
    match protocol {
        _ if size_is_wrong => refuse("a message has 1 byte to 1 MiB"),
        Protocol::Request { expect, .. } if expects_nothing(expect) => {
            refuse("an expected reply has at least one byte")
        }
        _ => Ok(()),
    }
}

fn expects_nothing(expect: &Expect) -> bool {
    match expect {
        Expect::Text(bytes) | Expect::Until(bytes) => bytes.is_empty(),
        Expect::Bytes(count) => *count == 0 || *count > u64::from(u32::MAX),
        Expect::End | Expect::HttpResponse => false,
    }
}

/// A job of holding, beyond what every job is held to.
pub(crate) fn hold(spec: &HoldSpec, job: &LoadJob) -> Checked {
    match () {
        () if job.exchange.connection != ConnectionUse::Kept => {
            refuse("connections that are held are kept; none is for one message only")
        }
        () if spec.pings > job.fleet.connections => {
            refuse("no more connections can be pinged than there are; ask for fewer pings")
        }
        () if spec.pings > 0 && spec.pings_at_once == 0 => {
            refuse("no ping may be under way; ask for at least one at once")
        }
        () => Ok(()),
    }
}

/// One connection after another answers many messages.
fn kept(exchange: &ExchangeSpec) -> Checked {
    let Protocol::Request { expect, .. } = &exchange.protocol else {
        return each_counts(exchange.stop);
    };
    match expect {
        Expect::End => refuse(
            "a reply that ends with the connection needs a connection of its own for each message",
        ),
        Expect::HttpResponse => refuse(
            "HTTP responses are read only where each message has a connection of its own; on kept connections name the reply's text, length or end mark",
        ),
        Expect::Text(_) | Expect::Bytes(_) | Expect::Until(_) => each_counts(exchange.stop),
    }
}

fn each_counts(stop: Stop) -> Checked {
    match stop {
        Stop::MessagesEach(_) => refuse(
            "a number of messages for each client is for messages that have connections of their own; ask for a number in all",
        ),
        Stop::Messages(_) | Stop::DurationNs(_) | Stop::Confidence { .. } => Ok(()),
    }
}

/// Each message has its own connection.
fn per_message(exchange: &ExchangeSpec, address: &Address) -> Checked {
    match (&exchange.pacing, exchange.stop) {
        _ if matches!(address, Address::Unix(_)) => refuse(
            "a connection for each message needs TCP: a Unix socket has neither handshake nor TCP_INFO, from which such a run is explained",
        ),
        (Pacing::Lockstep { .. }, _) => refuse(
            "messages with connections of their own are sent in a closed or an open loop, not in lockstep",
        ),
        (pacing, _) if pacing.outstanding() != 1 => refuse(
            "messages with connections of their own have one outstanding each; ask for more connections instead",
        ),
        (_, Stop::Confidence { .. }) => refuse(
            "messages with connections of their own stop after a number of messages or a time, not by confidence",
        ),
        (Pacing::Open { .. }, Stop::MessagesEach(_)) => refuse(
            "in an open loop the schedule decides which client sends; ask for a number of messages in all, or for a time",
        ),
        (_, Stop::MessagesEach(_)) if !is_nothing(exchange.warmup) => refuse(
            "a number of messages for each client leaves none for a warm-up; ask for one of 0 messages, or for a number in all",
        ),
        (_, Stop::MessagesEach(each)) if each > u64::from(u32::MAX) => {
            refuse("a client sends 4,294,967,295 messages at most; ask for fewer, or for a time")
        }
        _ => Ok(()),
    }
}

fn is_nothing(amount: Amount) -> bool {
    matches!(amount, Amount::Messages(0) | Amount::DurationNs(0))
}
