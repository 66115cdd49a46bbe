//! Who hears whom: the hand-over that was asked for, and a member's place in it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread::Scope;

use throng_record::HandOver;

use super::broadcaster::{self, Order};
use super::list::List;
use super::member::Member;
use super::outbox::Alone;
use super::queues::Queues;
use crate::workload::{Audience, Session};

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
