//! What the parent does where what one connection says goes to all: it is the hub between its children.
//!
//! *Method.* Parent and child have a socket pair of packets. A child sends what its connection has said, whole lines, as one
//! packet; the parent gathers these while it goes through those who have something, and then sends them to every child, the
//! speaker included. It never waits for one: what a channel does not take is kept, and whoever has more than
//! [`UNSENT_BYTES_MAX`] kept is hung up on, and so leaves. A child whose input has ended ends its side of the channel; it is
//! sent what is still kept for it, and then the end.
//!
//! *Hanging up* is a shutdown before the close: before Linux 5.9 later children have copies of this end.

use std::io;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use slab::Slab;
use throng_sys::epoll::{Epoll, Event, Interest};
use throng_sys::socket;

use super::PACKET_BYTES;
use crate::workload::{GATHERED_BYTES, UNSENT_BYTES_MAX};

/// Children that are heard in a turn.
const BATCH: usize = 256;

/// The parent's ends of all channels.
pub(super) struct Hub {
    epoll: Epoll,
    members: Slab<Member>,
    /// Those that are to be hung up on: after the batch, in which an event of theirs may follow.
    over: Vec<usize>,
    /// What was said since the last delivery.
    said: Vec<u8>,
    packet: Vec<u8>,
    /// Made before a connection is accepted, which is left in its queue where there is no descriptor for it.
    spare: Option<Channel>,
}

/// The parent's end, and the child's.
pub(super) type Channel = (OwnedFd, OwnedFd);

/// A child.
struct Member {
    channel: OwnedFd,
    unsent: Vec<u8>,
    /// Says nothing more, and is told nothing more than what is kept.
    has_ended: bool,
    is_over: bool,
    watched: Interest,
}

impl Hub {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: Epoll::new(BATCH)?,
            members: Slab::new(),
            over: Vec::new(),
            said: Vec::new(),
            packet: vec![0; PACKET_BYTES],
            spare: None,
        })
    }

    /// Sees to it that there is a channel for the next child.
    pub(super) fn prepare(&mut self) -> io::Result<()> {
        if self.spare.is_none() {
            self.spare = Some(socket::packet_pair()?);
        }
        Ok(())
    }

    /// The channel for the next child, once prepared.
    pub(super) fn channel(&mut self) -> Option<Channel> {
        self.spare.take()
    }

    /// Makes a child hear what is said from now on, and be heard.
    pub(super) fn admit(&mut self, channel: OwnedFd) -> io::Result<()> {
        let entry = self.members.vacant_entry();
        let watched = Interest::IN;
        self.epoll.add(&channel, entry.key() as u64, watched)?;
        entry.insert(Member {
            channel,
            unsent: Vec::new(),
            has_ended: false,
            is_over: false,
            watched,
        });
        Ok(())
    }

    /// Hears whoever has something to say, once each, and passes that on. To be called when this is readable.
    pub(super) fn turn(&mut self) -> io::Result<()> {
        for position in 0..self.epoll.wait(Some(0))? {
            if let Some(event) = self.epoll.event(position) {
                self.attend(event);
            }
            if self.said.len() >= GATHERED_BYTES {
                self.deliver();
            }
        }
        self.deliver();
        for key in mem::take(&mut self.over) {
            let member = self.members.remove(key);
            // Closing it does the same where nobody has a copy.
            let _ = self.epoll.delete(&member.channel);
        }
        Ok(())
    }

    fn attend(&mut self, event: Event) {
        let key = event.token as usize;
        let member = &mut self.members[key];
        let is_broken = event.ready.intersects(Interest::HUP | Interest::ERR);
        if member.is_over {
            return;
        }
        if member.has_ended && is_broken {
            return self.hang_up(key);
        }
        if event.ready.contains(Interest::OUT) && !member.send() {
            return self.hang_up(key);
        }
        if !member.has_ended && (is_broken || event.ready.contains(Interest::IN)) {
            match socket::receive(&member.channel, &mut self.packet) {
                Ok(0) => {
                    // Its own last words are for it, too.
                    self.deliver();
                    self.members[key].has_ended = true;
                }
                Ok(received) => self.said.extend_from_slice(&self.packet[..received]),
                // It has left without hearing all, which is told once, and before what it has said.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return self.hang_up(key),
            }
        }
        self.watch(key);
    }

    /// Says to everyone what has been gathered.
    fn deliver(&mut self) {
        if self.said.is_empty() {
            return;
        }
        let mut said = mem::take(&mut self.said);
        let mut behind = Vec::new();
        for (key, member) in &mut self.members {
            if member.has_ended || member.is_over {
                continue;
            }
            if !member.tell(&said) {
                member.is_over = true;
                self.over.push(key);
            } else if !member.unsent.is_empty() {
                behind.push(key);
            }
        }
        behind.into_iter().for_each(|key| self.watch(key));
        said.clear();
        self.said = said;
    }

    /// Watches a child for what is to be done with it next.
    fn watch(&mut self, key: usize) {
        let member = &mut self.members[key];
        let mut wanted = Interest::empty();
        wanted.set(Interest::IN, !member.has_ended);
        wanted.set(Interest::OUT, !member.unsent.is_empty());
        if wanted.is_empty() {
            return self.hang_up(key);
        }
        if wanted != member.watched {
            member.watched = wanted;
            if self
                .epoll
                .modify(&member.channel, key as u64, wanted)
                .is_err()
            {
                self.hang_up(key);
            }
        }
    }

    fn hang_up(&mut self, key: usize) {
        let member = &mut self.members[key];
        if !mem::replace(&mut member.is_over, true) {
            self.over.push(key);
        }
    }
}

/// Readable when a child has something to say, or room for more.
impl AsFd for Hub {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl Member {
    /// Sends it, or keeps what is not taken; false where it has left, or has more kept than it may.
    fn tell(&mut self, said: &[u8]) -> bool {
        let sent = match self.unsent.is_empty() {
            true => send_packets(&self.channel, said),
            false => Some(0),
        };
        let Some(sent) = sent else { return false };
        self.unsent.extend_from_slice(&said[sent..]);
        self.unsent.len() <= UNSENT_BYTES_MAX
    }

    /// What is kept, as far as it is taken; false where it has left.
    fn send(&mut self) -> bool {
        let Some(sent) = send_packets(&self.channel, &self.unsent) else {
            return false;
        };
        if sent == self.unsent.len() {
            // The memory goes back.
            self.unsent = Vec::new();
        } else {
            self.unsent.drain(..sent);
        }
        true
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // It fails where the child has gone.
        let _ = socket::end_output(&self.channel);
        let _ = socket::end_input(&self.channel);
    }
}

/// The bytes that were taken, `None` where the child has gone.
fn send_packets(channel: &OwnedFd, bytes: &[u8]) -> Option<usize> {
    let mut sent = 0;
    for packet in bytes.chunks(PACKET_BYTES) {
        match socket::send(channel, packet) {
            Ok(taken) => sent += taken,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(_) => return None,
        }
    }
    Some(sent)
}

#[cfg(test)]
mod tests;
