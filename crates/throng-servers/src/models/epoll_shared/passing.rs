//! What goes to everyone: gathered while a batch of events is handled, then sent to each connection of this loop, and posted
//! to the other loops, each of which does the same with its mail.
//!
//! A mailbox is bounded. Where another loop's is full, this one takes its own mail until there is room: it does not read on
//! meanwhile, so that whoever says more than all can pass on is held back.

use std::thread;

use throng_sys::epoll::Interest;

use super::Loop;
use crate::workload::{Audience, Session};

impl<S: Session> Loop<'_, S> {
    /// Sends everyone what has gathered, where that goes to everyone.
    pub(super) fn pass_on(&mut self) {
        if S::AUDIENCE == Audience::Sender || self.output.is_empty() {
            return;
        }
        let mut said = std::mem::take(&mut self.output);
        self.deliver(&said);
        if let Some(others) = self.post.as_ref().map(|post| post.others()) {
            for other in others {
                while !self.post.as_ref().is_none_or(|post| post.put(other, &said)) {
                    self.take_mail();
                    thread::yield_now();
                }
            }
        }
        said.clear();
        self.output = said;
    }

    /// Sends what other loops have posted.
    pub(super) fn take_mail(&mut self) {
        let mut mail = std::mem::take(&mut self.mail);
        if let Some(post) = &self.post {
            post.take(&mut mail);
        }
        self.deliver(&mail);
        mail.clear();
        self.mail = mail;
    }

    /// Nobody is closed here: events of this batch may be left of everybody.
    fn deliver(&mut self, said: &[u8]) {
        if said.is_empty() {
            return;
        }
        for (key, connection) in &mut self.connections {
            if connection.deliver(said, &mut self.bytes)
                && self
                    .epoll
                    .modify(&connection.socket, key as u64, Interest::OUT)
                    .is_err()
            {
                connection.give_up();
            }
        }
    }
}
