//! A client whose every wait ends, and whose disappointments are sentences.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use throng_sys::address::Address;
use throng_sys::socket;

use super::server::Server;
use super::stage::{Failure, Stage};

/// How long nothing must have been taken for buffers to be called full.
const QUIET: Duration = Duration::from_millis(300);
const NAP: Duration = Duration::from_millis(5);

pub(super) struct Client {
    stream: Stream,
    patience: Duration,
    deadline: Instant,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// What a read came to.
pub(super) enum Received {
    Bytes(usize),
    End,
    Reset,
    /// Nothing, for as long as one waits.
    Nothing,
}

impl Stage<'_> {
    pub(super) fn connect(&self, server: &Server<'_>) -> Result<Client, Failure> {
        Client::connect(&server.addresses[0], self)
    }

    pub(super) fn connect_many(
        &self,
        server: &Server<'_>,
        count: usize,
    ) -> Result<Vec<Client>, Failure> {
        (0..count)
            .map(|number| {
                let client = self.connect(server);
                client.map_err(|seen| seen.after(format_args!("connection {}", number + 1)))
            })
            .collect()
    }
}

impl Client {
    pub(super) fn connect(address: &Address, stage: &Stage<'_>) -> Result<Self, Failure> {
        let stream = match address {
            Address::Tcp(address) => {
                TcpStream::connect_timeout(address, stage.patience).and_then(|stream| {
                    stream.set_nodelay(true)?;
                    Ok(Stream::Tcp(stream))
                })
            }
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
        };
        match stream {
            Ok(stream) => Ok(Self {
                stream,
                patience: stage.patience,
                deadline: stage.deadline,
            }),
            Err(error) => Failure::of(format!("cannot connect to {address}: {error}")),
        }
    }

    pub(super) fn try_clone(&self) -> Result<Self, Failure> {
        let stream = match &self.stream {
            Stream::Tcp(stream) => stream.try_clone().map(Stream::Tcp),
            Stream::Unix(stream) => stream.try_clone().map(Stream::Unix),
        };
        Ok(Self {
            stream: stream.map_err(|error| Failure(error.to_string()))?,
            ..*self
        })
    }

    /// Waits for no longer than this for the next byte.
    pub(super) fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends all of it.
    pub(super) fn send(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        let all = bytes.len();
        while !bytes.is_empty() {
            let sent = match &mut self.stream {
                Stream::Tcp(stream) => timed(self.patience, self.deadline, |time| {
                    stream.set_write_timeout(Some(time))?;
                    stream.write(bytes)
                }),
                Stream::Unix(stream) => timed(self.patience, self.deadline, |time| {
                    stream.set_write_timeout(Some(time))?;
                    stream.write(bytes)
                }),
            };
            match sent {
                Ok(count) => bytes = &bytes[count..],
                Err(error) => {
                    let sent = all - bytes.len();
                    return Failure::of(format!(
                        "{sent} of {all} bytes could be sent: {}",
                        in_words(&error)
                    ));
                }
            }
        }
        Ok(())
    }

