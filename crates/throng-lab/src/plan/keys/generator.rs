//! The load generator: its threads, its addresses, its patience.

use throng_record::plan::Experiment::{Accept, Backlog, Echo, Fanout};

use super::foreign::Instead::{LeaveOut, Take, Words};
use super::foreign::{NO_MESSAGES, ONE_PROCESS};
use super::{BOOL, Foreign, Key, Usual, flag};

const ONE_PROCESS_ONLY: Foreign = (&[Accept], ONE_PROCESS, LeaveOut);
const NOTHING_AWAITED: Foreign = (&[Accept], "it waits for what is already there", LeaveOut);

pub(super) const KEYS: &[Key] = &[
    flag("backend", "BACKEND,…", "Kernel interface of the generator")
        .words(&["auto", "epoll", "io-uring"])
        .usually("auto")
        .foreign_to(&[(
            &[Accept],
            "each target is a kernel interface of its own",
            Words("name the targets: epoll-edge, io-uring"),
        )]),
    flag("shards", "N,…", "Threads of the generator")
        .by_rule("one for each of its CPUs, more if connections need more descriptors")
        .foreign_to(&[ONE_PROCESS_ONLY]),
    flag(
        "source",
        "IP,…",
        "Local addresses to connect from, all of them in every trial (not a sweep)",
    )
    .foreign_to(&[ONE_PROCESS_ONLY]),
    flag(
        "addresses",
        "ADDRESSES,…",
        "Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel",
    )
    .words(&["spread", "kernel"])
    .usually("spread")
    .foreign_to(&[ONE_PROCESS_ONLY]),
    flag(
        "nodelay",
        "BOOL,…",
        "Whether the generator sets TCP_NODELAY",
    )
    .words(BOOL)
    .usually("true")
    .foreign_to(&[(&[Accept], NO_MESSAGES, Take(Echo))]),
    flag("connect-timeout", "TIME,…", "Timeout of a connect")
        .usually("10s")
        // The kernel gives a SYN up after 127 s, or about 131 s with four linear timeouts: its own error is to be seen.
        .usually_in(&[(&[Backlog], Usual::Value("140s"))])
        .foreign_to(&[NOTHING_AWAITED]),
    flag("timeout", "TIME,…", "Timeout of a reply")
        .usually("10s")
        .usually_in(&[
            (&[Backlog], Usual::Value("120s")),
            // A server that wakes a thread for each of many thousand connections was published with 43 s for the last greeting.
            (&[Fanout], Usual::Value("60s")),
        ])
        .foreign_to(&[NOTHING_AWAITED]),
];
