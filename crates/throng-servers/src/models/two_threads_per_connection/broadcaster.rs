//! The hand-over by one thread that owns the registry: readers send it what is said, and it fills every connection's queue.
//!
//! *Cost.* One waking more on a message's way, and one thread that all deliveries go through; the registry needs no lock,
//! and a reader is back at its read as soon as it has sent its message off.
//!
//! *Bounds.* So many orders may wait for the broadcaster; then readers wait too. It never waits for them, nor for a writer.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, Scope};

use super::member::{Member, Message};
use super::outbox::Outbox;
use crate::threads;
use crate::workload::UNSENT_BYTES_MAX;

/// Orders that may wait, of 80 KiB at most (a read, and the line that it ends).
const ORDERS_MAX: usize = 64;

/// What the broadcaster is told.
#[derive(Debug)]
pub(super) enum Order {
    Join(Arc<Outbox>),
    Say(Message),
    /// After what has been said until then.
    End(Arc<Outbox>),
}

#[derive(Debug)]
pub(super) struct Subscriber {
    orders: SyncSender<Order>,
    outbox: Arc<Outbox>,
}

/// It ends when nobody can send it anything any more.
pub(super) fn start<'scope>(scope: &'scope Scope<'scope, '_>) -> io::Result<SyncSender<Order>> {
    let (sender, orders) = mpsc::sync_channel(ORDERS_MAX);
    thread::Builder::new()
        .name("broadcaster".to_owned())
        .stack_size(threads::STACK_BYTES)
        .spawn_scoped(scope, move || broadcast(&orders))?;
    Ok(sender)
}

/// What its thread does.
fn broadcast(orders: &Receiver<Order>) {
    // By the outbox's place in memory, which is its own for as long as it stands here.
    let mut outboxes = HashMap::new();
    for order in orders {
        match order {
            Order::Join(outbox) => {
                outboxes.insert(Arc::as_ptr(&outbox), outbox);
            }
            Order::Say(message) => outboxes.values().for_each(|outbox| outbox.put(&message)),
            Order::End(outbox) => {
                outbox.end();
                outboxes.remove(&Arc::as_ptr(&outbox));
            }
        }
    }
}

pub(super) fn join(
    orders: &SyncSender<Order>,
    connection: &Arc<OwnedFd>,
    greeting: Option<Message>,
) -> Subscriber {
    let outbox = Arc::new(Outbox::new(connection, UNSENT_BYTES_MAX, greeting));
    let subscriber = Subscriber {
        orders: orders.clone(),
        outbox,
    };
    // Before anybody who has seen the greeting can send a message after it.
    subscriber.order(Order::Join(Arc::clone(&subscriber.outbox)));
    subscriber
}

impl Subscriber {
    fn order(&self, order: Order) {
        // The broadcaster is there as long as a sender is.
        let _ = self.orders.send(order);
    }
}

impl Member for Subscriber {
    fn say(&self, message: Message) {
        self.outbox.wait_for_writer();
        self.order(Order::Say(message));
    }

    fn end(&self) {
        self.order(Order::End(Arc::clone(&self.outbox)));
    }

    fn next(&self) -> Option<Message> {
        self.outbox.take()
    }

    fn give_up(&self) {
        self.outbox.give_up();
    }
}

impl Drop for Subscriber {
    /// Also for one that has no writer and was never ended; for the others it says nothing new.
    fn drop(&mut self) {
        self.end();
    }
}
