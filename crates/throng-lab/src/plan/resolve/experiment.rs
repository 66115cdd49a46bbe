//! What differs from one experiment to the other before anything is measured: the defaults.

use std::time::Duration;

use throng_record::plan::Experiment;

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

const FANOUT: Defaults = Defaults {
    name: "fanout",
    title: "N connect, all are greeted, one speaks, all hear: how long is each phase?",
    // The published runs are single ones; a range of three shows what one of them is worth.
    repeats: 3,
    // A server that wakes a thread for each of many thousand connections was published with 43 s for the last greeting.
    reply_timeout: Duration::from_secs(60),
    ..ECHO
};

const HOLD: Defaults = Defaults {
    name: "hold",
    title: "How many connections can be held, at how many bytes each?",
    // Memory hardly varies, and a million connections take a minute.
    repeats: 1,
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
            Experiment::Fanout => &FANOUT,
            Experiment::Hold => &HOLD,
            Experiment::Churn => &CHURN,
        }
    }
}
