//! The plan itself: its name, its question, its targets. No flag sets them: commands and their arguments do.

use super::{Key, Usual, key};

pub(super) const KEYS: &[Key] = &[
    key(
        "name",
        "Part of the run's folder: letters, digits, -, _ and .",
    )
    .by_rule("the experiment's"),
    key("title", "What the plan shows, in one sentence").by_rule("the experiment's question"),
    key(
        "experiment",
        "The question asked: echo, backlog, accept, fanout, hold or churn",
    )
    .by_rule("echo"),
    key("targets", "A list of servers, or of multiplexers").usually_in(&[
        (&[super::Experiment::Accept], Usual::Words("all")),
        (&[super::Experiment::Hold], Usual::Words("epoll-shared")),
    ]),
    key(
        "quick",
        "A table of the same keys, laid over the plan by --quick",
    ),
];
