//! What goes to everyone, where a server has several loops: gathered while a batch of events is handled, then sent to each
//! connection of this loop, and posted to the other loops, each of which does the same with its mail.
//!
//! A mailbox is bounded. Where another loop's is full, this one takes its own mail until there is room: it does not read on
//! meanwhile, so that whoever says more than all can pass on is held back.

use std::io;
use std::os::fd::OwnedFd;
use std::thread;

use crate::connections::Connections;
use crate::mailbox::Post;
use crate::workload::{Audience, Session};

/// One loop's way to the others.
#[derive(Debug)]
pub(crate) struct Passing {
    /// None where nothing goes to everyone.
    post: Option<Post>,
    mail: Vec<u8>,
}

impl Passing {
    /// Of a loop that is the only one.
    pub(crate) fn alone() -> Self {
        Self {
            post: None,
            mail: Vec::new(),
        }
    }

    /// One for each of so many loops.
    pub(crate) fn for_loops<S: Session>(loops: usize) -> io::Result<Vec<Self>> {
        let mut posts = match S::AUDIENCE {
            Audience::Everyone => Post::for_loops(loops)?,
            Audience::Sender => vec![],
        }
        .into_iter();
        let passing = |_| Self {
            post: posts.next(),
            ..Self::alone()
        };
        Ok((0..loops).map(passing).collect())
    }

    /// What is readable as long as there is mail, where there can be some.
    pub(crate) fn post(&self) -> Option<&Post> {
        self.post.as_ref()
    }

    /// Sends everyone what has gathered, where that goes to everyone.
    pub(crate) fn pass_on<S: Session>(
        &mut self,
        connections: &mut Connections<S>,
        ask_for_room: impl Fn(&OwnedFd, usize) -> io::Result<()> + Copy,
    ) {
        let Some(said) = connections.take_gathered() else {
            return;
        };
        connections.deliver(&said, ask_for_room);
        for other in self.post.as_ref().map(Post::others).into_iter().flatten() {
            while !self.post.as_ref().is_none_or(|post| post.put(other, &said)) {
                self.take_mail(connections, ask_for_room);
                thread::yield_now();
            }
        }
        connections.give_back(said);
    }

    /// Sends what other loops have posted.
    pub(crate) fn take_mail<S: Session>(
        &mut self,
        connections: &mut Connections<S>,
        ask_for_room: impl Fn(&OwnedFd, usize) -> io::Result<()>,
    ) {
        if let Some(post) = &self.post {
            post.take(&mut self.mail);
        }
        if !self.mail.is_empty() {
            connections.deliver(&self.mail, ask_for_room);
        }
        self.mail.clear();
    }
}
