//! Jobs that contradict themselves are refused before anything is connected, in words.

use throng_record::{
    ConnectionUse, ExchangeSpec, Expect, FleetSpec, LoadJob, Pacing, PhaseName, PhaseSpec,
    PingSpec, Protocol, Sequence, Stop, SustainSpec,
};

use crate::error::LoadError;
use crate::script::{Lines, NUMBER_BYTES};

/// All numbered lines of a fan-out stand in memory.
const NUMBERED_BYTES_MAX: f64 = (256 << 20) as f64;

type Checked = Result<(), LoadError>;

fn refuse(reason: &str) -> Checked {
    Err(LoadError::Job(reason.to_owned()))
}

pub(super) fn validate(job: &LoadJob) -> Checked {
    fleet(&job.fleet)?;
    sequence(&job.phases)?;
    leaves_nobody_waiting(job)?;
    tasks(job)?;
    if let Some(lines) = Lines::of(&job.phases) {
        fanout(&job.fleet, &lines)?;
    }
    for phase in &job.phases.0 {
        match phase {
            PhaseSpec::Exchange(spec) => exchange(spec)?,
            PhaseSpec::Ping(spec) => ping(spec, &job.fleet)?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether the phases can follow each other. One block of memory holds all that a fleet sends, and so it speaks one protocol.
fn sequence(asked: &Sequence) -> Checked {
    let phases = &asked.0;
    let is_alone = |phase: &PhaseSpec| match phase {
        PhaseSpec::Multiplex(_) => true,
        PhaseSpec::Exchange(spec) => spec.connection != ConnectionUse::Kept,
        _ => false,
    };
    if phases.iter().any(is_alone) && phases.len() > 1 {
        return refuse(
            "a multiplexer that is timed, and messages that each have a connection of their own, have no other phase beside them; leave those out",
        );
    }
    if phases.iter().any(is_alone) {
        return Ok(());
    }
    let (first, last) = (phases.first(), phases.last());
    if first != Some(&PhaseSpec::Connect) || last != Some(&PhaseSpec::Close) {
        return refuse("its first phase is to connect, and its last to close");
    }
    let once = |name| phases.iter().filter(|phase| phase.name() == name).count() <= 1;
    for name in [
        PhaseName::Connect,
        PhaseName::Close,
        PhaseName::Acknowledge,
        PhaseName::Get,
        PhaseName::Sustain,
    ] {
        if !once(name) {
            return Err(LoadError::Job(format!(
                "it has the phase `{}` more than once",
                name.name()
            )));
        }
    }
    let has_lines = Lines::of(asked).is_some();
    if has_lines && !are_lines_in_order(phases) {
        return refuse(
            "lines come in this order: the greetings, if any, as soon as all are connected, then the line that is put, then lines at a rate, if any",
        );
    }
    let mut protocols = phases.iter().filter_map(protocol_of);
    let first = protocols.next();
    if has_lines && first.is_some() {
        return refuse(
            "lines that come out of every connection, and messages that are answered, are not for one fleet; ask for one of them",
        );
    }
    if protocols.any(|other| Some(other) != first) {
        return refuse("its phases send different messages; a fleet speaks one protocol");
    }
    Ok(())
}

/// What is heard on a connection is one text from first byte to last.
fn are_lines_in_order(phases: &[PhaseSpec]) -> bool {
    let names: Vec<PhaseName> = phases.iter().map(PhaseSpec::name).collect();
    let at = |name| names.iter().position(|&one| one == name);
    let (greeted, got, sustained) = (
        at(PhaseName::Acknowledge),
        at(PhaseName::Get),
        at(PhaseName::Sustain),
    );
    got.is_some()
        && greeted.is_none_or(|place| place == 1)
        && sustained.is_none_or(|place| Some(place) > got)
}

/// Messages that a server has not answered when an exchange ends would be answered in the next phase.
fn leaves_nobody_waiting(job: &LoadJob) -> Checked {
    let fleet = &job.fleet;
    let serves_all = fleet
        .serves_at_once
        .is_none_or(|at_once| at_once >= fleet.connections);
    let speaking = job.phases.0.iter().filter_map(protocol_of);
    if serves_all || speaking.count() < 2 {
        return Ok(());
    }
    refuse(
        "the server serves fewer connections at once than there are, and what it leaves unanswered in one phase would come in the next; open fewer connections, or have one phase of messages",
    )
}

fn protocol_of(phase: &PhaseSpec) -> Option<&Protocol> {
    match phase {
        PhaseSpec::Exchange(spec) => Some(&spec.protocol),
        PhaseSpec::Ping(spec) => Some(&spec.protocol),
        _ => None,
    }
}

fn exchange(spec: &ExchangeSpec) -> Checked {
    pacing(&spec.pacing)?;
    protocol(&spec.protocol)?;
    match spec.connection {
        ConnectionUse::Kept => {
            ends_before_the_connection(&spec.protocol)?;
            each_counts(spec)
        }
        ConnectionUse::PerMessage { .. } => per_message(spec),
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

fn fanout(spec: &FleetSpec, lines: &Lines<'_>) -> Checked {
    let is_line = |bytes: &[u8]| {
        let newline = bytes.iter().position(|&byte| byte == b'\n');
        bytes.len() <= 1 << 20 && newline.is_some_and(|newline| newline + 1 == bytes.len())
    };
    let (greeting, line) = (lines.greeting, lines.line());
    match () {
        () if lines.puts.iter().any(|put| put.speaker >= spec.connections) => refuse(
            "the connection that speaks is one of the fleet: its index is below the number of connections",
        ),
        () if lines.puts.iter().any(|put| put.line != line) => refuse(
            "the line that is put and the lines at a rate are the same, but for their numbers",
        ),
        () if !is_line(line) => {
            refuse("a line ends in a newline, has no other, and has 1 MiB at most")
        }
        () if greeting.is_some_and(|greeting| !is_line(greeting)) => refuse(
            "a greeting ends in a newline, has no other, and has 1 MiB at most; where the server greets nobody, leave it out",
        ),
        () if greeting == Some(line) => refuse(
            "the line is the greeting, so that one could not be told from the other; put another line",
        ),
        () => lines
            .sustain
            .map_or(Ok(()), |asked| sustain(asked, line.len())),
    }
}

fn sustain(sustain: &SustainSpec, line_bytes: usize) -> Checked {
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
        Protocol::Pages(pages) => {
            let each = pages.requests.iter().map(|request| request.bytes().len());
            !(1..=1 << 20).contains(&each.sum::<usize>())
        }
    };
    match protocol {
        _ if size_is_wrong => refuse("a message, or all requests in turn, has 1 byte to 1 MiB"),
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
        Expect::End | Expect::Frame | Expect::HttpResponse => false,
    }
}

fn ping(spec: &PingSpec, fleet: &FleetSpec) -> Checked {
    protocol(&spec.protocol)?;
    ends_before_the_connection(&spec.protocol)?;
    match () {
        () if spec.pings > fleet.connections => {
            refuse("no more connections can be pinged than there are; ask for fewer pings")
        }
        () if spec.pings > 0 && spec.at_once == 0 => {
            refuse("no ping may be under way; ask for at least one at once")
        }
        () => Ok(()),
    }
}

/// A kept connection answers one message after another.
fn ends_before_the_connection(protocol: &Protocol) -> Checked {
    match protocol {
        Protocol::Request {
            expect: Expect::End,
            ..
        } => refuse(
            "a reply that ends with the connection needs a connection of its own for each message",
        ),
        Protocol::Echo { .. } | Protocol::Request { .. } | Protocol::Pages(_) => Ok(()),
    }
}

fn each_counts(spec: &ExchangeSpec) -> Checked {
    match (&spec.pacing, spec.stop) {
        (Pacing::Tasks(_), Stop::MessagesEach(_)) => Ok(()),
        (_, Stop::MessagesEach(_)) => refuse(
            "a number of messages for each client is for messages that have connections of their own; ask for a number in all",
        ),
        _ => Ok(()),
    }
}

/// Clients with tasks are whole: so many connections to so many services, and requests that are counted.
fn tasks(job: &LoadJob) -> Checked {
    let exchange = job.phases.exchange();
    let Some((spec, tasks)) = exchange.and_then(|spec| Some((spec, spec.pacing.tasks()?))) else {
        return Ok(());
    };
    let of_client = job.phases.connections_of_client();
    let addresses = job.fleet.addresses.len() as u32;
    match () {
        () if of_client == 0 || tasks.at_once == 0 => {
            refuse("clients have at least one service, one listener of it, and one task at once")
        }
        () if !job.fleet.connections.is_multiple_of(of_client) => {
            refuse("every client has a task with each service; ask for whole clients")
        }
        () if job.fleet.shards > job.fleet.connections / of_client => {
            refuse("a client is one thread's; ask for no more shards than clients")
        }
        () if !addresses.is_multiple_of(tasks.services)
            || addresses < tasks.services.saturating_mul(tasks.choices) =>
        {
            refuse(
                "every service has equally many addresses, and all that its clients choose among",
            )
        }
        () if !matches!(spec.stop, Stop::MessagesEach(_)) => {
            refuse("a task ends after a number of requests; ask for one")
        }
        () if !spec.warmup.is_nothing() => {
            refuse("a task's time has all of its requests in; ask for a warm-up of 0 messages")
        }
        () => Ok(()),
    }
}

/// Each message has its own connection.
fn per_message(exchange: &ExchangeSpec) -> Checked {
    match (&exchange.pacing, exchange.stop) {
        (Pacing::Lockstep { .. }, _) => refuse(
            "messages with connections of their own are sent in a closed or an open loop, not in lockstep",
        ),
        _ if matches!(exchange.protocol, Protocol::Pages(_)) => refuse(
            "pages in turn are asked for on connections that are kept; ask for one page instead",
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
        (_, Stop::MessagesEach(_)) if !exchange.warmup.is_nothing() => refuse(
            "a number of messages for each client leaves none for a warm-up; ask for one of 0 messages, or for a number in all",
        ),
        (_, Stop::MessagesEach(each)) if each > u64::from(u32::MAX) => {
            refuse("a client sends 4,294,967,295 messages at most; ask for fewer, or for a time")
        }
        _ => Ok(()),
    }
}
