//! The hand-over by a queue for each connection: who speaks puts the message into every one of them.
//!
//! *Cost.* The speaker's reader does all the work of a delivery, but for the writes: as many locks and wakings as there are
//! connections, one after the other. Each writer is woken for its own messages only.
//!
//! *Order.* One speaker at a time, held apart by the registry's lock: everybody hears everything in the same order.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slab::Slab;

use super::member::{Member, Message};
use super::outbox::Outbox;
use crate::workload::UNSENT_BYTES_MAX;

/// All connections' queues.
#[derive(Debug, Default)]
pub(super) struct Queues {
    outboxes: Mutex<Slab<Arc<Outbox>>>,
}

#[derive(Debug)]
pub(super) struct Queued {
    queues: Arc<Queues>,
    outbox: Arc<Outbox>,
    key: usize,
}

impl Queues {
    pub(super) fn join(
        self: &Arc<Self>,
        connection: &Arc<OwnedFd>,
        greeting: Option<Message>,
    ) -> Queued {
        let outbox = Arc::new(Outbox::new(connection, UNSENT_BYTES_MAX, greeting));
        Queued {
            queues: Arc::clone(self),
            key: self.outboxes().insert(Arc::clone(&outbox)),
            outbox,
        }
    }

    fn outboxes(&self) -> MutexGuard<'_, Slab<Arc<Outbox>>> {
        // Every change under the lock is complete in itself.
        self.outboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member for Queued {
    fn say(&self, message: Message) {
        self.outbox.wait_for_writer();
        let outboxes = self.queues.outboxes();
        outboxes.iter().for_each(|(_, outbox)| outbox.put(&message));
    }

    fn end(&self) {
        self.outbox.end();
    }

    fn next(&self) -> Option<Message> {
        self.outbox.take()
    }

    fn give_up(&self) {
        self.outbox.give_up();
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.queues.outboxes().remove(self.key);
    }
}
