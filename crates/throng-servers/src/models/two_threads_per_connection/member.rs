//! A connection's place in a hand-over: its reader hands messages over, its writer takes them out one by one.
//!
//! *Bounds, the same for all hand-overs.* What waits for a writer is [`UNSENT_BYTES_MAX`](crate::workload::UNSENT_BYTES_MAX) at most, each message counted with
//! what it takes beside its bytes; whose writer is behind by more is given up: nothing more is kept for it, and its
//! connection is shut down. A reader whose own writer is behind by [`AHEAD_BYTES`] waits for it before it hands more over,
//! which paces those who speak by how fast the writers are.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread::Scope;

use throng_sys::socket;

use super::broadcaster::{self, Order};
use super::list::List;
use super::outbox::Alone;
use super::queues::Queues;
use crate::workload::{Audience, Session};
use throng_record::HandOver;

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

/// Who hears whom, and how. A broadcaster ends when the last one of these is dropped, and the last member.
#[derive(Clone)]
pub(super) struct Room {
    audience: Audience,
    way: Way,
}

/// To everyone.
#[derive(Clone)]
enum Way {
    List(Arc<List>),
    Queues(Arc<Queues>),
    Broadcaster(SyncSender<Order>),
}

impl Room {
    /// Starts the broadcaster too, where there is one: it is there whatever the workload is.
    pub(super) fn open<'scope, S: Session>(
        scope: &'scope Scope<'scope, '_>,
        hand_over: HandOver,
    ) -> io::Result<Self> {
        let way = match hand_over {
            HandOver::Condvar => Way::List(Arc::default()),
            HandOver::Queues => Way::Queues(Arc::default()),
            HandOver::Broadcaster => Way::Broadcaster(broadcaster::start(scope)?),
        };
        Ok(Self {
            audience: S::AUDIENCE,
            way,
        })
    }

    /// A member whose writer is to send this first, and then what is said from now on.
    pub(super) fn join(&self, connection: &Arc<OwnedFd>, greeting: Vec<u8>) -> Arc<dyn Member> {
        let greeting = (!greeting.is_empty()).then(|| greeting.into());
        if self.audience == Audience::Sender {
            return Arc::new(Alone::new(connection, greeting));
        }
        match &self.way {
            Way::List(list) => Arc::new(list.join(connection, greeting)),
            Way::Queues(queues) => Arc::new(queues.join(connection, greeting)),
            Way::Broadcaster(orders) => Arc::new(broadcaster::join(orders, connection, greeting)),
        }
    }
}

/// Ends a connection whose writer may be blocked: its write fails, and its reader reads the end.
pub(super) fn shut_down(connection: &OwnedFd) {
    // They fail on a connection that is already reset, which wakes both of them too.
    let _ = socket::end_input(connection);
    let _ = socket::end_output(connection);
}
