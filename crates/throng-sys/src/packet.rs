//! Seeing TCP handshakes from outside: segments with SYN or RST of one port, through a packet socket (`packet(7)`).
//!
//! A filter in the kernel lets only those pass, each once, so data costs no copy; but it is asked about each packet: 0.2 µs on
//! loopback, also with a filter that refuses everything at once, and 0.5 µs where packets that leave must be looked at too (a
//! virtual machine with two cores, Linux 6.18). What passes is put, with the time, into a ring of memory that we share with the
//! kernel, and is read when somebody comes to look: no system call and no wake-up for each segment, no time stamps of all other
//! packets of the machine (which `SO_TIMESTAMPNS` would switch on), and room for 32,768 segments without privilege (a receive
//! buffer would be held to `net.core.rmem_max`).
//!
//! Opening one takes `CAP_NET_RAW`, which root of a user namespace has for the networks in it; using one that was opened does
//! not. Left out on purpose: IPv6 with extension headers, and fragments. Neither carries a handshake that we caused.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::time::{ClockId, clock_gettime};

use crate::clock::{SECOND_NS, monotonic_ns};

mod filter;
mod options;
mod ring;
mod segment;

use ring::Ring;
pub use segment::{Segment, SegmentKind};

/// The longest headers of IPv4 and TCP, 60 bytes each: what is kept of a segment.
pub const SNAP_BYTES: u32 = 120;

/// Why handshakes cannot be seen.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// Without `CAP_NET_RAW` where the socket had to be opened.
    #[error(
        "handshakes cannot be seen: a packet socket is not permitted here ({0}); use a private network (--net private), run as root, or grant the program cap_net_raw (setcap cap_net_raw+ep PROGRAM)"
    )]
    NotPermitted(io::Error),
    /// A private network has one packet socket.
    #[error("handshakes of this network are being observed already; end that observer first")]
    InUse,
    /// Anything else.
    #[error("handshakes cannot be seen: {0}; is the kernel built without CONFIG_PACKET?")]
    System(#[from] io::Error),
}

impl TapError {
    pub(crate) fn of_opening(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted(error),
            _ => Self::System(error),
        }
    }
}

/// Where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interfaces {
    /// The loopback interface alone, as segments come in there: where both ends are on this host. Cheaper by far, since
    /// otherwise the kernel copies the descriptor of every packet that leaves before the filter is asked.
    Loopback,
    /// All, in both directions.
    All,
}

/// A packet socket that sees nothing yet.
#[derive(Debug)]
pub struct PacketSocket {
    descriptor: OwnedFd,
    is_lent: AtomicBool,
}

impl PacketSocket {
    /// Opens one in the calling thread's network namespace.
    ///
    /// # Errors
    /// `PermissionDenied` without `CAP_NET_RAW`; `EAFNOSUPPORT` where the kernel has no packet sockets.
    pub fn open() -> io::Result<Self> {
        // With protocol 0 it receives nothing until it is bound.
        // SAFETY: socket takes integers only.
        let descriptor =
            unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just returned this descriptor to us alone.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }.into())
    }
}

impl From<OwnedFd> for PacketSocket {
    /// A socket that was opened as [`PacketSocket::open`] does, in whichever namespace.
    fn from(descriptor: OwnedFd) -> Self {
        Self {
            descriptor,
            is_lent: AtomicBool::new(false),
        }
    }
}

impl From<PacketSocket> for OwnedFd {
    fn from(socket: PacketSocket) -> Self {
        socket.descriptor
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Sees the handshakes of one port, from its making until it is dropped.
#[derive(Debug)]
pub struct SegmentTap {
    ring: Ring,
    lost: u64,
}

impl SegmentTap {
    /// Begins to look at segments that go to `port` or come from it.
    ///
    /// # Errors
    /// [`TapError::InUse`] where the socket is in use; what the kernel answers otherwise.
    pub fn start(
        socket: &Arc<PacketSocket>,
        port: u16,
        interfaces: Interfaces,
    ) -> Result<Self, TapError> {
        if socket.is_lent.swap(true, Ordering::Acquire) {
            return Err(TapError::InUse);
        }
        let loan = SocketGuard(Arc::clone(socket));
        filter::attach(&loan.0, &filter::handshakes_of(port))?;
        let only_incoming = interfaces == Interfaces::Loopback;
        options::set(
            &loan.0,
            libc::PACKET_IGNORE_OUTGOING,
            &libc::c_int::from(only_incoming),
        )?;
        let ring = Ring::new(loan)?;
        let mut tap = Self { ring, lost: 0 };
        // Last of all: from here on it receives, and only what the filter lets pass.
        options::bind(tap.ring.socket(), interfaces)?;
        // What was lost before, of an earlier observer.
        options::take_losses(tap.ring.socket())?;
        tap.lost = 0;
        Ok(tap)
    }

    /// Shows everything that has come since the last call, in order.
    pub fn read(&mut self, mut visit: impl FnMut(&Segment<'_>)) {
        let offset_ns = realtime_ahead_ns();
        self.ring.read(|frame| {
            let monotonic_ns = frame.realtime_ns.saturating_add_signed(-offset_ns);
            if let Some(segment) = Segment::parse(&frame, monotonic_ns) {
                visit(&segment);
            }
        });
    }

    /// Segments so far that found no room, because [`SegmentTap::read`] was called too seldom.
    ///
    /// # Errors
    /// As `getsockopt(2)`.
    pub fn lost(&mut self) -> io::Result<u64> {
        self.lost += u64::from(options::take_losses(self.ring.socket())?);
        Ok(self.lost)
    }
}

/// How far `CLOCK_REALTIME`, the clock of the kernel's time stamps, is ahead of `CLOCK_MONOTONIC`: the tightest of three
/// readings, good to some tens of nanoseconds unless the clock is set meanwhile.
fn realtime_ahead_ns() -> i64 {
    let reading = |_| {
        let before_ns = monotonic_ns();
        let realtime = clock_gettime(ClockId::Realtime);
        let took_ns = monotonic_ns() - before_ns;
        let realtime_ns =
            realtime.tv_sec.cast_unsigned() * SECOND_NS + realtime.tv_nsec.cast_unsigned();
        let middle_ns = before_ns + took_ns / 2;
        (took_ns, realtime_ns.wrapping_sub(middle_ns).cast_signed())
    };
    let tightest = (0..3).map(reading).min();
    tightest.expect("three readings").1
}

/// The right to use the socket. Given back, it lets nothing pass: a packet socket cannot be unbound.
#[derive(Debug)]
struct SocketGuard(Arc<PacketSocket>);

impl Drop for SocketGuard {
    fn drop(&mut self) {
        // If that fails it goes on receiving what nobody reads, which costs little and disturbs nobody.
        let _ = filter::attach(&self.0, &filter::nothing());
        self.0.is_lent.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
