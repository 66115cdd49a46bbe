//! By which rule messages follow one another.

use super::{Key, flag, key, switch};

pub(super) const KEYS: &[Key] = &[
    flag("outstanding", "N,…", "Unanswered messages on each connection: exactly so many in a closed loop, at most in an open loop")
        .usually("1"),
    flag("lockstep", "GROUP,…", "Lockstep: groups of this many connections send one message each and wait for all replies"),
    flag("rate", "PER-SECOND,…", "Open loop: messages per second over all connections, without waiting for replies")
        .short('r'),
    flag("arrivals", "GAPS,…", "Gaps between messages of an open loop")
        .words(&["constant", "exponential"])
        .usually("constant"),
    key("spin", "Whether an open loop spins for the last microseconds before a message is due")
        .switches(&[switch("no-spin", "false", "Sleep until a message is due instead of spinning for the last microseconds: frees a core, sends up to 75 µs late")])
        .usually("true"),
];
