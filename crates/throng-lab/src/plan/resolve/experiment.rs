//! What differs from one experiment to the other before anything is measured: defaults, and keys that only one of them has.

use std::time::Duration;

use throng_record::plan::Experiment;

use crate::plan::{PlanDraft, PlanError};

/// Where nothing else is asked for.
pub(super) struct Defaults {
    /// Of the plan, and the word for the experiment.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) repeats: u32,
    /// The accept queue asked of launched servers.
    pub(super) backlog: u32,
    /// The least that may be asked for.
    pub(super) backlog_least: u32,
    pub(super) connect_timeout: Duration,
    pub(super) reply_timeout: Duration,
}

const ECHO: Defaults = Defaults {
    name: "echo",
    title: "How many messages a second, at what latency?",
    // The fewest of which the median has a 95 % interval.
    repeats: 6,
    // More than the generator's connects in flight, below every `somaxconn`.
    backlog: 1024,
    backlog_least: 1,
    connect_timeout: Duration::from_secs(10),
    reply_timeout: Duration::from_secs(10),
};

const BACKLOG: Defaults = Defaults {
    name: "backlog",
    title: "How long do all clients' requests take, against the least possible?",
    // What retransmission timers do with the same load differs by seconds, which two runs may hide and a range of three shows;
    // six of the cells that take minutes are too long to wait for unasked.
    repeats: 3,
    // As published.
    backlog: 5,
    // A legal queue, which holds one connection.
    backlog_least: 0,
    // The kernel gives a SYN up after 127 s, or about 131 s with four linear timeouts: its own error is to be seen.
    connect_timeout: Duration::from_secs(140),
    reply_timeout: Duration::from_secs(120),
};

const ACCEPT: Defaults = Defaults {
    name: "accept",
    title: "What does one accept, and one message, cost while connections sit idle?",
    // No server is launched, and nothing is awaited but the multiplexer: the rest says nothing here.
    ..ECHO
};

const CHURN: Defaults = Defaults {
    name: "churn",
    title: "How many cycles of connect, request, reply and close a second?",
    ..ECHO
};

impl Defaults {
    pub(super) fn of(experiment: Experiment) -> &'static Self {
        match experiment {
            Experiment::Echo => &ECHO,
            Experiment::Backlog => &BACKLOG,
            Experiment::Accept => &ACCEPT,
            Experiment::Churn => &CHURN,
        }
    }
}

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

const FOREIGN_TO_ECHO: [Foreign; 9] = [
    PUBLISHED,
    (
        "closing",
        "its connections are kept to the end",
        "leave it out, or take the churn experiment (throng churn)",
    ),
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

const FOREIGN_TO_BACKLOG: [Foreign; 14] = [
    PUBLISHED,
    (
        "closing",
        "its servers close first, and what it measures is how connections begin",
        "leave it out, or take the churn experiment (throng churn)",
    ),
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
const FOREIGN_TO_CHURN: [Foreign; 11] = [
    PUBLISHED,
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

const FOREIGN_TO_ACCEPT: [Foreign; 35] = [
    (
        "closing",
        "its connections are kept to the end",
        "leave it out, or take the churn experiment (throng churn)",
    ),
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
        Experiment::Echo => &FOREIGN_TO_ECHO,
        Experiment::Backlog => &FOREIGN_TO_BACKLOG,
        Experiment::Accept => &FOREIGN_TO_ACCEPT,
        Experiment::Churn => &FOREIGN_TO_CHURN,
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
            Experiment::Churn,
        ]
        .map(foreign_to);
        for (key, ..) in lists.into_iter().flatten() {
            let error = PlanDraft::parse(&format!("{key} = {{}}"), "test").expect_err(key);
            assert!(!error.problem.contains("there is no key"), "{error}");
        }
    }
}
