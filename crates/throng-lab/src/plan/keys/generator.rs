//! The load generator: its threads, its addresses, its patience.

use super::{BOOL, Key, flag};

pub(super) const KEYS: &[Key] = &[
    flag("backend", "BACKEND,…", "Kernel interface of the generator")
        .words(&["auto", "epoll", "io-uring"])
        .usually("auto"),
    flag("shards", "N,…", "Threads of the generator")
        .by_rule("one for each of its CPUs, more if connections need more descriptors"),
    flag(
        "source",
        "IP,…",
        "Local addresses to connect from, all of them in every trial (not a sweep)",
    ),
    flag(
        "addresses",
        "ADDRESSES,…",
        "Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel",
    )
    .words(&["spread", "kernel"])
    .usually("spread"),
    flag(
        "nodelay",
        "BOOL,…",
        "Whether the generator sets TCP_NODELAY",
    )
    .words(BOOL)
    .usually("true"),
    flag("connect-timeout", "TIME,…", "Timeout of a connect").usually("10s"),
    flag("timeout", "TIME,…", "Timeout of a reply").usually("10s"),
];
