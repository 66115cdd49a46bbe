//! By which rule messages follow one another.

use throng_record::plan::Experiment::{Accept, Backlog, Churn, Echo, Fanout, Hold};

use super::foreign::Instead::{Both, Either, LeaveOut, Take, Write};
use super::foreign::{CLIENTS, HELD, NO_MESSAGES, ONE_LINE, RATE, RATE_OF_LINES, SERVICE_TIME};
use super::{BLANK, Key, Switch, Usual};

const PACED: &str = "each client asks again as soon as it is answered, on a connection of its own";

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "outstanding",
        value_name: "N,…",
        help: "Unanswered messages on each connection: exactly so many in a closed loop, at most in an open loop",
        usual: Usual::Value("1"),
        foreign: &[
            (&[Backlog], PACED, Write(CLIENTS)),
            (
                &[Churn],
                "a client has one request under way",
                Write(CLIENTS),
            ),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Fanout], ONE_LINE, Write(RATE_OF_LINES)),
            (&[Hold], HELD, Take(Echo)),
        ],
        ..BLANK
    },
    Key {
        name: "lockstep",
        value_name: "GROUP,…",
        help: "Lockstep: groups of this many connections send one message each and wait for all replies",
        foreign: &[
            (&[Backlog], PACED, Write(CLIENTS)),
            (
                &[Churn],
                "a client goes on as soon as it is answered, or by a schedule",
                Either([CLIENTS, RATE]),
            ),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Fanout], ONE_LINE, Write(RATE_OF_LINES)),
            (&[Hold], HELD, Take(Echo)),
        ],
        ..BLANK
    },
    Key {
        name: "rate",
        short: Some('r'),
        value_name: "PER-SECOND,…",
        help: "Open loop: messages per second over all connections, without waiting for replies",
        help_in: &[(Fanout, "After the single line, send lines at this rate")],
        foreign: &[
            (&[Backlog], PACED, Both([CLIENTS, SERVICE_TIME])),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Hold], HELD, Take(Echo)),
        ],
        ..BLANK
    },
    Key {
        name: "arrivals",
        value_name: "GAPS,…",
        words: &["constant", "exponential"],
        help: "Gaps between messages of an open loop",
        help_in: &[(Fanout, "Gaps between lines at --rate")],
        usual: Usual::Value("constant"),
        foreign: &[
            (&[Backlog], PACED, LeaveOut),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Hold], HELD, Take(Echo)),
        ],
        ..BLANK
    },
    Key {
        name: "spin",
        help: "Whether an open loop spins for the last microseconds before a message is due",
        switches: &[Switch {
            flag: "no-spin",
            value: "false",
            help: "Sleep until a message is due instead of spinning for the last microseconds: frees a core, sends up to 75 µs late",
        }],
        usual: Usual::Value("true"),
        foreign: &[
            (&[Backlog], PACED, LeaveOut),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Fanout], ONE_LINE, LeaveOut),
            (&[Hold], HELD, Take(Echo)),
        ],
        ..BLANK
    },
];
