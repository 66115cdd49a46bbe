//! Termination, the same for every model: every connection's input is ended from our side, so that its ordinary
//! end-of-input path runs (what has come is answered, then it is closed), and nobody is waited for longer than
//! [`LENGTH_NS`].

use std::os::fd::AsFd;

use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};
use throng_sys::socket;

/// How long connections have to take what they are still owed. The contract allows two seconds from the signal to the
/// exit; the rest is for closing many descriptors.
const LENGTH_NS: u64 = 1_500 * MILLISECOND_NS;

/// A drain that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drain {
    until_ns: u64,
}

impl Drain {
    /// Ends the input of the connections that are open.
    pub(crate) fn begin(connections: impl IntoIterator<Item = impl AsFd>) -> Self {
        let drain = Self::begin_without();
        connections.into_iter().for_each(end_input);
        drain
    }

    /// Where each connection's own task ends its input.
    pub(crate) fn begin_without() -> Self {
        Self {
            until_ns: monotonic_ns() + LENGTH_NS,
        }
    }

    /// What is left of it; 0 when it is time to leave.
    pub(crate) fn remaining_ns(self) -> u64 {
        self.until_ns.saturating_sub(monotonic_ns())
    }
}

/// Lets a connection read what has come, and then the end of input.
pub(crate) fn end_input(connection: impl AsFd) {
    // It fails on a connection that is already reset, and the model is about to read that.
    let _ = socket::end_input(connection);
}
