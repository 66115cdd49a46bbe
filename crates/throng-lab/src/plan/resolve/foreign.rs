//! The keys that an experiment has no use for: of each why, and what to write instead.
//!
//! One list for each experiment. A key of a plan file and the flag of that name are refused in the same words.

use throng_record::plan::Experiment;

use super::experiment::Defaults;
use crate::plan::{PlanDraft, PlanError};

mod instead;
#[cfg(test)]
mod tests;

use instead::{
    CLIENTS, CONNECTIONS, CONNECTIONS_OF_HOLD, DURATION, GREETING, HOLD, Instead, LINE, MESSAGES,
    PINGS, RATE, RATE_OF_LINES, REPEATS, REQUESTS, REQUESTS_TOTAL, SERVICE_TIME,
};

/// A key, why the experiment has no use for it, and what to do instead.
type Foreign = (&'static str, &'static str, Instead);

const LEAVE_OUT: Instead = Instead::Words("leave it out");
const INSTEAD_ACCEPT: Instead =
    Instead::Words("leave it out, or take the accept experiment (throng accept)");
const INSTEAD_BACKLOG: Instead =
    Instead::Words("leave it out, or take the backlog experiment (throng backlog)");
const INSTEAD_CHURN: Instead =
    Instead::Words("leave it out, or take the churn experiment (throng churn)");
const INSTEAD_ECHO: Instead =
    Instead::Words("leave it out, or take the echo experiment (throng echo)");
const INSTEAD_FANOUT: Instead =
    Instead::Words("leave it out, or take the fan-out experiment (throng fanout)");
const INSTEAD_HOLD: Instead =
    Instead::Words("leave it out, or take the hold experiment (throng hold)");

const PUBLISHED: Foreign = (
    "published",
    "it measures servers, which call poll as servers do",
    INSTEAD_ACCEPT,
);

/// What is left behind by one trial is not to be in the way of the next.
const SERVER: Foreign = (
    "server",
    "each trial has a server and a network of its own, so that none counts what another left behind",
    LEAVE_OUT,
);

/// Where connections are kept, nobody asks how they end.
const CLOSING: Foreign = (
    "closing",
    "its connections are kept to the end",
    INSTEAD_CHURN,
);

const CONNECTS: &str = "its connections are opened before anything is measured";
const NO_LINE: &str = "no line is passed on to others";

const FOREIGN_TO_ECHO: &[Foreign] = &[
    PUBLISHED,
    CLOSING,
    ("connect-concurrency", CONNECTS, INSTEAD_FANOUT),
    ("connect-rate", CONNECTS, INSTEAD_FANOUT),
    ("line", NO_LINE, INSTEAD_FANOUT),
    ("greeting", NO_LINE, INSTEAD_FANOUT),
    (
        "hold",
        "its connections are at work until the end",
        INSTEAD_HOLD,
    ),
    ("pings", "each of its connections sends", INSTEAD_HOLD),
    (
        "clients",
        "its connections are opened once and kept",
        Instead::Write(CONNECTIONS),
    ),
    (
        "requests",
        "its connections send until the measurement ends",
        Instead::Either([MESSAGES, DURATION]),
    ),
    (
        "requests-total",
        "its connections send until the measurement ends",
        Instead::Write(MESSAGES),
    ),
    (
        "workload",
        "its servers send back what they get",
        INSTEAD_BACKLOG,
    ),
    (
        "service-time",
        "an echo is sent back at once",
        INSTEAD_BACKLOG,
    ),
    (
        "observe",
        "its connections are opened before anything is measured",
        INSTEAD_BACKLOG,
    ),
    (
        "delay-inline",
        "an echo is sent back at once, so there is no delay",
        INSTEAD_BACKLOG,
    ),
];

const PACED: &str = "each client asks again as soon as it is answered, on a connection of its own";
const COUNTED: &str = "it ends when every client has made its requests";

const ONE_AT_A_TIME: &str =
    "each client has one connection at a time, and connects as soon as it is answered";

