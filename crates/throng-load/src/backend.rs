//! The seam between the generator's loop and the kernel: connection operations, not readiness, because one back end
//! signals readiness and the other completion.
//!
//! Events are pulled one by one, so that the loop may send between two of them. A slot is a connection's index within its
//! shard. When it has been closed it may be used again: what the kernel still tells of an earlier connection never
//! reaches a later one, since every connection of a slot has a generation of its own.

pub(crate) mod epoll;
pub(crate) mod io_uring;
pub(crate) mod tls;

use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};

use throng_sys::address::Address;
use throng_sys::socket::{self, Connecting};

use crate::tls::Refusal;
use tls::Secured;

/// What happened to one connection.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) slot: u32,
    pub(crate) what: What,
}

/// The kinds of event.
#[derive(Debug)]
pub(crate) enum What {
    /// A connect that was under way is done.
    Connected,
    /// So many bytes came: read them with [`Backend::received`] before the next event is asked for.
    Received(usize),
    /// The peer has ended its output.
    EndOfInput,
    /// The connect, or the connection, failed.
    Failed(io::Error),
    /// The TLS handshake that was under way is over.
    Handshake(Result<Secured, Box<Refusal>>),
}

/// What could not be sent at once.
#[derive(Debug)]
enum Unsent {
    /// A range of the shared messages.
    Shared(Range<usize>),
    /// Bytes that are nobody else's, from a position on.
    Owned(Vec<u8>, usize),
}

/// How a connect began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Began {
    /// Established at once.
    Connected,
    /// An event will tell.
    UnderWay,
    /// A Unix listener's queue is full, and no event will tell when it is not: try again.
    QueueFull,
}

/// Begins a connect; both back ends do it by the same system calls, and differ in how they learn of its end. No socket where
/// the queue is full.
fn begin(
    address: &Address,
    source: Option<IpAddr>,
    nodelay: bool,
) -> io::Result<(Began, Option<OwnedFd>)> {
    Ok(match socket::start_connect(address, source, nodelay)? {
        Connecting::Done(socket) => (Began::Connected, Some(socket)),
        Connecting::UnderWay(socket) => (Began::UnderWay, Some(socket)),
        Connecting::QueueFull => (Began::QueueFull, None),
    })
}

/// Moves the bytes of the connections of one shard.
pub(crate) trait Backend {
    /// Whether all events of one wait became visible together: one reading of the clock, when the wait ends, is then the
    /// right time of them all. Where events are fetched one by one (a read is a system call), each has its own time.
    const EVENTS_COME_TOGETHER: bool;

    /// Begins to connect.
    fn connect(
        &mut self,
        slot: u32,
        address: &Address,
        source: Option<IpAddr>,
        nodelay: bool,
    ) -> io::Result<Began>;

    /// Sends a range of the shared messages, whole and after all that was sent before; a failure comes as an event or here.
    fn send(&mut self, slot: u32, message: Range<usize>) -> io::Result<()>;

    /// Sends bytes that are none of the shared messages, as [`Backend::send`] does those; they are the caller's again when it returns.
    fn send_bytes(&mut self, slot: u32, bytes: &[u8]) -> io::Result<()>;

    /// Begins the TLS handshake on a connection that is established; an event will tell. Only a back end over TLS has any.
    fn secure(&mut self, _slot: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether a handshake that begins now has a session to resume.
    fn can_resume(&self) -> bool {
        false
    }

    /// Waits for events, until `until_ns` at the latest; only looks where that is not after `now_ns`. It may end earlier
    /// without any event.
    fn wait(&mut self, now_ns: u64, until_ns: u64) -> io::Result<()>;

    /// The next event that is there.
    fn next_event(&mut self) -> Option<Event>;

    /// The bytes of the last [`What::Received`].
    fn received(&self) -> &[u8];

    /// Ends our output after all that was sent.
    fn end_output(&mut self, slot: u32) -> io::Result<()>;

    /// The connection's socket, until it is closed here; a failed connect has one too, where the failure came as an event.
    fn socket(&self, slot: u32) -> Option<BorrowedFd<'_>>;

    /// Closes; no further event of this connection comes, and the slot is free for another one.
    fn close(&mut self, slot: u32);
}

#[cfg(test)]
mod tests;
