//! What the generator remembers of each connection: a few words, so that a million of them fit.

/// One connection of a shard.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Connection {
    /// Messages sent.
    pub(crate) sent: u32,
    /// Replies received in full.
    pub(crate) replies: u32,
    /// What the protocol remembers of the reply that is half read.
    pub(crate) remembered: u32,
    /// Its state.
    pub(crate) state: ConnectionState,
    /// Since when it has owed us progress: the connect's start, then the send to an idle connection or the last reply.
    pub(crate) waiting_since_ns: u64,
    /// When the first part of the reply that is half read came; 0 where none has.
    pub(crate) first_piece_at_ns: u64,
}

/// The life of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    /// Not begun.
    #[default]
    Idle,
    /// The connect is under way.
    Connecting,
    /// Established.
    Open,
    /// The server has ended it in order; the next message on it opens it again.
    Ended,
    /// That connect is under way, and messages wait for it.
    Reopening,
    /// Our output has ended, the peer's not yet.
    HalfClosed,
    /// Closed in order, or ended by an error that was counted.
    Closed,
}

impl Connection {
    /// Messages that are not yet answered.
    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.sent.wrapping_sub(self.replies)
    }

    /// Whether it is established.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.state == ConnectionState::Open
    }

    /// Whether messages can be sent on it, if need be after it has been opened again.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        use ConnectionState::{Ended, Open, Reopening};
        matches!(self.state, Open | Ended | Reopening)
    }

    /// Bytes of the current reply have come.
    pub(crate) fn is_mid_reply(&self) -> bool {
        self.remembered > 0
    }
}

/// When each unanswered message of each connection was due or sent, and whether it belongs to the measurement: a ring of
/// `outstanding` entries per connection, in one block.
#[derive(Debug)]
pub(crate) struct StartTimes {
    starts: Vec<u64>,
    per_connection: u32,
}

/// The clock's highest bit is free for 292 years.
const WARMUP: u64 = 1 << 63;

/// When a message started and what it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// Monotonic time.
    pub(crate) at_ns: u64,
    /// Whether it was sent during the warm-up.
    pub(crate) warmup: bool,
}

impl StartTimes {
    pub(crate) fn new(connections: usize, outstanding: u32) -> Self {
        Self {
            starts: vec![0; connections * outstanding as usize],
            per_connection: outstanding,
        }
    }

    #[inline]
    fn place(&self, slot: u32, n: u32) -> usize {
        // The ring is entered at n modulo its length; n wraps at 2^32, which a ring of any other length would notice
        // only if a message were outstanding across the wrap on one connection.
        slot as usize * self.per_connection as usize + (n % self.per_connection) as usize
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: u32, n: u32, start: Start) {
        let place = self.place(slot, n);
        self.starts[place] = start.at_ns | if start.warmup { WARMUP } else { 0 };
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32, n: u32) -> Start {
        let value = self.starts[self.place(slot, n)];
        Start {
            at_ns: value & !WARMUP,
            warmup: value & WARMUP != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unanswered_messages_keep_their_own_start() {
        let mut times = StartTimes::new(2, 3);
        for n in 7..10 {
            times.set(
                1,
                n,
                Start {
                    at_ns: u64::from(n) * 100,
                    warmup: n == 8,
                },
            );
        }
        assert_eq!(
            times.get(1, 7),
            Start {
                at_ns: 700,
                warmup: false
            }
        );
        assert_eq!(
            times.get(1, 8),
            Start {
                at_ns: 800,
                warmup: true
            }
        );
        assert_eq!(
            times.get(1, 9),
            Start {
                at_ns: 900,
                warmup: false
            }
        );
    }

    #[test]
    fn an_idle_connection_is_small() {
        assert!(size_of::<Connection>() <= 32);
    }
}
