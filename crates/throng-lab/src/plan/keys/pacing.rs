//! By which rule messages follow one another.

use throng_record::plan::Experiment::{Accept, Backlog, Churn, Echo, Fanout, Hold};

use super::foreign::Instead::{Both, Either, LeaveOut, Take, Write};
use super::foreign::{CLIENTS, HELD, NO_MESSAGES, ONE_LINE, RATE, RATE_OF_LINES, SERVICE_TIME};
use super::{Key, flag, key, switch};

const PACED: &str = "each client asks again as soon as it is answered, on a connection of its own";

pub(super) const KEYS: &[Key] = &[
    flag("outstanding", "N,…", "Unanswered messages on each connection: exactly so many in a closed loop, at most in an open loop")
        .usually("1")
        .foreign_to(&[
            (&[Backlog], PACED, Write(CLIENTS)),
            (&[Churn], "a client has one request under way", Write(CLIENTS)),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Fanout], ONE_LINE, Write(RATE_OF_LINES)),
            (&[Hold], HELD, Take(Echo)),
        ]),
    flag("lockstep", "GROUP,…", "Lockstep: groups of this many connections send one message each and wait for all replies")
        .foreign_to(&[
            (&[Backlog], PACED, Write(CLIENTS)),
            (&[Churn], "a client goes on as soon as it is answered, or by a schedule", Either([CLIENTS, RATE])),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Fanout], ONE_LINE, Write(RATE_OF_LINES)),
            (&[Hold], HELD, Take(Echo)),
        ]),
    flag("rate", "PER-SECOND,…", "Open loop: messages per second over all connections, without waiting for replies")
        .short('r')
        .help_in(&[(Fanout, "After the single line, send lines at this rate")])
        .foreign_to(&[
            (&[Backlog], PACED, Both([CLIENTS, SERVICE_TIME])),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Hold], HELD, Take(Echo)),
        ]),
    flag("arrivals", "GAPS,…", "Gaps between messages of an open loop")
        .words(&["constant", "exponential"])
        .help_in(&[(Fanout, "Gaps between lines at --rate")])
        .usually("constant")
        .foreign_to(&[
            (&[Backlog], PACED, LeaveOut),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Hold], HELD, Take(Echo)),
        ]),
    key("spin", "Whether an open loop spins for the last microseconds before a message is due")
        .switches(&[switch("no-spin", "false", "Sleep until a message is due instead of spinning for the last microseconds: frees a core, sends up to 75 µs late")])
        .usually("true")
        .foreign_to(&[
            (&[Backlog], PACED, LeaveOut),
            (&[Accept], NO_MESSAGES, Take(Echo)),
            (&[Fanout], ONE_LINE, LeaveOut),
            (&[Hold], HELD, Take(Echo)),
        ]),
];
