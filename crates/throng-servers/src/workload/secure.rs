//! Any workload whose answers go to the sender, over TLS: ciphertext in, ciphertext out. So every model serves it, and none knows.
//!
//! *Method.* rustls, as most servers use it: a connection with buffers of its own, which keeps what came of a record and what was decrypted. All that comes at once is decrypted
//! before the session within is asked, and all that it says is encrypted behind it.
//!
//! *Why one type.* As of [`super::Answered`]: each further session type compiles every model once more.

use std::io::{Read as _, Write as _};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustls::{ServerConfig, ServerConnection};

use super::{Answered, AnsweredSettings, Echo, Session, Then};

/// What the sessions of a server share.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) config: Arc<ServerConfig>,
    /// Absent: an echo.
    pub(crate) answered: Option<AnsweredSettings>,
}

/// A session within TLS. On the heap, since it is some kilobytes, and models move sessions about.
#[derive(Debug)]
pub(crate) struct Secure(Box<Within>);

#[derive(Debug)]
struct Within {
    connection: ServerConnection,
    session: Plain,
    /// The peer has said, in TLS or by its end of output, that it sends no more.
    has_ended: bool,
    /// The session has been told of that.
    is_told: bool,
}

#[derive(Debug)]
enum Plain {
    Echo(Echo),
    Answered(Answered),
}

macro_rules! of_plain {
    ($plain:expr, $session:ident => $act:expr) => {
        match $plain {
            Plain::Echo($session) => $act,
            Plain::Answered($session) => $act,
        }
    };
}

impl Within {
    /// Decrypts what came; an error is one of the protocol, of which the peer is told.
    fn decrypt(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> Result<(), rustls::Error> {
        while !bytes.is_empty() {
            let taken = self.connection.read_tls(&mut bytes);
            let state = self.connection.process_new_packets()?;
            let held = state.plaintext_bytes_to_read();
            let from = plain.len();
            plain.resize(from + held, 0);
            // As much as it has just said that it holds.
            let read = self.connection.reader().read(&mut plain[from..]);
            plain.truncate(from + read.unwrap_or(0));
            self.has_ended |= state.peer_has_closed();
            // It takes nothing after the peer's end.
            if !matches!(taken, Ok(1..)) {
                break;
            }
        }
        Ok(())
    }

    /// Tells the session of the end where it wants more input, encrypts the answer, and the end where that is what follows it.
    fn answer(&mut self, mut plain: Vec<u8>, mut then: Then, output: &mut Vec<u8>) -> Then {
        if then == Then::Read && self.has_ended && !std::mem::replace(&mut self.is_told, true) {
            then = of_plain!(&mut self.session, session => session.end_of_input(&mut plain));
        }
        let then = then.settled(self.has_ended);
        // It has no limit, and writes into memory: neither can fail.
        let _ = self.connection.writer().write_all(&plain);
        if matches!(then, Then::Close | Then::Linger) {
            self.connection.send_close_notify();
        }
        self.flush(output);
        then
    }

    fn flush(&mut self, output: &mut Vec<u8>) {
        while self.connection.wants_write() {
            if self.connection.write_tls(output).is_err() {
                return;
            }
        }
    }
}

impl Session for Secure {
    type Settings = Settings;

    fn descriptor(settings: &Settings) -> Option<BorrowedFd<'_>> {
        Answered::descriptor(settings.answered.as_ref()?)
    }

    fn begin(settings: &Settings) -> Self {
        let config = Arc::clone(&settings.config);
        let mut connection = ServerConnection::new(config)
            .expect("it fails only for a size of fragments, which is left as it is");
        connection.set_buffer_limit(None);
        let session = match &settings.answered {
            None => Plain::Echo(Echo::begin(&())),
            Some(answered) => Plain::Answered(Answered::begin(answered)),
        };
        Self(Box::new(Within {
            connection,
            session,
            has_ended: false,
            is_told: false,
        }))
    }

    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Then {
        let within = &mut *self.0;
        let mut plain = Vec::new();
        if within.decrypt(bytes, &mut plain).is_err() {
            within.flush(output);
            // The peer may still be sending, and is to hear the alert.
            return Then::Linger;
        }
        let mut answer = Vec::new();
        let mut then = Then::Read;
        if !plain.is_empty() {
            then = of_plain!(&mut within.session, session => session.input(&plain, &mut answer));
        }
        within.answer(answer, then, output)
    }

    fn end_of_input(&mut self, output: &mut Vec<u8>) -> Then {
        let within = &mut *self.0;
        within.has_ended = true;
        within.answer(Vec::new(), Then::Read, output)
    }

    fn resume(&mut self, output: &mut Vec<u8>) -> Then {
        let within = &mut *self.0;
        let mut answer = Vec::new();
        let then = of_plain!(&mut within.session, session => session.resume(&mut answer));
        within.answer(answer, then, output)
    }
}

#[cfg(test)]
mod tests;