const FOREIGN_TO_BACKLOG: &[Foreign] = &[
    PUBLISHED,
    (
        "closing",
        "its servers close first, and what it measures is how connections begin",
        INSTEAD_CHURN,
    ),
    (
        "connect-concurrency",
        ONE_AT_A_TIME,
        Instead::Write(CLIENTS),
    ),
    (
        "connect-rate",
        ONE_AT_A_TIME,
        Instead::Both([CLIENTS, SERVICE_TIME]),
    ),
    ("line", NO_LINE, INSTEAD_FANOUT),
    ("greeting", NO_LINE, INSTEAD_FANOUT),
    ("hold", "none of its connections is kept", INSTEAD_HOLD),
    ("pings", "none of its connections is kept", INSTEAD_HOLD),
    (
        "connections",
        "each request has a connection of its own",
        Instead::Write(CLIENTS),
    ),
    (
        "messages",
        COUNTED,
        Instead::Either([REQUESTS, REQUESTS_TOTAL]),
    ),
    (
        "duration",
        COUNTED,
        Instead::Either([REQUESTS, REQUESTS_TOTAL]),
    ),
    ("confidence", COUNTED, Instead::Write(REPEATS)),
    (
        "max-duration",
        COUNTED,
        Instead::Either([REQUESTS, REQUESTS_TOTAL]),
    ),
    (
        "warmup",
        "the first burst of connects is what it measures",
        LEAVE_OUT,
    ),
    ("outstanding", PACED, Instead::Write(CLIENTS)),
    ("lockstep", PACED, Instead::Write(CLIENTS)),
    ("rate", PACED, Instead::Both([CLIENTS, SERVICE_TIME])),
    ("arrivals", PACED, LEAVE_OUT),
    ("spin", PACED, LEAVE_OUT),
    SERVER,
];

const ENDED: &str = "its clients send until the measurement ends";
const AT_ONCE: &str =
    "its requests are answered at once: what a connection costs is what it measures";
const FOREIGN_TO_CHURN: &[Foreign] = &[
    PUBLISHED,
    (
        "connect-concurrency",
        ONE_AT_A_TIME,
        Instead::Write(CLIENTS),
    ),
    ("connect-rate", ONE_AT_A_TIME, Instead::Write(RATE)),
    ("line", NO_LINE, INSTEAD_FANOUT),
    ("greeting", NO_LINE, INSTEAD_FANOUT),
    ("hold", "none of its connections is kept", INSTEAD_HOLD),
    ("pings", "none of its connections is kept", INSTEAD_HOLD),
    (
        "connections",
        "each request has a connection of its own",
        Instead::Write(CLIENTS),
    ),
    ("requests", ENDED, Instead::Either([MESSAGES, DURATION])),
    ("requests-total", ENDED, Instead::Write(MESSAGES)),
    ("service-time", AT_ONCE, INSTEAD_BACKLOG),
    ("delay-inline", AT_ONCE, INSTEAD_BACKLOG),
    ("confidence", ENDED, Instead::Both([DURATION, REPEATS])),
    ("max-duration", ENDED, Instead::Write(DURATION)),
    (
        "outstanding",
        "a client has one request under way",
        Instead::Write(CLIENTS),
    ),
    (
        "lockstep",
        "a client goes on as soon as it is answered, or by a schedule",
        Instead::Either([CLIENTS, RATE]),
    ),
    SERVER,
];

const NO_SERVER: &str = "there is no server, only a process that waits for its own connections";
const ONE_PROCESS: &str = "one process is client and server, one connection after the other";
const NO_MESSAGES: &str = "its connections sit idle, but for one byte on one of them at a time";
const COUNTED_OFF: &str = "it ends when all connections have been accepted";

