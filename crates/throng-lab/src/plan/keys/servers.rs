//! Where a server and the generator run, and how servers are launched.

use throng_record::plan::Experiment::{Accept, Backlog, Churn};

use super::foreign::Instead::LeaveOut;
use super::foreign::NO_SERVER;
use super::{BLANK, Foreign, Key, Usual};

const NOT_LAUNCHED: Foreign = (&[Accept], NO_SERVER, LeaveOut);

pub(super) const SURROUNDINGS: &[Key] = &[
    Key {
        name: "cpus",
        value_name: "CPUS",
        help: "CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any",
        help_in: &[(Accept, "CPU of the one process, such as :1, or any")],
        usual: Usual::Words("half each"),
        usual_in: &[(&[Accept], Usual::Words("the last one"))],
        ..BLANK
    },
    Key {
        name: "net",
        value_name: "NET",
        words: &["private", "host"],
        help: "Network: a private one with its own settings and counters, or the host's",
        usual: Usual::Value("private"),
        ..BLANK
    },
    Key {
        name: "kernel",
        value_name: "NAME=VALUE,…",
        help: "Kernel setting of the private network, such as somaxconn=16,4096; the host's stays as it is. Values with a comma go into a plan file. Repeatable",
        ..BLANK
    },
];

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "backlog",
        value_name: "N,…",
        help: "Backlog of listen(2), the length of the accept queue",
        // More than the generator's connects in flight, below every `somaxconn`.
        usual: Usual::Value("1024"),
        // As published.
        usual_in: &[(&[Backlog], Usual::Value("5"))],
        foreign: &[NOT_LAUNCHED],
        ..BLANK
    },
    Key {
        name: "workers",
        value_name: "N,…",
        help: "Worker threads or processes of built-in models that have a choice",
        usual: Usual::Words("the model's own"),
        foreign: &[NOT_LAUNCHED],
        ..BLANK
    },
    Key {
        name: "accept-threads",
        value_name: "N,…",
        help: "Threads that only accept, of the built-in model that has a choice",
        usual: Usual::Words("the model's own"),
        foreign: &[NOT_LAUNCHED],
        ..BLANK
    },
    Key {
        name: "family",
        value_name: "FAMILY,…",
        words: &["ipv4", "ipv6", "unix"],
        help: "Address family that servers listen on; unix in echo, fanout and hold only",
        usual: Usual::Value("ipv4"),
        foreign: &[NOT_LAUNCHED],
        ..BLANK
    },
    Key {
        name: "ready-timeout",
        value_name: "TIME,…",
        help: "Timeout for a server to listen",
        usual: Usual::Value("10s"),
        foreign: &[NOT_LAUNCHED],
        ..BLANK
    },
    Key {
        name: "server",
        value_name: "LIFETIME",
        words: &["per-trial", "per-sweep"],
        help: "Lifetime of a server process: one trial, or all trials that differ only in what the generator does",
        usual: Usual::Value("per-trial"),
        foreign: &[
            NOT_LAUNCHED,
            // What is left behind by one trial is not to be in the way of the next.
            (
                &[Backlog, Churn],
                "each trial has a server and a network of its own, so that none counts what another left behind",
                LeaveOut,
            ),
        ],
        ..BLANK
    },
];
