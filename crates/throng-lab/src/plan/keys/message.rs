//! What is said: the lines of a fan-out, and the messages of all others.

use throng_record::plan::Experiment::{Accept, Backlog, Churn, Echo, Fanout, Hold};

use super::foreign::Instead::{Both, LeaveOut, Take, Write};
use super::foreign::{NO_MESSAGES, ONE_LINE};
use super::{BLANK, Foreign, Key, Switch, Usual};

const IDLE: Foreign = (&[Accept], NO_MESSAGES, Take(Echo));

const OF_FANOUT: &[Foreign] = &[
    (
        &[Echo, Backlog, Churn, Hold],
        "no line is passed on to others",
        Take(Fanout),
    ),
    (&[Accept], NO_MESSAGES, Take(Fanout)),
];
const HELLO: &str = "line = \"hello\"";

pub(super) const LINE: &[Key] = &[
    Key {
        name: "line",
        value_name: "TEXT",
        takes_hyphen: true,
        help: "Line that one client sends and all receive, without its newline; \\t and other escapes work",
        usual: Usual::Value("hello"),
        foreign: OF_FANOUT,
        ..BLANK
    },
    Key {
        name: "greeting",
        value_name: "TEXT",
        takes_hyphen: true,
        help: "Line that the server greets each connection with",
        switches: &[Switch {
            flag: "no-greeting",
            value: "",
            help: "The server sends no greeting",
        }],
        // As published.
        usual: Usual::Value("connected"),
        foreign: OF_FANOUT,
        ..BLANK
    },
];

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "size",
        value_name: "BYTES,…",
        help: "Bytes of a message, 1 to 1048576",
        // Those of the published echo measurements.
        usual: Usual::Value("6"),
        foreign: &[IDLE, (&[Fanout], ONE_LINE, Write(HELLO))],
        ..BLANK
    },
    Key {
        name: "send",
        value_name: "TEXT",
        help: "Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes",
        foreign: &[IDLE, (&[Fanout], ONE_LINE, Write(HELLO))],
        ..BLANK
    },
    Key {
        name: "expect",
        value_name: "REPLY",
        takes_hyphen: true,
        help: "Where the reply to --send ends: a text, 'N bytes', 'until DELIMITER' or, in backlog and churn, 'end'; same escapes",
        foreign: &[
            IDLE,
            (
                &[Fanout],
                ONE_LINE,
                Both([HELLO, "greeting = \"connected\""]),
            ),
        ],
        ..BLANK
    },
    Key {
        name: "verify",
        help: "Whether the returned bytes are compared with the expected ones",
        switches: &[Switch {
            flag: "no-verify",
            value: "false",
            help: "Do not compare the returned bytes with the expected ones",
        }],
        usual: Usual::Value("true"),
        foreign: &[
            IDLE,
            (
                &[Fanout],
                "a line that comes out wrong was not delivered",
                LeaveOut,
            ),
        ],
        ..BLANK
    },
];
