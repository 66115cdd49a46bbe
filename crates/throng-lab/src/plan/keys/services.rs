//! Several services that are one target, and clients that have a task with each.

use throng_record::plan::Experiment::Services;

use super::instead::Instead::Take;
use super::{BOOL, Key, flag};

const ONE: &str = "its target is one server";

pub(super) const KEYS: &[Key] = &[
    flag("services", "N,…", "Services: processes of a server that are one target, each asked by every client")
        // This and the next two, and the requests of a task, as published.
        .usually("20")
        .of_some(ONE, Take(Services)),
    flag("tasks", "N,…", "Tasks of a client under way at once; it has one with each service")
        .usually("25")
        .of_some(ONE, Take(Services)),
    flag("count", "N,…", "How far a service counts for each request: its work")
        .usually("1000")
        .of_some("its requests ask for no work", Take(Services)),
    flag("reuse", "BOOL,…", "Whether a task keeps its connection; false: each request makes one, which is part of its time")
        .words(BOOL)
        .usually("true")
        .of_some(ONE, Take(Services)),
    flag("listeners", "N,…", "Listeners of each service")
        .usually("1")
        .of_some(ONE, Take(Services)),
    flag("choice", "CHOICE,…", "Which listener of a service is asked: one by chance for each request, or one for all requests of a client")
        .words(&["random", "bound"])
        .usually("random")
        .of_some(ONE, Take(Services)),
];