    /// The next bytes, or why there are none.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, Failure> {
        let read = match &mut self.stream {
            Stream::Tcp(stream) => timed(self.patience, self.deadline, |time| {
                stream.set_read_timeout(Some(time))?;
                stream.read(buffer)
            }),
            Stream::Unix(stream) => timed(self.patience, self.deadline, |time| {
                stream.set_read_timeout(Some(time))?;
                stream.read(buffer)
            }),
        };
        match read {
            Ok(0) => Ok(Received::End),
            Ok(count) => Ok(Received::Bytes(count)),
            Err(error) if is_reset(&error) => Ok(Received::Reset),
            Err(error) if is_nothing(&error) => Ok(Received::Nothing),
            Err(error) => Failure::of(error.to_string()),
        }
    }

    /// That the next bytes are these.
    pub(super) fn expect(&mut self, due: &[u8]) -> Result<(), Failure> {
        let mut buffer = vec![0; due.len().min(256 * 1024)];
        let mut got = 0;
        while got < due.len() {
            let space = buffer.len().min(due.len() - got);
            let count = match self.receive(&mut buffer[..space])? {
                Received::Bytes(count) => count,
                other => {
                    return Failure::of(format!(
                        "{} after {got} of {} bytes",
                        self.no_bytes(&other),
                        due.len()
                    ));
                }
            };
            let expected = &due[got..got + count];
            if buffer[..count] != *expected {
                return Failure::of(difference(&buffer[..count], expected, got));
            }
            got += count;
        }
        Ok(())
    }

    /// The next bytes, which may be any, until the buffer is full.
    pub(super) fn expect_any(&mut self, buffer: &mut [u8]) -> Result<(), Failure> {
        let mut got = 0;
        while got < buffer.len() {
            match self.receive(&mut buffer[got..])? {
                Received::Bytes(count) => got += count,
                other => return Failure::of(self.no_bytes(&other)),
            }
        }
        Ok(())
    }

    /// The next line with its end.
    pub(super) fn line(&mut self) -> Result<String, Failure> {
        const LINE_BYTES_MAX: usize = 64 * 1024;
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') && line.len() < LINE_BYTES_MAX {
            let mut byte = [0];
            self.expect_any(&mut byte)
                .map_err(|seen| seen.after(format_args!("after {}", quoted(&line))))?;
            line.push(byte[0]);
        }
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// That its output ends here.
    pub(super) fn expect_end(&mut self) -> Result<(), Failure> {
        let mut buffer = [0; 64];
        match self.receive(&mut buffer)? {
            Received::End => Ok(()),
            Received::Bytes(count) => Failure::of(format!(
                "{} in place of the end of output",
                quoted(&buffer[..count])
            )),
            other => Failure::of(format!(
                "{} in place of the end of output",
                self.no_bytes(&other)
            )),
        }
    }

    /// Everything until its end, be that in order or a reset.
    pub(super) fn read_to_end(&mut self, bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let mut all = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match self.receive(&mut buffer)? {
                Received::Bytes(count) => all.extend_from_slice(&buffer[..count]),
                Received::End | Received::Reset => return Ok(all),
                Received::Nothing => {
                    return Failure::of(format!(
                        "{} after {} bytes, {}",
                        self.no_bytes(&Received::Nothing),
                        all.len(),
                        quoted(&all)
                    ));
                }
            }
            if all.len() > bytes_max {
                return Failure::of(format!("{} bytes without an end", all.len()));
            }
        }
    }

    /// Sends, and reads the same bytes back.
    pub(super) fn echo(&mut self, message: &[u8]) -> Result<(), Failure> {
        self.send(message)?;
        self.expect(message)
    }

    /// Sends from a thread, perhaps with the end of output behind, while it reads the same bytes back.
    pub(super) fn echo_while_sending(
        &mut self,
        message: &[u8],
        then_ends: bool,
    ) -> Result<(), Failure> {
        self.expect_while_sending(message, message, then_ends)
    }

    /// Sends as much as is taken of one who does not read, and begins to read only then; with the end of output behind.
    pub(super) fn echo_read_late(&mut self, message: &[u8]) -> Result<(), Failure> {
        let pushed = self.push_until_full(message.len() - 1, |pushed| &message[pushed..])?;
        if pushed < message.len() {
            return self.expect_while_sending(&message[pushed..], message, true);
        }
        self.end_output()?;
        sleep(QUIET);
        self.expect(message)
    }

    fn expect_while_sending(
        &mut self,
        sent: &[u8],
        due: &[u8],
        then_ends: bool,
    ) -> Result<(), Failure> {
        let mut sender = self.try_clone()?;
        thread::scope(|scope| {
            let sending = scope.spawn(move || {
                sender.send(sent)?;
                if then_ends {
                    sender.end_output()
                } else {
                    Ok(())
                }
            });
            let received = self.expect(due);
            // Whoever does not take it would keep the sender for all its patience.
            if received.is_err() {
                let _ = socket::end_input(&*self);
                let _ = socket::end_output(&*self);
            }
            let sent = sending.join().expect("it does not panic");
            received.and(sent)
        })
    }

    /// Ends its output, and reads on.
    pub(super) fn end_output(&self) -> Result<(), Failure> {
        socket::end_output(self)
            .map_err(|error| Failure(format!("its output cannot be ended: {}", in_words(&error))))
    }

    /// Leaves with a reset.
    pub(super) fn reset(self) -> Result<(), Failure> {
        socket::reset_on_close(&self).map_err(|error| Failure(error.to_string()))
    }

    /// Sends without reading until nothing is taken any more, or `bytes_max` are. `message` gives what comes after so many
    /// bytes. How many were taken.
    pub(super) fn push_until_full<'m>(
        &mut self,
        bytes_max: usize,
        message: impl Fn(usize) -> &'m [u8],
    ) -> Result<usize, Failure> {
        let mut pushed = 0;
        let mut last = Instant::now();
        while pushed <= bytes_max && Instant::now() < self.deadline {
            match socket::send_without_waiting(&*self, message(pushed)) {
                Ok(taken) => {
                    pushed += taken;
                    last = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if last.elapsed() >= QUIET {
                        break;
                    }
                    sleep(NAP);
                }
                Err(error) => {
                    return Failure::of(format!("after {pushed} bytes: {}", in_words(&error)));
                }
            }
        }
        Ok(pushed)
    }

    fn no_bytes(&self, came: &Received) -> String {
        match came {
            Received::Bytes(_) | Received::End => "the end of output".to_owned(),
            Received::Reset => "a reset".to_owned(),
            Received::Nothing => format!("nothing within {:?}", self.patience),
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
        }
    }
}

/// Calls again what a signal has interrupted.
fn timed(
    patience: Duration,
    deadline: Instant,
    mut call: impl FnMut(Duration) -> io::Result<usize>,
) -> io::Result<usize> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // No time at all is refused, and none left is a moment.
        match call(patience.min(left).max(Duration::from_millis(1))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn is_reset(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
    )
}

fn in_words(error: &io::Error) -> String {
    if is_nothing(error) {
        return "the server takes no more".to_owned();
    }
    if is_reset(error) {
        return "the server has closed the connection".to_owned();
    }
    error.to_string()
}

fn difference(got: &[u8], due: &[u8], before: usize) -> String {
    let place = got.iter().zip(due).position(|(one, other)| one != other);
    let place = place.unwrap_or_default();
    format!(
        "{} in place of {} from byte {} on",
        quoted(&got[place..]),
        quoted(&due[place..]),
        before + place
    )
}

/// The beginning of it, legible.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let more = if bytes.len() > SHOWN { "…" } else { "" };
    format!("`{}{more}`", shown.escape_ascii())
}

/// Bytes whose order shows: a period that is prime to every buffer's length.
pub(super) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}
