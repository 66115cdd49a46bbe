//! The plan itself: its name, its question, its targets. No flag sets them: commands and their arguments do.

use super::{BLANK, Key, Usual};

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "name",
        help: "Part of the run's folder: letters, digits, -, _ and .",
        usual: Usual::Words("the experiment's"),
        ..BLANK
    },
    Key {
        name: "title",
        help: "What the plan shows, in one sentence",
        usual: Usual::Words("the experiment's question"),
        ..BLANK
    },
    Key {
        name: "experiment",
        help: "The question asked: echo, backlog, accept, fanout, hold or churn",
        usual: Usual::Words("echo"),
        ..BLANK
    },
    Key {
        name: "targets",
        help: "A list of servers, or of multiplexers; see Targets",
        usual_in: &[
            (&[super::Experiment::Accept], Usual::Words("all")),
            (&[super::Experiment::Hold], Usual::Words("epoll-shared")),
        ],
        ..BLANK
    },
    Key {
        name: "quick",
        help: "A table of the same keys, laid over the plan by --quick; see The short form",
        ..BLANK
    },
];
