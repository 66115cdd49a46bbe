//! A bounded queue of messages that one writer takes out: what `queues` and `broadcaster` have for each connection, and what
//! a connection has for itself where what it is answered goes to nobody else.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use super::member::{AHEAD_BYTES, Member, Message, shut_down, weight};

/// Whoever puts something in waits for nobody.
#[derive(Debug)]
pub(super) struct Outbox {
    /// To shut it down. Whoever holds an outbox a little longer does not keep the connection open.
    connection: Weak<OwnedFd>,
    /// What it holds at most; whoever puts in more gives the connection up.
    weight_max: usize,
    queue: Mutex<Queue>,
    /// The writer waits where there is nothing, its reader where there is too much: never both.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Message>,
    weight: usize,
    /// Nothing is put in any more; what is there is taken out.
    is_ended: bool,
    is_given_up: bool,
}

impl Outbox {
    pub(super) fn new(
        connection: &Arc<OwnedFd>,
        weight_max: usize,
        greeting: Option<Message>,
    ) -> Self {
        let outbox = Self {
            connection: Arc::downgrade(connection),
            weight_max,
            queue: Mutex::default(),
            changed: Condvar::new(),
        };
        greeting.iter().for_each(|greeting| outbox.put(greeting));
        outbox
    }

    pub(super) fn put(&self, message: &Message) {
        let mut queue = self.queue();
        if queue.is_ended || queue.is_given_up {
            return;
        }
        queue.weight += weight(message);
        if queue.weight > self.weight_max {
            self.give_up_as(queue);
            return;
        }
        queue.messages.push_back(Arc::clone(message));
        let was_empty = queue.messages.len() == 1;
        drop(queue);
        if was_empty {
            self.changed.notify_all();
        }
    }

    /// Waits for the next message; `None` where none comes any more.
    pub(super) fn take(&self) -> Option<Message> {
        let mut queue = self
            .wait_while(|queue| queue.messages.is_empty() && !queue.is_ended && !queue.is_given_up);
        let message = queue.messages.pop_front()?;
        let was_far_behind = queue.weight > AHEAD_BYTES;
        queue.weight -= weight(&message);
        let has_caught_up = was_far_behind && queue.weight <= AHEAD_BYTES;
        drop(queue);
        if has_caught_up {
            self.changed.notify_all();
        }
        Some(message)
    }

    /// Waits until the writer is not far behind.
    pub(super) fn wait_for_writer(&self) {
        drop(self.wait_while(|queue| queue.weight > AHEAD_BYTES && !queue.is_given_up));
    }

    pub(super) fn end(&self) {
        self.queue().is_ended = true;
        self.changed.notify_all();
    }

    pub(super) fn give_up(&self) {
        self.give_up_as(self.queue());
    }

    fn give_up_as(&self, mut queue: MutexGuard<'_, Queue>) {
        queue.is_given_up = true;
        queue.messages = VecDeque::new();
        queue.weight = 0;
        drop(queue);
        if let Some(connection) = self.connection.upgrade() {
            shut_down(&connection);
        }
        self.changed.notify_all();
    }

    fn wait_while(&self, condition: impl Fn(&Queue) -> bool) -> MutexGuard<'_, Queue> {
        self.changed
            .wait_while(self.queue(), |queue| condition(queue))
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Every change under the lock is complete in itself.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose own writer is the only one to hear it.
#[derive(Debug)]
pub(super) struct Alone {
    outbox: Outbox,
}

impl Alone {
    pub(super) fn new(connection: &Arc<OwnedFd>, greeting: Option<Message>) -> Self {
        Self {
            // Its reader waits, and then hands over one answer more.
            outbox: Outbox::new(connection, usize::MAX, greeting),
        }
    }
}

impl Member for Alone {
    fn say(&self, message: Message) {
        self.outbox.wait_for_writer();
        self.outbox.put(&message);
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
