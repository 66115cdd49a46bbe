//! The processes that a server forks: each leaves politely when it is told to, none stays, none becomes a zombie.
//!
//! *Method.* [`Children`] forks, keeps the process ids, and is readable when one of them has ended, since
//! SIGCHLD comes through a `signalfd(2)`: one descriptor for any number of children, where a `pidfd` for each would
//! double what a connection costs. An id stays taken until it is waited for, which only happens here, so no signal
//! goes to a stranger. What a child needs to leave is [`Leaving`]; the kernel kills it should its parent die.
//!
//! *Left out on purpose.* Running another program: `std::process::Command` does that.

mod fork;
mod leaving;

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait, waitpid};

use crate::clock::{MILLISECOND_NS, monotonic_ns};
use crate::poll::{PollSet, READABLE};
use crate::signal;

pub use fork::ForkError;
pub use leaving::Leaving;

/// How long those whose last connection has been shut under them have to count what they sent.
const LAST_WORDS_NS: u64 = 200 * MILLISECOND_NS;

/// The children of this process. Dropped, it ends those that are left.
#[derive(Debug)]
pub struct Children {
    living: HashSet<Pid>,
    ended: OwnedFd,
    /// A child has a copy of this, with which it must not end its siblings.
    parent: u32,
}

impl Children {
    /// Takes SIGCHLD over, and the waiting for every child of this process: another one's end is not told to whoever
    /// started it.
    ///
    /// # Errors
    /// [`ForkError::Threads`] where this process has other threads, as it could not fork; otherwise as `signalfd(2)`.
    pub fn take_over() -> Result<Self, ForkError> {
        fork::require_single_thread()?;
        let ended = signal::take_over_ended_children()?;
        Ok(Self {
            living: HashSet::new(),
            ended,
            parent: std::process::id(),
        })
    }

    /// Forks a child that runs `body` and then exits; its process id. The child is a copy of this process, of which it
    /// drops nothing; it has one thread, all descriptors, and [`Leaving`], by which it is told to leave. It dies with
    /// its parent. Its exit code is 0, or 101 if `body` panics.
    ///
    /// # Errors
    /// [`ForkError::Kernel`] with EAGAIN or ENOMEM where there is no room for a further process.
    pub fn fork(&mut self, body: impl FnOnce(&Leaving)) -> Result<u32, ForkError> {
        let child = fork::fork(body)?;
        self.living.insert(child);
        Ok(number(child))
    }

    /// Those that have ended since the last time, and how. To be called when this is readable.
    ///
    /// # Errors
    /// As `waitpid(2)`.
    pub fn reap(&mut self) -> io::Result<Vec<(u32, ExitStatus)>> {
        // Before waiting: who ends from here on makes it readable again.
        signal::take_all(&self.ended)?;
        let mut reaped = Vec::new();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((child, status))) => {
                    if self.living.remove(&child) {
                        reaped.push((number(child), ExitStatus::from_raw(status.as_raw())));
                    }
                }
                Ok(None) => return Ok(reaped),
                Err(Errno::CHILD) => {
                    self.living.clear();
                    return Ok(reaped);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// How many have not been reaped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.living.len()
    }

    /// Whether all have been reaped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.living.is_empty()
    }

    /// Asks every child to leave ([`Leaving`] tells how it does).
    pub fn ask_to_leave(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends those that are left and waits for them: first by shutting the connection under them, so that their counts
    /// become complete, and 200 ms later by SIGKILL.
    ///
    /// # Errors
    /// As `poll(2)` and `waitpid(2)`.
    pub fn end(&mut self) -> io::Result<()> {
        self.signal(leaving::AT_ONCE);
        let until_ns = monotonic_ns() + LAST_WORDS_NS;
        let mut set = PollSet::new();
        set.push(&self.ended, READABLE);
        while !self.is_empty() {
            let left_ns = until_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                break;
            }
            set.wait(Some(left_ns.div_ceil(MILLISECOND_NS) as u32))?;
            self.reap()?;
        }
        self.kill();
        Ok(())
    }

    /// To our own children, none of which has been waited for, a signal cannot fail.
    fn signal(&self, signal: Signal) {
        for &child in &self.living {
            let _ = kill_process(child, signal);
        }
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
        for child in self.living.drain() {
            while let Err(Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
        }
    }
}

impl AsFd for Children {
    /// Readable when a child has ended: then [`Children::reap`].
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        if std::process::id() == self.parent {
            self.kill();
        }
    }
}

fn number(child: Pid) -> u32 {
    child.as_raw_nonzero().get().cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // What a child does is tested in tests/children.rs, in a process that has one thread.
    #[test]
    fn a_process_with_threads_cannot_have_children() {
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || gone.recv());
        let error = Children::take_over().expect_err("this thread is not the only one");
        assert!(
            matches!(error, ForkError::Threads(threads) if threads >= 2),
            "{error}"
        );
        drop(go);
        other.join().expect("no panic").expect_err("hung up");
    }
}
