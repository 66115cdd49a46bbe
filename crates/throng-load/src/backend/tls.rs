//! TLS over another back end: what that one receives is opened, what it sends is sealed here.
//!
//! *Method.* A connection is plain until [`Backend::secure`] begins its handshake. From then on ciphertext that came becomes events of plain text, and a
//! range of the shared messages becomes bytes that are the inner back end's to send. Loops, pacings and protocols see the same events as without it, and one
//! more: that the handshake is done.
//!
//! *Memory.* A connection keeps the state of its cipher and the part of a record that has not come yet; records are opened and sealed in buffers that all
//! connections of the shard share. rustls itself allocates once for each record that it opens or seals.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus,
};
use rustls::{CipherSuite, HandshakeKind, ProtocolVersion};
use throng_sys::address::Address;

use super::{Backend, Began, Event, What};
use crate::tls::{Client, Refusal};

/// What a handshake came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Secured {
    pub(crate) version: ProtocolVersion,
    pub(crate) suite: CipherSuite,
    pub(crate) is_resumed: bool,
}

/// The same connections, over TLS.
pub(crate) struct TlsBackend<B> {
    inner: B,
    client: Client,
    slots: Vec<Option<Box<Session>>>,
    shared: Arc<[u8]>,
    /// Ciphertext that came.
    incoming: Vec<u8>,
    /// What was in it.
    plain: Vec<u8>,
    outgoing: Outgoing,
    /// What is still to be told of one connection.
    events: VecDeque<Event>,
    /// Whether the last bytes that were told of are in `plain`.
    is_opened: bool,
}

/// A connection over TLS.
struct Session {
    connection: UnbufferedClientConnection,
    /// The part of a record that has come.
    rest: Vec<u8>,
    stage: Stage,
    /// Messages that are to be sent once the handshake is done: a server may come to it late.
    waiting: Vec<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Handshake,
    Open,
    /// We have ended our output before the handshake was done.
    Left,
    /// The peer has said that it sends no more.
    Ended,
}

/// Ciphertext to be sent: the buffer stays as long as it once had to be.
#[derive(Default)]
struct Outgoing {
    room: Vec<u8>,
    filled: usize,
}

/// What is done with a connection once all that came is read.
enum Next<'a> {
    Nothing,
    Seal(&'a [u8]),
    EndOutput,
}

/// What reading came to.
#[derive(Default)]
struct Progress {
    /// Bytes of the input that are done with.
    used: usize,
    may_send: bool,
    has_ended: bool,
}

impl<B: Backend> TlsBackend<B> {
    pub(crate) fn new(inner: B, client: Client, slots: usize, shared: Arc<[u8]>) -> Self {
        Self {
            inner,
            client,
            slots: (0..slots).map(|_| None).collect(),
            shared,
            incoming: Vec::new(),
            plain: Vec::new(),
            outgoing: Outgoing::default(),
            events: VecDeque::new(),
            is_opened: false,
        }
    }

    /// Reads what the inner back end has received, and queues what there is to tell of it.
    fn open(&mut self, slot: u32) {
        let Some(session) = &mut self.slots[slot as usize] else {
            return;
        };
        self.incoming.clear();
        self.incoming.append(&mut session.rest);
        self.incoming.extend_from_slice(self.inner.received());
        self.plain.clear();
        let mut progress = Progress::default();
        let read = session.read(
            &mut self.incoming,
            &mut self.plain,
            &mut self.outgoing,
            Next::Nothing,
            &mut progress,
        );
        let unread = &mut self.incoming[progress.used..];
        let is_handshake = session.stage == Stage::Handshake;
        let mut tell = |what| self.events.push_back(Event { slot, what });
        match read {
            Ok(()) => session.rest.extend_from_slice(unread),
            Err(error) => {
                let refusal = self.client.refusal(&error, unread);
                session.last_word(unread, &mut self.outgoing);
                let _ = self.inner.send_bytes(slot, self.outgoing.take());
                return tell(match is_handshake {
                    true => What::Handshake(Err(Box::new(refusal))),
                    false => What::Failed(io::Error::other(refusal)),
                });
            }
        }
        if is_handshake && progress.may_send {
            session.stage = Stage::Open;
            tell(What::Handshake(Ok(session.secured())));
            for message in std::mem::take(&mut session.waiting) {
                // It fails where more is sent than one key may seal, which is not of the first messages.
                let _ = session.act(Next::Seal(&self.shared[message]), &mut self.outgoing);
            }
        }
        if let Err(error) = self.outgoing.send(&mut self.inner, slot) {
            return tell(What::Failed(error));
        }
        if !self.plain.is_empty() {
            tell(What::Received(self.plain.len()));
        }
        if progress.has_ended {
            session.stage = Stage::Ended;
            tell(What::EndOfInput);
        }
    }

