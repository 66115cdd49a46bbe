//! The plan itself: its name, its question, its targets. No flag sets them: commands and their arguments do.

use throng_record::plan::Experiment;

use super::instead::Instead;
use super::{Key, key};

pub(super) const KEYS: &[Key] = &[
    key(
        "name",
        "Part of the run's folder: letters, digits, -, _ and .",
    )
    .by_rule("the experiment's"),
    key("title", "What the plan shows, in one sentence").by_rule("the experiment's question"),
    key("experiment", "The question asked")
        .words(&Experiment::NAMES)
        .by_rule("echo"),
    key("targets", "A list of servers, or of multiplexers"),
    key(
        "phase",
        "A table for each phase, in their order: what is done (do = \"connect\", \"hold\", \"exchange\", \"ping\" or \"close\"), and its keys",
    )
    .of_some(
        "its phases are its own",
        Instead::Words("write experiment = \"phases\""),
    ),
    key(
        "quick",
        "A table of the same keys, laid over the plan by --quick",
    ),
];
