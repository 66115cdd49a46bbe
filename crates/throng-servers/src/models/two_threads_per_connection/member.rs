//! A connection's place in a hand-over: its reader hands messages over, its writer takes them out one by one.
//!
//! *Bounds, the same for all hand-overs.* What waits for a writer is [`UNSENT_BYTES_MAX`](crate::workload::UNSENT_BYTES_MAX) at most, each message counted with
//! what it takes beside its bytes; whose writer is behind by more is given up: nothing more is kept for it, and its
//! connection is shut down. A reader whose own writer is behind by [`AHEAD_BYTES`] waits for it before it hands more over,
//! which paces those who speak by how fast the writers are.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use throng_sys::socket;

/// What one reader has handed over, in one piece; all those whom it goes to share it.
pub(super) type Message = Arc<[u8]>;

/// How far a reader may be ahead of its own writer.
pub(super) const AHEAD_BYTES: usize = 64 * 1024;

/// What a message takes in memory beside its bytes: its place in a queue, its counts, the allocator's part.
pub(super) const BESIDE_BYTES: usize = 64;

/// What a message counts.
pub(super) fn weight(message: &Message) -> usize {
    message.len() + BESIDE_BYTES
}

/// Both sides of a connection's place. Dropped by both, it is no longer written to.
pub(super) trait Member: Send + Sync {
    /// The reader's: hands a message over, after what it has handed over before.
    fn say(&self, message: Message);
    /// The reader's: nothing more is to be written than what has been said until now.
    fn end(&self);
    /// The writer's: waits for the next message; `None` where none comes any more.
    fn next(&self) -> Option<Message>;
    /// Anybody's: nothing more can be written, or too much would have to be kept.
    fn give_up(&self);
}

/// Ends a connection whose writer may be blocked: its write fails, and its reader reads the end.
pub(super) fn shut_down(connection: &OwnedFd) {
    // They fail on a connection that is already reset, which wakes both of them too.
    let _ = socket::end_input(connection);
    let _ = socket::end_output(connection);
}