    /// Does something with a connection that has nothing left to read, and sends what comes of it.
    #[inline]
    fn act(&mut self, slot: u32, next: impl FnOnce(&[u8]) -> Next<'_>) -> io::Result<()> {
        let Some(session) = &mut self.slots[slot as usize] else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        session
            .act(next(&self.shared), &mut self.outgoing)
            .map_err(io::Error::other)?;
        self.outgoing.send(&mut self.inner, slot)
    }
}

impl Session {
    /// Reads all that can be read of `incoming`, and then does what is next where that may be.
    fn read(
        &mut self,
        incoming: &mut [u8],
        plain: &mut Vec<u8>,
        outgoing: &mut Outgoing,
        next: Next<'_>,
        progress: &mut Progress,
    ) -> Result<(), rustls::Error> {
        loop {
            let left = &mut incoming[progress.used..];
            let UnbufferedStatus { discard, state } = self.connection.process_tls_records(left);
            progress.used += discard;
            match state? {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record?;
                        progress.used += record.discard;
                        plain.extend_from_slice(record.payload);
                    }
                }
                ConnectionState::EncodeTlsData(mut data) => {
                    outgoing.append(|room| data.encode(room))?;
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::PeerClosed => progress.has_ended = true,
                ConnectionState::WriteTraffic(mut traffic) => {
                    progress.may_send = true;
                    return match next {
                        Next::Nothing => Ok(()),
                        Next::Seal(message) => {
                            outgoing.append(|room| traffic.encrypt(message, room))
                        }
                        Next::EndOutput => outgoing.append(|room| traffic.queue_close_notify(room)),
                    };
                }
                // Nothing but input takes it further; of early data a client receives none.
                _ => return Ok(()),
            }
        }
    }

    /// Does something where nothing new has come. What is left of what came goes along, since rustls knows places in it.
    #[inline]
    fn act(&mut self, next: Next<'_>, outgoing: &mut Outgoing) -> Result<(), rustls::Error> {
        let mut rest = std::mem::take(&mut self.rest);
        let mut progress = Progress::default();
        // No record is whole in it.
        let nothing = &mut Vec::new();
        let done = self.read(&mut rest, nothing, outgoing, next, &mut progress);
        rest.drain(..progress.used);
        self.rest = rest;
        done
    }

    /// The alert that it has left after it has failed. It still knows places in what it was reading, which is therefore given to it once more.
    fn last_word(&mut self, unread: &mut [u8], outgoing: &mut Outgoing) {
        let status = self.connection.process_tls_records(unread);
        if let Ok(ConnectionState::EncodeTlsData(mut data)) = status.state {
            // It is a courtesy: what counts is why.
            let _ = outgoing.append(|room| data.encode(room));
        }
    }

    fn secured(&self) -> Secured {
        let connection = &self.connection;
        let suite = connection.negotiated_cipher_suite();
        Secured {
            version: connection
                .protocol_version()
                .unwrap_or(ProtocolVersion::Unknown(0)),
            suite: suite.map_or(CipherSuite::Unknown(0), |suite| suite.suite()),
            is_resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
        }
    }
}

/// How much room a record needs more, where that is why it cannot be made.
trait NeedsRoom {
    fn room(&self) -> Option<usize>;
}

impl NeedsRoom for EncodeError {
    fn room(&self) -> Option<usize> {
        match self {
            Self::InsufficientSize(InsufficientSizeError { required_size }) => Some(*required_size),
            Self::AlreadyEncoded => None,
        }
    }
}

