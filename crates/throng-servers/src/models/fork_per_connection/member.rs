//! What a child does where what its connection says goes to all: it speaks to the parent, and hears from it.
//!
//! *Method.* It waits for its connection and for its channel to the parent, and takes the next packet only when the last one
//! is sent: what a slow reader does not take is kept by the parent, who hangs up where that becomes too much. Once the input
//! has ended there is nothing to wait for but the parent, and the calls block again.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use throng_sys::poll::{PollSet, READABLE, WRITABLE};
use throng_sys::socket;

use super::{PACKET_BYTES, count};
use crate::blocking::{INPUT_BYTES, send};
use crate::workload::{Session, Then};

/// Places in the list that is waited for.
const CONNECTION: usize = 0;
const CHANNEL: usize = 1;

/// From the first byte to the last. Its session asks for no wait.
pub(super) fn serve_member<S: Session>(
    settings: &S::Settings,
    connection: &OwnedFd,
    channel: &OwnedFd,
    bytes: &AtomicU64,
) {
    let mut session = S::begin(settings);
    let mut greeting = Vec::new();
    session.greet(&mut greeting);
    let mut member = Member {
        connection,
        channel,
        bytes,
        packet: vec![0; PACKET_BYTES],
        unsent: 0..0,
    };
    // An error is a reset, or the parent's hanging up: there is nobody left to tell.
    let _ = send(connection, &greeting, count(bytes))
        .and_then(|()| member.converse(session))
        .and_then(|()| member.hear_out());
}

struct Member<'a> {
    connection: &'a OwnedFd,
    channel: &'a OwnedFd,
    bytes: &'a AtomicU64,
    packet: Vec<u8>,
    /// The part of the packet that the connection has not taken.
    unsent: Range<usize>,
}

impl Member<'_> {
    /// Until there is no more input.
    fn converse(&mut self, mut session: impl Session) -> io::Result<()> {
        let mut input = vec![0; INPUT_BYTES];
        let mut output = Vec::new();
        let mut set = PollSet::new();
        set.push(self.connection, READABLE);
        set.push(self.channel, READABLE);
        loop {
            let has_kept_up = self.unsent.is_empty();
            set.set_interest(CONNECTION, if has_kept_up { READABLE } else { WRITABLE });
            // Being hung up on is told all the same.
            set.set_interest(CHANNEL, if has_kept_up { READABLE } else { 0 });
            set.wait(None)?;
            if set.ready(CHANNEL) != 0 {
                if !has_kept_up || !self.take_packet()? {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                self.send_at_once()?;
            }
            if set.ready(CONNECTION) == 0 {
                continue;
            }
            if !has_kept_up {
                self.send_at_once()?;
            } else if self.unsent.is_empty() {
                let received = socket::receive(self.connection, &mut input)?;
                if received == 0 {
                    return Ok(());
                }
                output.clear();
                let then = session.input(&input[..received], &mut output);
                self.say(&output)?;
                if then != Then::Read {
                    return Ok(());
                }
            }
        }
    }

    /// What was said to it before the parent had heard that its input has ended, its own last words among it.
    fn hear_out(&mut self) -> io::Result<()> {
        socket::end_output(self.channel)?;
        loop {
            let unsent = &self.packet[self.unsent.clone()];
            send(self.connection, unsent, count(self.bytes))?;
            if !self.take_packet()? {
                return Ok(());
            }
        }
    }

    /// Waits for the parent, who always listens.
    fn say(&self, said: &[u8]) -> io::Result<()> {
        for packet in said.chunks(PACKET_BYTES) {
            socket::send(self.channel, packet)?;
        }
        Ok(())
    }

    /// Whether there was one; none comes once the parent has hung up.
    fn take_packet(&mut self) -> io::Result<bool> {
        let received = socket::receive(self.channel, &mut self.packet)?;
        self.unsent = 0..received;
        Ok(received > 0)
    }

    /// What the connection takes without waiting.
    fn send_at_once(&mut self) -> io::Result<()> {
        let unsent = &self.packet[self.unsent.clone()];
        match socket::send_without_waiting(self.connection, unsent) {
            Ok(sent) => {
                self.unsent.start += sent;
                self.bytes.fetch_add(sent as u64, Relaxed);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }
}
