//! The keys that an experiment has no use for: of each why, and what to write instead.
//!
//! One list for each experiment. A key of a plan file and the flag of that name are refused in the same words.

use throng_record::plan::Experiment;

use super::experiment::Defaults;
use crate::plan::{PlanDraft, PlanError};

/// A key, why the experiment has no use for it, and what to do instead.
type Foreign = (&'static str, &'static str, &'static str);

const PUBLISHED: Foreign = (
    "published",
    "it measures servers, which call poll as servers do",
    "leave it out, or take the accept experiment (throng accept)",
);

/// What is left behind by one trial is not to be in the way of the next.
const SERVER: Foreign = (
    "server",
    "each trial has a server and a network of its own, so that none counts what another left behind",
    "leave it out",
);

/// Where connections are kept, nobody asks how they end.
const CLOSING: Foreign = (
    "closing",
    "its connections are kept to the end",
    "leave it out, or take the churn experiment (throng churn)",
);

const CONNECTS: &str = "its connections are opened before anything is measured";
const INSTEAD_FANOUT: &str = "leave it out, or take the fan-out experiment (throng fanout)";
const INSTEAD_HOLD: &str = "leave it out, or take the hold experiment (throng hold)";
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
        "write connections",
    ),
    (
        "requests",
        "its connections send until the measurement ends",
        "write messages or duration",
    ),
    (
        "requests-total",
        "its connections send until the measurement ends",
        "write messages",
    ),
    (
        "workload",
        "its servers send back what they get",
        "leave it out, or take the backlog experiment (throng backlog)",
    ),
    (
        "service-time",
        "an echo is sent back at once",
        "leave it out, or take the backlog experiment (throng backlog)",
    ),
    (
        "observe",
        "its connections are opened before anything is measured",
        "leave it out, or take the backlog experiment (throng backlog)",
    ),
    (
        "delay-inline",
        "an echo is sent back at once, so there is no delay",
        "leave it out, or take the backlog experiment (throng backlog)",
    ),
];

const PACED: &str = "each client asks again as soon as it is answered, on a connection of its own";
const COUNTED: &str = "it ends when every client has made its requests";

const CLIENTS: &str =
    "each client has one connection at a time, and connects as soon as it is answered";

const FOREIGN_TO_BACKLOG: &[Foreign] = &[
    PUBLISHED,
    (
        "closing",
        "its servers close first, and what it measures is how connections begin",
        "leave it out, or take the churn experiment (throng churn)",
    ),
    ("connect-concurrency", CLIENTS, "write clients"),
    ("connect-rate", CLIENTS, "write clients and service-time"),
    ("line", NO_LINE, INSTEAD_FANOUT),
    ("greeting", NO_LINE, INSTEAD_FANOUT),
    ("hold", "none of its connections is kept", INSTEAD_HOLD),
    ("pings", "none of its connections is kept", INSTEAD_HOLD),
    (
        "connections",
        "each request has a connection of its own",
        "write clients",
    ),
    ("messages", COUNTED, "write requests or requests-total"),
    ("duration", COUNTED, "write requests or requests-total"),
    ("confidence", COUNTED, "write repeats"),
    ("max-duration", COUNTED, "write requests or requests-total"),
    (
        "warmup",
        "the first burst of connects is what it measures",
        "leave it out",
    ),
    ("outstanding", PACED, "write clients"),
    ("lockstep", PACED, "write clients"),
    ("rate", PACED, "write clients and service-time"),
    ("arrivals", PACED, "leave it out"),
    ("spin", PACED, "leave it out"),
    SERVER,
];

const ENDED: &str = "its clients send until the measurement ends";
const AT_ONCE: &str =
    "its requests are answered at once: what a connection costs is what it measures";
