//! A connection of the loop: reads and an answer to each, or the rest of an answer. It knows its socket and its session; what
//! it is registered for, the deadlines and the slots are the loop's, which does what a turn comes to ([`Next`]).

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use mio::Interest;
use mio::event::Event;
use throng_sys::socket;

use crate::linger::Lingering;
use crate::workload::{Audience, Echo, Session, Then, UNSENT_BYTES_MAX};

/// Reads that a connection has in one turn.
const ROUNDS: usize = 4;

/// An open connection, in its slot.
pub(super) struct Connection<S> {
    pub(super) socket: OwnedFd,
    session: S,
    pub(super) stage: Stage,
    input_ended: bool,
}

/// What a connection is about.
pub(super) enum Stage {
    Reading,
    /// There was no room for all of an answer.
    Sending(Box<(Vec<u8>, Then)>),
    /// Nothing happens before that time of the monotonic clock.
    Waiting {
        until_ns: u64,
    },
    /// Its output is ended, and its input is dropped until then at most.
    Lingering {
        until_ns: u64,
        lingering: Lingering,
    },
}

// An idle connection owns no buffer, only this (and the slab's growth, at most as much again).
const _: () = assert!(size_of::<Connection<Echo>>() <= 48);

/// What becomes of a connection after its turn.
pub(super) enum Next {
    /// It waits for a change of what it is registered for.
    Wait,
    /// It is registered for this from now on, and reported again if it is ready for it now.
    Register(Interest),
    /// It is waiting for so long.
    Delay(Duration),
    /// It is closed when that is over.
    Linger(Lingering),
    Close,
}

impl<S: Session> Connection<S> {
    /// One that has just been accepted.
    pub(super) fn new(socket: OwnedFd, settings: &S::Settings) -> Self {
        Self {
            socket,
            session: S::begin(settings),
            stage: Stage::Reading,
            input_ended: false,
        }
    }

    /// Everything the event calls for, within bounds. `bytes` counts what was sent.
    #[inline]
    pub(super) fn turn(
        &mut self,
        event: &Event,
        input: &mut [u8],
        output: &mut Vec<u8>,
        bytes: &mut u64,
    ) -> io::Result<Next> {
        match &mut self.stage {
            Stage::Reading => {}
            Stage::Sending(_) => return self.send_on(bytes),
            Stage::Waiting { .. } => return Ok(Next::Wait),
            Stage::Lingering { lingering, .. } => {
                let is_over = lingering.is_over(&self.socket, input);
                return Ok(if is_over { Next::Close } else { Next::Wait });
            }
        }
        for _ in 0..ROUNDS {
            let received = match socket::receive(&self.socket, input) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Wait),
                result => result?,
            };
            if S::AUDIENCE == Audience::Sender {
                output.clear();
            }
            let then = if received == 0 {
                self.input_ended = true;
                self.session.end_of_input(output)
            } else {
                self.session.input(&input[..received], output)
            };
            let next = match S::AUDIENCE {
                Audience::Sender => self.answer(output, then, bytes)?,
                Audience::Everyone => self.after(then)?,
            };
            if let Some(next) = next {
                return Ok(next);
            }
            if received < input.len() && !event.is_read_closed() && !event.is_error() {
                return Ok(Next::Wait);
            }
            // What it has said goes out before its end is read, which closes it.
            if S::AUDIENCE == Audience::Everyone {
                break;
            }
        }
        Ok(Next::Register(Interest::READABLE))
    }

    /// Greets one that has just been accepted.
    pub(super) fn greet(&mut self, bytes: &mut u64) -> io::Result<Next> {
        let mut greeting = Vec::new();
        self.session.greet(&mut greeting);
        self.answer(&greeting, Then::Read, bytes)
            .map(|next| next.unwrap_or(Next::Wait))
    }

    /// Sends it what somebody has said. What there is no room for is kept, within bounds; whoever exceeds them is given up.
    /// Whether it is to be registered for room from now on.
    pub(super) fn deliver(&mut self, said: &[u8], bytes: &mut u64) -> bool {
        let was_reading = matches!(self.stage, Stage::Reading);
        let is_well = match &mut self.stage {
            Stage::Reading => self.answer(said, Then::Read, bytes).is_ok(),
            Stage::Sending(kept) if kept.1 == Then::Read => {
                kept.0.extend_from_slice(said);
                kept.0.len() <= UNSENT_BYTES_MAX
            }
            // It is about to be closed.
            _ => return false,
        };
        if !is_well {
            self.give_up();
        }
        was_reading && matches!(self.stage, Stage::Sending(_))
    }

    /// Ends both directions, which is reported whatever it is registered for; then it is closed as others are.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.stage = Stage::Sending(Box::new((Vec::new(), Then::Close)));
        // They fail on a connection that is already reset, which is reported as well.
        let _ = socket::end_input(&self.socket);
        let _ = socket::end_output(&self.socket);
    }

    /// The wait is over. What events told meanwhile has been passed over, so it is to be told again.
    pub(super) fn resume(&mut self, output: &mut Vec<u8>, bytes: &mut u64) -> io::Result<Next> {
        self.stage = Stage::Reading;
        output.clear();
        let then = self.session.resume(output);
        let next = self.answer(output, then, bytes)?;
        Ok(next.unwrap_or(Next::Register(Interest::READABLE)))
    }

    /// Sends; what comes then, if it is not the next read.
    #[inline]
    fn answer(&mut self, output: &[u8], then: Then, bytes: &mut u64) -> io::Result<Option<Next>> {
        if !output.is_empty() {
            let sent = sent(socket::send(&self.socket, output))?;
            *bytes += sent as u64;
            if sent < output.len() {
                let unsent = output[sent..].to_vec();
                self.stage = Stage::Sending(Box::new((unsent, then)));
                return Ok(Some(Next::Register(Interest::WRITABLE)));
            }
        }
        self.after(then)
    }

    /// Once all is sent; `None` is the next read.
    #[inline]
    fn after(&self, then: Then) -> io::Result<Option<Next>> {
        Ok(match then.settled(self.input_ended) {
            Then::Read => None,
            Then::Wait(delay) => Some(Next::Delay(delay)),
            Then::Linger => Some(Next::Linger(Lingering::begin(&self.socket)?)),
            Then::Close => Some(Next::Close),
        })
    }

    /// There is room again for what could not be sent.
    #[cold]
    fn send_on(&mut self, bytes: &mut u64) -> io::Result<Next> {
        let Stage::Sending(kept) = &mut self.stage else {
            return Ok(Next::Wait);
        };
        let (unsent, then) = &mut **kept;
        let sent = sent(socket::send(&self.socket, unsent))?;
        *bytes += sent as u64;
        unsent.drain(..sent);
        if !unsent.is_empty() {
            return Ok(Next::Wait);
        }
        let then = *then;
        // The memory goes back.
        self.stage = Stage::Reading;
        let next = self.after(then)?;
        Ok(next.unwrap_or(Next::Register(Interest::READABLE)))
    }
}

/// A full send buffer took nothing, which is no error.
fn sent(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}