const FOREIGN_TO_ACCEPT: &[Foreign] = &[
    CLOSING,
    ("connect-concurrency", ONE_PROCESS, LEAVE_OUT),
    ("connect-rate", ONE_PROCESS, LEAVE_OUT),
    ("line", NO_MESSAGES, INSTEAD_FANOUT),
    ("greeting", NO_MESSAGES, INSTEAD_FANOUT),
    ("hold", COUNTED_OFF, INSTEAD_HOLD),
    ("pings", NO_MESSAGES, INSTEAD_HOLD),
    ("clients", ONE_PROCESS, Instead::Write(CONNECTIONS)),
    ("requests", NO_MESSAGES, Instead::Write(CONNECTIONS)),
    ("requests-total", NO_MESSAGES, Instead::Write(CONNECTIONS)),
    ("messages", NO_MESSAGES, Instead::Write(CONNECTIONS)),
    ("duration", COUNTED_OFF, Instead::Write(CONNECTIONS)),
    ("confidence", COUNTED_OFF, Instead::Write(REPEATS)),
    ("max-duration", COUNTED_OFF, Instead::Write(CONNECTIONS)),
    (
        "warmup",
        "the first accept is the one with no idle connection",
        LEAVE_OUT,
    ),
    ("size", NO_MESSAGES, INSTEAD_ECHO),
    ("send", NO_MESSAGES, INSTEAD_ECHO),
    ("expect", NO_MESSAGES, INSTEAD_ECHO),
    ("verify", NO_MESSAGES, INSTEAD_ECHO),
    ("outstanding", NO_MESSAGES, INSTEAD_ECHO),
    ("lockstep", NO_MESSAGES, INSTEAD_ECHO),
    ("rate", NO_MESSAGES, INSTEAD_ECHO),
    ("arrivals", NO_MESSAGES, INSTEAD_ECHO),
    ("spin", NO_MESSAGES, INSTEAD_ECHO),
    ("nodelay", NO_MESSAGES, INSTEAD_ECHO),
    ("workload", NO_SERVER, INSTEAD_BACKLOG),
    ("service-time", NO_SERVER, INSTEAD_BACKLOG),
    ("delay-inline", NO_SERVER, INSTEAD_BACKLOG),
    ("observe", NO_SERVER, INSTEAD_BACKLOG),
    ("server", NO_SERVER, LEAVE_OUT),
    ("backlog", NO_SERVER, LEAVE_OUT),
    ("workers", NO_SERVER, LEAVE_OUT),
    ("accept-threads", NO_SERVER, LEAVE_OUT),
    ("family", NO_SERVER, LEAVE_OUT),
    ("ready-timeout", NO_SERVER, LEAVE_OUT),
    (
        "backend",
        "each target is a kernel interface of its own",
        Instead::Words("name the targets: epoll-edge, io-uring"),
    ),
    ("shards", ONE_PROCESS, LEAVE_OUT),
    ("source", ONE_PROCESS, LEAVE_OUT),
    ("addresses", ONE_PROCESS, LEAVE_OUT),
    (
        "connect-timeout",
        "it waits for what is already there",
        LEAVE_OUT,
    ),
    ("timeout", "it waits for what is already there", LEAVE_OUT),
];

const KEPT: &str = "its connections are opened once and kept";
const ONE_LINE: &str = "one line is put, and comes out of every connection";
const FIRST: &str = "what it measures is the first time";
const NO_DELAY: &str = "its servers answer at once";

const FOREIGN_TO_FANOUT: &[Foreign] = &[
    CLOSING,
    PUBLISHED,
    ("clients", KEPT, Instead::Write(CONNECTIONS)),
    (
        "requests",
        ONE_LINE,
        Instead::Both([RATE_OF_LINES, DURATION]),
    ),
    (
        "requests-total",
        ONE_LINE,
        Instead::Both([RATE_OF_LINES, DURATION]),
    ),
    (
        "messages",
        ONE_LINE,
        Instead::Both([RATE_OF_LINES, DURATION]),
    ),
    ("confidence", ONE_LINE, Instead::Write(REPEATS)),
    (
        "max-duration",
        ONE_LINE,
        Instead::Both([RATE_OF_LINES, DURATION]),
    ),
    ("warmup", FIRST, LEAVE_OUT),
    ("size", ONE_LINE, Instead::Write(LINE)),
    ("send", ONE_LINE, Instead::Write(LINE)),
    ("expect", ONE_LINE, Instead::Both([LINE, GREETING])),
    (
        "verify",
        "a line that comes out wrong was not delivered",
        LEAVE_OUT,
    ),
    ("outstanding", ONE_LINE, Instead::Write(RATE_OF_LINES)),
    ("lockstep", ONE_LINE, Instead::Write(RATE_OF_LINES)),
    ("spin", ONE_LINE, LEAVE_OUT),
    ("workload", "its servers broadcast", LEAVE_OUT),
    ("service-time", NO_DELAY, INSTEAD_BACKLOG),
    ("delay-inline", NO_DELAY, INSTEAD_BACKLOG),
    ("observe", CONNECTS_TIMED, LEAVE_OUT),
    (
        "hold",
        "it goes on as soon as all are connected",
        INSTEAD_HOLD,
    ),
    ("pings", ONE_LINE, INSTEAD_HOLD),
];

