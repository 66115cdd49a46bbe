//! TLS: whether it is spoken, and what is trusted.

use throng_record::plan::Experiment;

use super::instead::Instead;
use super::{BOOL, Key, flag, key, switch};

const PLAIN: &str = "its connections speak plainly";

pub(super) const KEYS: &[Key] = &[
    flag(
        "tls",
        "off|on,…",
        "Whether built-in servers that are launched speak TLS; of a running server its address says so (tls://, https://)",
    )
    .words(&["off", "on"])
    .usually("off")
    .of_some(PLAIN, Instead::Take(Experiment::Echo)),
    flag(
        "tls-resumption",
        "BOOL,…",
        "Whether connections resume a session that the server gave to an earlier one of the same thread",
    )
    .words(BOOL)
    // Each connection stands for a client that has not been here before.
    .usually("false")
    .of_some(PLAIN, Instead::Take(Experiment::Echo)),
    flag(
        "ca",
        "FILE",
        "Certificates in PEM that are trusted instead of the system's, of authorities or of the server itself",
    )
    .by_rule("the system's")
    .of_some(PLAIN, Instead::Take(Experiment::Echo)),
    flag(
        "sni",
        "NAME",
        "Name that a running server is asked for, and that its certificate is to hold",
    )
    .by_rule("the target's host")
    .of_some(PLAIN, Instead::Take(Experiment::Echo)),
    key("insecure", "Whether any certificate of a running server is taken")
        .switches(&[switch("insecure", "true", "Take any certificate, whoever has signed it")])
        .usually("false")
        .of_some(PLAIN, Instead::Take(Experiment::Echo)),
];
