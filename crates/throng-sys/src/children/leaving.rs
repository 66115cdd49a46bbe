//! How a process that blocks in reads and writes is told to leave: a signal handler shuts the connection under it.
//!
//! *Method.* SIGTERM and SIGINT end the connection's input: the blocked read returns what has come, then the end of
//! input, and the ordinary path to the end of a connection runs. [`AT_ONCE`] ends its output too, which wakes a write that
//! blocks because the peer does not read; it returns how much it had sent. `shutdown(2)` may be called in a handler
//! (`signal-safety(7)`). An interrupted call is restarted (`SA_RESTART`): the loop around it knows nothing of signals.
//!
//! *The race* between a connection and a signal that comes before the handler knows of it is closed by order: the
//! connection is made known first and the request looked at afterwards, the handler does the opposite. A process that blocks
//! in accept is woken by whoever shuts the listener down, and one that waits for a time holds the signals back until it
//! does (`ppoll(2)`): there is no descriptor to watch, which each child would have to have.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering::SeqCst};
use std::time::Duration;

use rustix::process::Signal;

use crate::clock::monotonic_ns;
use crate::signal;

/// Asks a child to leave without being polite to its peer.
pub(super) const AT_ONCE: Signal = Signal::USR1;

/// The signals that are handled here.
pub(super) const SIGNALS: [libc::c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGUSR1];

const NOBODY: i32 = -1;
const NOT_ASKED: u8 = 0;
const ASKED: u8 = 1;
const ASKED_AT_ONCE: u8 = 2;

static CONNECTION: AtomicI32 = AtomicI32::new(NOBODY);
static REQUEST: AtomicU8 = AtomicU8::new(NOT_ASKED);

/// In a forked child: whether it has been asked to leave, and the connection that ends then.
#[derive(Debug)]
pub struct Leaving(());

impl Leaving {
    pub(super) fn install() -> io::Result<Self> {
        // The parent may be such a child itself.
        CONNECTION.store(NOBODY, SeqCst);
        REQUEST.store(NOT_ASKED, SeqCst);
        for number in SIGNALS {
            // SAFETY: the handler changes atomics and calls shutdown(2), nothing else.
            unsafe { signal::handle(number, on_signal) }?;
        }
        signal::unblock(&SIGNALS)?;
        Ok(Self(()))
    }

    /// Whether this process has been asked to leave.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        REQUEST.load(SeqCst) != NOT_ASKED
    }

    /// Runs `serve`, during which a request to leave ends the connection's input, so that what has come can be
    /// answered; a request that came before does so at once.
    pub fn while_serving<T>(&self, connection: BorrowedFd<'_>, serve: impl FnOnce() -> T) -> T {
        CONNECTION.store(connection.as_raw_fd(), SeqCst);
        let _forget = Forget;
        end_as_asked();
        serve()
    }

    /// Waits for so long and never less, or until this process is asked to leave, which may have happened already.
    pub fn sit_out(&self, length: Duration) {
        let length_ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = monotonic_ns().saturating_add(length_ns);
        // It fails only for an unknown way of changing the mask.
        let Ok(held) = signal::Held::new(&SIGNALS) else {
            return;
        };
        while !self.is_asked() {
            match until_ns.saturating_sub(monotonic_ns()) {
                0 => return,
                left_ns => held.wait(left_ns),
            }
        }
    }
}

/// The descriptor's number may be another file's from here on.
struct Forget;

impl Drop for Forget {
    fn drop(&mut self) {
        CONNECTION.store(NOBODY, SeqCst);
    }
}

extern "C" fn on_signal(number: libc::c_int) {
    let request = if number == AT_ONCE.as_raw() {
        ASKED_AT_ONCE
    } else {
        ASKED
    };
    REQUEST.fetch_max(request, SeqCst);
    // SAFETY: the location is this thread's own, and always valid. The interrupted code may be about to read it.
    unsafe {
        let errno = *libc::__errno_location();
        end_as_asked();
        *libc::__errno_location() = errno;
    }
}

/// Called in a signal handler: async-signal-safe calls only.
fn end_as_asked() {
    let how = match REQUEST.load(SeqCst) {
        NOT_ASKED => return,
        ASKED => libc::SHUT_RD,
        _ => libc::SHUT_RDWR,
    };
    let connection = CONNECTION.load(SeqCst);
    if connection != NOBODY {
        // SAFETY: the descriptor is borrowed for as long as it is known here. It fails on a connection that is already
        // reset, which is about to be read.
        unsafe { libc::shutdown(connection, how) };
    }
}