const CONNECTS_TIMED: &str = "the connects are timed as they are, and nobody else looks on";
const HELD: &str = "its connections are held, and each is pinged once at most";

const FOREIGN_TO_HOLD: &[Foreign] = &[
    CLOSING,
    PUBLISHED,
    ("clients", KEPT, Instead::Write(CONNECTIONS_OF_HOLD)),
    ("requests", HELD, Instead::Write(PINGS)),
    ("requests-total", HELD, Instead::Write(PINGS)),
    ("messages", HELD, Instead::Write(PINGS)),
    ("duration", HELD, Instead::Write(HOLD)),
    ("confidence", HELD, Instead::Write(REPEATS)),
    ("max-duration", HELD, Instead::Write(HOLD)),
    ("warmup", FIRST, LEAVE_OUT),
    ("outstanding", HELD, INSTEAD_ECHO),
    ("lockstep", HELD, INSTEAD_ECHO),
    ("rate", HELD, INSTEAD_ECHO),
    ("arrivals", HELD, INSTEAD_ECHO),
    ("spin", HELD, INSTEAD_ECHO),
    ("workload", "its servers send back what they get", LEAVE_OUT),
    ("service-time", NO_DELAY, INSTEAD_BACKLOG),
    ("delay-inline", NO_DELAY, INSTEAD_BACKLOG),
    ("observe", CONNECTS_TIMED, LEAVE_OUT),
    ("line", NO_LINE, INSTEAD_FANOUT),
    ("greeting", NO_LINE, INSTEAD_FANOUT),
];

/// Refuses what the experiment has no use for.
pub(super) fn check(draft: &PlanDraft, experiment: Experiment) -> Result<(), PlanError> {
    let mentioned = draft.mentioned();
    let mut found = foreign_to(experiment)
        .iter()
        .filter(|(key, ..)| mentioned.iter().any(|one| one == key));
    match found.next() {
        None => Ok(()),
        Some((key, ..)) => Err(refusal(key, experiment)),
    }
}

/// What to say of a key that only other experiments have; `None` where it is a key of none, or of this one.
#[must_use]
pub fn foreign_key(key: &str, experiment: Experiment) -> Option<PlanError> {
    let foreign = foreign_to(experiment);
    let is_there = foreign.iter().any(|(one, ..)| *one == key);
    is_there.then(|| refusal(key, experiment))
}

fn foreign_to(experiment: Experiment) -> &'static [Foreign] {
    match experiment {
        Experiment::Echo => FOREIGN_TO_ECHO,
        Experiment::Backlog => FOREIGN_TO_BACKLOG,
        Experiment::Accept => FOREIGN_TO_ACCEPT,
        Experiment::Fanout => FOREIGN_TO_FANOUT,
        Experiment::Hold => FOREIGN_TO_HOLD,
        Experiment::Churn => FOREIGN_TO_CHURN,
    }
}

/// That the experiment has no such key.
pub(super) fn refusal(key: &str, experiment: Experiment) -> PlanError {
    let mut all = foreign_to(experiment).iter().copied();
    let (key, why, instead) = all
        .find(|(one, ..)| *one == key)
        .expect("it stands in the experiment's list");
    PlanError::OtherExperiment {
        key,
        experiment: Defaults::of(experiment).name,
        why,
        instead: instead.to_string(),
    }
}
