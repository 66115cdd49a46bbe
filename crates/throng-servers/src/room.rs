//! A room of tasks: what goes to everyone is put into each member's outbox, and each member's own task sends it.
//!
//! *Method.* An outbox is bytes under a lock, and the waker of the one task that it belongs to, so it is of no runtime. It is
//! bounded: whose outbox holds more than [`UNSENT_BYTES_MAX`] is given up, which its task learns even while it waits for
//! room. What that task has taken out already, to send it, is as much again at most.
//!
//! *Left out on purpose.* Waiting for a slow reader: nobody does, neither who speaks nor who listens.

use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use slab::Slab;

use crate::workload::UNSENT_BYTES_MAX;

/// All members' outboxes.
#[derive(Debug, Default)]
pub(crate) struct Room {
    outboxes: Mutex<Slab<Arc<Outbox>>>,
}

/// A connection's place in the room. Dropped, it is no longer written to.
#[derive(Debug)]
pub(crate) struct Member {
    room: Arc<Room>,
    outbox: Arc<Outbox>,
    key: usize,
}

#[derive(Debug, Default)]
struct Outbox {
    state: Mutex<Unsent>,
}

#[derive(Debug, Default)]
struct Unsent {
    bytes: Vec<u8>,
    is_given_up: bool,
    has_left: bool,
    /// Of the task that waits for bytes, or only for being given up.
    waker: Option<Waker>,
    waits_for_bytes: bool,
}

impl Room {
    /// A member that is to be sent this first, and then what anybody says from now on.
    pub(crate) fn join(self: &Arc<Self>, greeting: Vec<u8>) -> Member {
        let outbox = Arc::new(Outbox::default());
        outbox.unsent().bytes = greeting;
        Member {
            room: Arc::clone(self),
            key: self.outboxes().insert(Arc::clone(&outbox)),
            outbox,
        }
    }

    fn outboxes(&self) -> MutexGuard<'_, Slab<Arc<Outbox>>> {
        // Every change under the lock is complete in itself.
        self.outboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// Says it to everyone, this one included: whole, and after what this one has said before.
    pub(crate) fn say(&self, said: &[u8]) {
        if !said.is_empty() {
            let outboxes = self.room.outboxes();
            outboxes.iter().for_each(|(_, outbox)| outbox.add(said));
        }
    }

    /// Is said nothing more. What has been said until now can still be sent.
    pub(crate) fn leave(&self) {
        let mut unsent = self.outbox.unsent();
        unsent.has_left = true;
        let waker = unsent.waker.take();
        drop(unsent);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits for something to send; `None` where it is given up, or has left and all is taken.
    pub(crate) async fn next(&self) -> Option<Vec<u8>> {
        poll_fn(|context| {
            let mut unsent = self.outbox.unsent();
            if unsent.is_given_up {
                return Poll::Ready(None);
            }
            if !unsent.bytes.is_empty() {
                return Poll::Ready(Some(mem::take(&mut unsent.bytes)));
            }
            if unsent.has_left {
                return Poll::Ready(None);
            }
            unsent.wait(context.waker(), true);
            Poll::Pending
        })
        .await
    }

    /// Waits until it is given up.
    pub(crate) async fn given_up(&self) {
        poll_fn(|context| {
            let mut unsent = self.outbox.unsent();
            if unsent.is_given_up {
                return Poll::Ready(());
            }
            unsent.wait(context.waker(), false);
            Poll::Pending
        })
        .await;
    }

    /// What there is to send now.
    pub(crate) fn take(&self) -> Vec<u8> {
        mem::take(&mut self.outbox.unsent().bytes)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.room.outboxes().remove(self.key);
    }
}

impl Outbox {
    fn add(&self, said: &[u8]) {
        let mut unsent = self.unsent();
        if unsent.is_given_up || unsent.has_left {
            return;
        }
        unsent.bytes.extend_from_slice(said);
        if unsent.bytes.len() > UNSENT_BYTES_MAX {
            unsent.is_given_up = true;
            unsent.bytes = Vec::new();
        }
        let wakes = unsent.waits_for_bytes || unsent.is_given_up;
        let waker = unsent.waker.take_if(|_| wakes);
        drop(unsent);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn unsent(&self) -> MutexGuard<'_, Unsent> {
        // Every change under the lock is complete in itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unsent {
    fn wait(&mut self, waker: &Waker, for_bytes: bool) {
        self.waker = Some(waker.clone());
        self.waits_for_bytes = for_bytes;
    }
}

#[cfg(test)]
mod tests {
    use smol::future::{block_on, or};

    use super::*;

    #[test]
    fn everybody_hears_what_is_said_while_being_a_member() {
        let room = Arc::new(Room::default());
        let one = room.join(b"hello\n".to_vec());
        one.say(b"a\n");
        let two = room.join(b"hello\n".to_vec());
        two.say(b"b\n");
        drop(two.take());
        one.say(b"c\n");
        assert_eq!(block_on(one.next()).expect("unsent"), b"hello\na\nb\nc\n");
        drop(one);
        two.say(b"d\n");
        assert_eq!(block_on(two.next()).expect("unsent"), b"c\nd\n");
        assert_eq!(room.outboxes().len(), 1);
    }

    #[test]
    fn who_leaves_takes_what_was_said_before_and_no_more() {
        let room = Arc::new(Room::default());
        let (leaver, other) = (room.join(Vec::new()), room.join(Vec::new()));
        leaver.say(b"last words\n");
        leaver.leave();
        other.say(b"among us\n");
        assert_eq!(block_on(leaver.next()).expect("unsent"), b"last words\n");
        assert_eq!(block_on(leaver.next()), None);
        // Also one that waits already.
        let leaving = async {
            smol::future::yield_now().await;
            other.leave();
        };
        drop(other.take());
        assert_eq!(block_on(smol::future::zip(other.next(), leaving)).0, None);
    }

    #[test]
    fn who_takes_nothing_is_given_up_and_told_so() {
        let room = Arc::new(Room::default());
        let (slow, quick) = (room.join(Vec::new()), room.join(Vec::new()));
        let saying = async {
            for _ in 0..=UNSENT_BYTES_MAX / 1024 {
                quick.say(&[b'x'; 1024]);
                assert!(!quick.take().is_empty());
            }
            smol::future::pending::<()>().await;
        };
        block_on(or(slow.given_up(), saying));
        assert_eq!(block_on(slow.next()), None);
        assert_eq!(slow.outbox.unsent().bytes.capacity(), 0);
        quick.say(b"x\n");
        assert_eq!(quick.take(), b"x\n");
    }
}
