//! What is said: the lines of a fan-out, and the messages of all others.

use throng_record::plan::Experiment::{Accept, Backlog, Churn, Echo, Fanout, Hold, Phases};

use super::foreign::Instead::{Both, LeaveOut, Take, Write};
use super::foreign::{NO_MESSAGES, ONE_LINE};
use super::{Foreign, Key, flag, key, switch};

const IDLE: Foreign = (&[Accept], NO_MESSAGES, Take(Echo));

const OF_FANOUT: &[Foreign] = &[
    (
        &[Echo, Backlog, Churn, Hold, Phases],
        "no line is passed on to others",
        Take(Fanout),
    ),
    (&[Accept], NO_MESSAGES, Take(Fanout)),
];
const HELLO: &str = "line = \"hello\"";

pub(super) const LINE: &[Key] = &[
    flag("line", "TEXT", "Line that one client sends and all receive, without its newline; \\t and other escapes work")
        .takes_hyphen()
        .usually("hello")
        .foreign_to(OF_FANOUT),
    flag("greeting", "TEXT", "Line that the server greets each connection with")
        .takes_hyphen()
        .switches(&[switch("no-greeting", "", "The server sends no greeting")])
        // As published.
        .usually("connected")
        .foreign_to(OF_FANOUT),
];

pub(super) const KEYS: &[Key] = &[
    flag("size", "BYTES,…", "Bytes of a message, 1 to 1048576")
        // Those of the published echo measurements.
        .usually("6")
        .foreign_to(&[IDLE, (&[Fanout], ONE_LINE, Write(HELLO))]),
    flag("send", "TEXT", "Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes")
        .foreign_to(&[IDLE, (&[Fanout], ONE_LINE, Write(HELLO))]),
    flag("expect", "REPLY", "Where the reply to --send ends: a text, 'N bytes', 'until DELIMITER' or, in backlog and churn, 'end'; same escapes")
        .takes_hyphen()
        .foreign_to(&[
            IDLE,
            (&[Fanout], ONE_LINE, Both([HELLO, "greeting = \"connected\""])),
        ]),
    key("verify", "Whether the returned bytes are compared with the expected ones")
        .switches(&[switch("no-verify", "false", "Do not compare the returned bytes with the expected ones")])
        .usually("true")
        .foreign_to(&[
            IDLE,
            (&[Fanout], "a line that comes out wrong was not delivered", LeaveOut),
        ]),
];