const FOREIGN_TO_CHURN: &[Foreign] = &[
    PUBLISHED,
    ("connect-concurrency", CLIENTS, "write clients"),
    ("connect-rate", CLIENTS, "write rate"),
    ("line", NO_LINE, INSTEAD_FANOUT),
    ("greeting", NO_LINE, INSTEAD_FANOUT),
    ("hold", "none of its connections is kept", INSTEAD_HOLD),
    ("pings", "none of its connections is kept", INSTEAD_HOLD),
    (
        "connections",
        "each request has a connection of its own",
        "write clients",
    ),
    ("requests", ENDED, "write messages or duration"),
    ("requests-total", ENDED, "write messages"),
    ("service-time", AT_ONCE, INSTEAD_BACKLOG),
    ("delay-inline", AT_ONCE, INSTEAD_BACKLOG),
    ("confidence", ENDED, "write duration and repeats"),
    ("max-duration", ENDED, "write duration"),
    (
        "outstanding",
        "a client has one request under way",
        "write clients",
    ),
    (
        "lockstep",
        "a client goes on as soon as it is answered, or by a schedule",
        "write clients or rate",
    ),
    SERVER,
];

const NO_SERVER: &str = "there is no server, only a process that waits for its own connections";
const ONE_PROCESS: &str = "one process is client and server, one connection after the other";
const NO_MESSAGES: &str = "its connections sit idle, but for one byte on one of them at a time";
const COUNTED_OFF: &str = "it ends when all connections have been accepted";
const LEAVE_OUT: &str = "leave it out";
const INSTEAD_ECHO: &str = "leave it out, or take the echo experiment (throng echo)";
const INSTEAD_BACKLOG: &str = "leave it out, or take the backlog experiment (throng backlog)";

const FOREIGN_TO_ACCEPT: &[Foreign] = &[
    CLOSING,
    ("connect-concurrency", ONE_PROCESS, LEAVE_OUT),
    ("connect-rate", ONE_PROCESS, LEAVE_OUT),
    ("line", NO_MESSAGES, INSTEAD_FANOUT),
    ("greeting", NO_MESSAGES, INSTEAD_FANOUT),
    ("hold", COUNTED_OFF, INSTEAD_HOLD),
    ("pings", NO_MESSAGES, INSTEAD_HOLD),
    ("clients", ONE_PROCESS, "write connections"),
    ("requests", NO_MESSAGES, "write connections"),
    ("requests-total", NO_MESSAGES, "write connections"),
    ("messages", NO_MESSAGES, "write connections"),
    ("duration", COUNTED_OFF, "write connections"),
    ("confidence", COUNTED_OFF, "write repeats"),
    ("max-duration", COUNTED_OFF, "write connections"),
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
        "name the targets: epoll-edge, io-uring",
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
    ("clients", KEPT, "write connections"),
    (
        "requests",
        ONE_LINE,
        "write rate and duration for more of them",
    ),
    (
        "requests-total",
        ONE_LINE,
        "write rate and duration for more of them",
    ),
    (
        "messages",
        ONE_LINE,
        "write rate and duration for more of them",
    ),
    ("confidence", ONE_LINE, "write repeats"),
    ("max-duration", ONE_LINE, "write duration, which needs rate"),
    ("warmup", FIRST, LEAVE_OUT),
    ("size", ONE_LINE, "write line"),
    ("send", ONE_LINE, "write line"),
    ("expect", ONE_LINE, "write line and greeting"),
    (
        "verify",
        "a line that comes out wrong was not delivered",
        LEAVE_OUT,
    ),
    ("outstanding", ONE_LINE, "write rate for more of them"),
    ("lockstep", ONE_LINE, "write rate for more of them"),
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
    ("clients", KEPT, "write connections"),
    ("requests", HELD, "write pings"),
    ("requests-total", HELD, "write pings"),
    ("messages", HELD, "write pings"),
    ("duration", HELD, "write hold"),
    ("confidence", HELD, "write repeats"),
    ("max-duration", HELD, "write hold"),
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
        instead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_foreign_key_is_a_key() {
        let lists = [
            Experiment::Echo,
            Experiment::Backlog,
            Experiment::Accept,
            Experiment::Fanout,
            Experiment::Hold,
            Experiment::Churn,
        ]
        .map(foreign_to);
        for (key, ..) in lists.into_iter().flatten() {
            let error = PlanDraft::parse(&format!("{key} = {{}}"), "test").expect_err(key);
            assert!(!error.problem.contains("there is no key"), "{error}");
        }
    }
}
