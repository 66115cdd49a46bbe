//! Where a server and the generator run, and how servers are launched.

use super::{Key, flag};

pub(super) const SURROUNDINGS: &[Key] = &[
    flag(
        "cpus",
        "CPUS",
        "CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any",
    )
    .by_rule("half each"),
    flag(
        "net",
        "NET",
        "Network: a private one with its own settings and counters, or the host's",
    )
    .words(&["private", "host"])
    .usually("private"),
    flag(
        "kernel",
        "NAME=VALUE,…",
        "Kernel setting of the private network, such as somaxconn=16,4096; the host's stays as it is. Values with a comma go into a plan file. Repeatable",
    ),
];

pub(super) const KEYS: &[Key] = &[
    flag("backlog", "N,…", "Backlog of listen(2), the length of the accept queue")
        // More than the generator's connects in flight, below every `somaxconn`.
        .usually("1024"),
    flag("workers", "N,…", "Worker threads or processes of built-in models that have a choice")
        .by_rule("the model's own"),
    flag("accept-threads", "N,…", "Threads that only accept, of the built-in model that has a choice")
        .by_rule("the model's own"),
    flag("family", "FAMILY,…", "Address family that servers listen on; unix where connections are kept")
        .words(&["ipv4", "ipv6", "unix"])
        .usually("ipv4"),
    flag("ready-timeout", "TIME,…", "Timeout for a server to listen")
        .usually("10s"),
    flag("server", "LIFETIME", "Lifetime of a server process: one trial, or all trials that differ only in what the generator does")
        .words(&["per-trial", "per-sweep"])
        .usually("per-trial"),
];
