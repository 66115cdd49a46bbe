//! What a connection of an event loop does in its turn: reads and an answer to each, or a write of what is left of an answer.
//!
//! It is the same whoever tells that it is ready: `select`, `poll`, `epoll` or mio, in one loop or in several. Where readiness is
//! told for as long as it lasts, one read a turn is right ([`Connection::turn`]); where a change of it is told once, what is left
//! unread is nobody's to mention, and a turn reads on ([`Connection::turn_on_change`]). What it is watched for, its deadline and
//! its place are the loop's, which does what the turn comes to ([`Next`]).

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use throng_sys::socket;

use crate::linger::Lingering;
use crate::workload::{Audience, Echo, Session, Then, UNSENT_BYTES_MAX};

/// Reads that a connection has in a turn at most where changes are told.
const ROUNDS: usize = 4;

/// An open connection.
pub(crate) struct Connection<S> {
    pub(crate) socket: OwnedFd,
    session: S,
    pub(crate) stage: Stage,
    input_ended: bool,
}

/// What a connection is about.
pub(crate) enum Stage {
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

// An idle connection owns no buffer, only this and its place with the loop (and their growth, at most as much again). As an
// option, since `select` has one for each number, used or not.
const _: () = assert!(size_of::<Option<Connection<Echo>>>() <= 48);

/// What becomes of a connection after its turn.
#[derive(Debug)]
pub(crate) enum Next {
    /// It is watched for the same as before.
    AsBefore,
    /// It is watched for input from now on, and reported if there is some.
    Input,
    /// It is watched for room from now on.
    Room,
    /// It waits, for so long.
    Delay(Duration),
    /// It is watched for input, and closed when that is over.
    Linger(Lingering),
    Close,
}

impl<S: Session> Connection<S> {
    /// One that has just been accepted.
    pub(crate) fn new(socket: OwnedFd, settings: &S::Settings) -> Self {
        Self {
            socket,
            session: S::begin(settings),
            stage: Stage::Reading,
            input_ended: false,
        }
    }

    /// One read and its answer, or, where a part of the last answer is left, one write. `bytes` counts what was sent.
    #[inline]
    pub(crate) fn turn(
        &mut self,
        input: &mut [u8],
        output: &mut Vec<u8>,
        bytes: &mut u64,
    ) -> io::Result<Next> {
        match self.stage {
            Stage::Reading => Ok(self.read(input, output, bytes)?.1),
            _ => self.turn_without_reading(input, bytes),
        }
    }

    /// Everything that a change calls for, within bounds: reads until one returns less than was asked for, which saves the
    /// read that would say `EAGAIN`. It is not enough where the peer has ended its output, as the event says
    /// (`input_has_ended`): that end came *before* the short read, makes no further event, and is only seen by reading on
    /// until 0. What the bounds leave unread is reported anew once the connection is watched for input again.
    #[inline]
    pub(crate) fn turn_on_change(
        &mut self,
        input_has_ended: bool,
        input: &mut [u8],
        output: &mut Vec<u8>,
        bytes: &mut u64,
    ) -> io::Result<Next> {
        if !matches!(self.stage, Stage::Reading) {
            return self.turn_without_reading(input, bytes);
        }
        for _ in 0..ROUNDS {
            let (received, next) = self.read(input, output, bytes)?;
            let is_dry = received.is_none_or(|bytes| bytes < input.len() && !input_has_ended);
            if is_dry || !matches!(next, Next::AsBefore) {
                return Ok(next);
            }
            // What it has said goes out before its end is read, which closes it.
            if S::AUDIENCE == Audience::Everyone {
                break;
            }
        }
        Ok(Next::Input)
    }

    #[cold]
    fn turn_without_reading(&mut self, input: &mut [u8], bytes: &mut u64) -> io::Result<Next> {
        match &mut self.stage {
            Stage::Sending(_) => self.send_on(bytes),
            // What is told of it meanwhile is passed over.
            Stage::Reading | Stage::Waiting { .. } => Ok(Next::AsBefore),
            Stage::Lingering { lingering, .. } => {
                let is_over = lingering.is_over(&self.socket, input);
                Ok(if is_over { Next::Close } else { Next::AsBefore })
            }
        }
    }

    /// One read and its answer. How many bytes came, 0 at the end of input; `None` where there is nothing to read.
    #[inline]
    fn read(
        &mut self,
        input: &mut [u8],
        output: &mut Vec<u8>,
        bytes: &mut u64,
    ) -> io::Result<(Option<usize>, Next)> {
        let received = match socket::receive(&self.socket, input) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Ok((None, Next::AsBefore));
            }
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
        Ok((Some(received), next))
    }

    /// Greets one that has just been accepted.
    pub(crate) fn greet(&mut self, bytes: &mut u64) -> io::Result<Next> {
        let mut greeting = Vec::new();
        self.session.greet(&mut greeting);
        self.answer(&greeting, Then::Read, bytes)
    }

    /// Sends it what somebody has said. What there is no room for is kept, within bounds; whoever exceeds them is given up.
    /// Whether it is to be watched for room from now on.
    pub(crate) fn deliver(&mut self, said: &[u8], bytes: &mut u64) -> bool {
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

    /// Ends both directions, which is reported whatever it is watched for; then it is closed as others are.
    #[cold]
    pub(crate) fn give_up(&mut self) {
        self.stage = Stage::Sending(Box::new((Vec::new(), Then::Close)));
        // They fail on a connection that is already reset, which is reported as well.
        let _ = socket::end_input(&self.socket);
        let _ = socket::end_output(&self.socket);
    }

    /// The wait is over. What comes next is said as to one that is watched for input: the loop sees to that.
    pub(crate) fn resume(&mut self, output: &mut Vec<u8>, bytes: &mut u64) -> io::Result<Next> {
        self.stage = Stage::Reading;
        output.clear();
        let then = self.session.resume(output);
        self.answer(output, then, bytes)
    }

    #[inline]
    fn answer(&mut self, output: &[u8], then: Then, bytes: &mut u64) -> io::Result<Next> {
        if !output.is_empty() {
            let sent = sent(socket::send(&self.socket, output))?;
            *bytes += sent as u64;
            if sent < output.len() {
                let unsent = output[sent..].to_vec();
                self.stage = Stage::Sending(Box::new((unsent, then)));
                return Ok(Next::Room);
            }
        }
        self.after(then)
    }

    /// Once all is sent, to one that is watched for input.
    #[inline]
    fn after(&self, then: Then) -> io::Result<Next> {
        Ok(match then.settled(self.input_ended) {
            Then::Read => Next::AsBefore,
            Then::Wait(delay) => Next::Delay(delay),
            Then::Linger => Next::Linger(Lingering::begin(&self.socket)?),
            Then::Close => Next::Close,
        })
    }

    /// There is room again for what could not be sent.
    #[cold]
    fn send_on(&mut self, bytes: &mut u64) -> io::Result<Next> {
        let Stage::Sending(kept) = &mut self.stage else {
            return Ok(Next::AsBefore);
        };
        let (unsent, then) = &mut **kept;
        let sent = sent(socket::send(&self.socket, unsent))?;
        *bytes += sent as u64;
        unsent.drain(..sent);
        if !unsent.is_empty() {
            return Ok(Next::AsBefore);
        }
        let then = *then;
        // The memory goes back.
        self.stage = Stage::Reading;
        Ok(match self.after(then)? {
            Next::AsBefore => Next::Input,
            next => next,
        })
    }
}

/// A full send buffer took nothing, which is no error.
fn sent(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}

#[cfg(test)]
mod tests;