impl NeedsRoom for EncryptError {
    fn room(&self) -> Option<usize> {
        match self {
            Self::InsufficientSize(InsufficientSizeError { required_size }) => Some(*required_size),
            Self::EncryptExhausted => None,
        }
    }
}

impl Outgoing {
    /// Has something made behind what is there, with as much room as it takes.
    #[inline]
    fn append<E: NeedsRoom>(
        &mut self,
        mut make: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(), rustls::Error> {
        loop {
            match make(&mut self.room[self.filled..]) {
                Ok(made) => {
                    self.filled += made;
                    return Ok(());
                }
                Err(error) => match error.room() {
                    Some(bytes) => self.room.resize(self.filled + bytes, 0),
                    None => return Err(rustls::Error::EncryptError),
                },
            }
        }
    }

    fn take(&mut self) -> &[u8] {
        let filled = std::mem::take(&mut self.filled);
        &self.room[..filled]
    }

    #[inline]
    fn send(&mut self, inner: &mut impl Backend, slot: u32) -> io::Result<()> {
        match self.take() {
            [] => Ok(()),
            bytes => inner.send_bytes(slot, bytes),
        }
    }
}

impl<B: Backend> Backend for TlsBackend<B> {
    const EVENTS_COME_TOGETHER: bool = B::EVENTS_COME_TOGETHER;

    fn connect(
        &mut self,
        slot: u32,
        address: &Address,
        source: Option<IpAddr>,
        nodelay: bool,
    ) -> io::Result<Began> {
        self.inner.connect(slot, address, source, nodelay)
    }

    fn secure(&mut self, slot: u32) -> io::Result<()> {
        let connection = self.client.begin().map_err(io::Error::other)?;
        self.slots[slot as usize] = Some(Box::new(Session {
            connection,
            rest: Vec::new(),
            stage: Stage::Handshake,
            waiting: Vec::new(),
        }));
        self.act(slot, |_| Next::Nothing)
    }

    fn can_resume(&self) -> bool {
        self.client.can_resume()
    }

    #[inline]
    fn send(&mut self, slot: u32, message: Range<usize>) -> io::Result<()> {
        if let Some(session) = &mut self.slots[slot as usize]
            && session.stage == Stage::Handshake
        {
            session.waiting.push(message);
            return Ok(());
        }
        self.act(slot, |shared| Next::Seal(&shared[message]))
    }

    /// Only messages are sent over TLS.
    fn send_bytes(&mut self, _slot: u32, _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[inline]
    fn wait(&mut self, now_ns: u64, until_ns: u64) -> io::Result<()> {
        self.inner.wait(now_ns, until_ns)
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop_front() {
                self.is_opened = true;
                return Some(event);
            }
            let event = self.inner.next_event()?;
            self.is_opened = false;
            let session = self.slots[event.slot as usize].as_ref();
            let Some(stage) = session.map(|session| session.stage) else {
                return Some(event);
            };
            match event.what {
                What::Received(_) if stage == Stage::Left => {}
                What::Received(_) => self.open(event.slot),
                // It has been told of.
                What::EndOfInput if stage == Stage::Ended => {}
                What::EndOfInput if stage == Stage::Handshake => {
                    let what = What::Handshake(Err(Box::new(Refusal::closed())));
                    return Some(Event { what, ..event });
                }
                _ => return Some(event),
            }
        }
    }

    #[inline]
    fn received(&self) -> &[u8] {
        match self.is_opened {
            true => &self.plain,
            false => self.inner.received(),
        }
    }

    /// Says so in TLS too, without which the peer could not tell an end from a cut.
    fn end_output(&mut self, slot: u32) -> io::Result<()> {
        match self.slots[slot as usize].as_mut() {
            Some(session) if session.stage == Stage::Handshake => session.stage = Stage::Left,
            Some(_) => self.act(slot, |_| Next::EndOutput)?,
            None => {}
        }
        self.inner.end_output(slot)
    }

    fn socket(&self, slot: u32) -> Option<BorrowedFd<'_>> {
        self.inner.socket(slot)
    }

    fn close(&mut self, slot: u32) {
        self.slots[slot as usize] = None;
        self.events.retain(|event| event.slot != slot);
        self.inner.close(slot);
    }
}
