//! The load generator: its threads, its addresses, its patience.

use throng_record::plan::Experiment::{Accept, Backlog, Echo, Fanout};

use super::foreign::Instead::{LeaveOut, Take, Words};
use super::foreign::{NO_MESSAGES, ONE_PROCESS};
use super::{BLANK, BOOL, Foreign, Key, Usual};

const ONE_PROCESS_ONLY: Foreign = (&[Accept], ONE_PROCESS, LeaveOut);
const NOTHING_AWAITED: Foreign = (&[Accept], "it waits for what is already there", LeaveOut);

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "backend",
        value_name: "BACKEND,…",
        words: &["auto", "epoll", "io-uring"],
        help: "Kernel interface of the generator",
        usual: Usual::Value("auto"),
        foreign: &[(
            &[Accept],
            "each target is a kernel interface of its own",
            Words("name the targets: epoll-edge, io-uring"),
        )],
        ..BLANK
    },
    Key {
        name: "shards",
        value_name: "N,…",
        help: "Threads of the generator",
        usual: Usual::Words("one for each of its CPUs, more if connections need more descriptors"),
        foreign: &[ONE_PROCESS_ONLY],
        ..BLANK
    },
    Key {
        name: "source",
        value_name: "IP,…",
        help: "Local addresses to connect from, all of them in every trial (not a sweep)",
        foreign: &[ONE_PROCESS_ONLY],
        ..BLANK
    },
    Key {
        name: "addresses",
        value_name: "ADDRESSES,…",
        words: &["spread", "kernel"],
        help: "Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel",
        usual: Usual::Value("spread"),
        foreign: &[ONE_PROCESS_ONLY],
        ..BLANK
    },
    Key {
        name: "nodelay",
        value_name: "BOOL,…",
        words: BOOL,
        help: "Whether the generator sets TCP_NODELAY",
        usual: Usual::Value("true"),
        foreign: &[(&[Accept], NO_MESSAGES, Take(Echo))],
        ..BLANK
    },
    Key {
        name: "connect-timeout",
        value_name: "TIME,…",
        help: "Timeout of a connect",
        usual: Usual::Value("10s"),
        // The kernel gives a SYN up after 127 s, or about 131 s with four linear timeouts: its own error is to be seen.
        usual_in: &[(&[Backlog], Usual::Value("140s"))],
        foreign: &[NOTHING_AWAITED],
        ..BLANK
    },
    Key {
        name: "timeout",
        value_name: "TIME,…",
        help: "Timeout of a reply",
        usual: Usual::Value("10s"),
        usual_in: &[
            (&[Backlog], Usual::Value("120s")),
            // A server that wakes a thread for each of many thousand connections was published with 43 s for the last greeting.
            (&[Fanout], Usual::Value("60s")),
        ],
        foreign: &[NOTHING_AWAITED],
        ..BLANK
    },
];
