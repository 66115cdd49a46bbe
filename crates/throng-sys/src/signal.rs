//! Termination as a readable descriptor, so that an event loop meets SIGTERM like any other event; and the ending of
//! process groups that we started.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Pid, Signal};

/// SIGTERM and SIGINT, blocked in this thread (and in threads it starts later) and readable from here instead.
#[derive(Debug)]
pub struct Termination {
    fd: OwnedFd,
}

impl Termination {
    /// Takes both signals over. Call it before any other thread exists: one that was started earlier still has the
    /// signals unblocked and would die of them.
    ///
    /// # Errors
    /// As `signalfd(2)`.
    pub fn take_over() -> io::Result<Self> {
        let set = termination_set();
        // SAFETY: `set` was initialised by sigemptyset; a null old set is allowed.
        let blocked =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        if blocked != 0 {
            return Err(io::Error::from_raw_os_error(blocked));
        }
        // SAFETY: `set` is initialised, -1 asks for a new descriptor.
        let fd =
            unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just returned this descriptor to us alone.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd })
    }

    /// Blocks until one of the signals comes.
    ///
    /// # Errors
    /// As `poll(2)` and `read(2)`.
    pub fn wait(&self) -> io::Result<()> {
        let mut set = crate::poll::PollSet::new();
        set.push(&self.fd, crate::poll::READABLE);
        loop {
            set.wait(None)?;
            if self.take()? {
                return Ok(());
            }
        }
    }

    /// Whether one of the signals has come since the last look; takes it.
    ///
    /// # Errors
    /// As `read(2)`.
    pub fn take(&self) -> io::Result<bool> {
        let mut information = [0_u8; size_of::<libc::signalfd_siginfo>()];
        match rustix::io::read(&self.fd, &mut information) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Termination {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn termination_set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set that sigaddset then changes; both signal numbers are valid.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
        libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
        set.assume_init()
    }
}

/// Prepares a child that leads its own process group, has no signal blocked, and is killed by the kernel when the thread
/// that started it ends: whatever happens to us, no orphan stays.
pub fn bind_to_parent(command: &mut Command) -> &mut Command {
    let parent = std::process::id();
    command.process_group(0);
    // SAFETY: between fork and exec only async-signal-safe calls are made: prctl, getppid, sigemptyset, sigprocmask.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            if libc::getppid().cast_unsigned() != parent {
                return Err(io::Error::other(
                    "the parent ended while its child was starting",
                ));
            }
            let mut none = MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
            Ok(())
        })
    }
}

/// Asks every process of a group to end (SIGTERM). A group that is already gone is no error.
///
/// # Errors
/// EPERM where a process of the group belongs to another user.
pub fn terminate_group(leader: u32) -> io::Result<()> {
    signal_group(leader, Signal::TERM)
}

/// Ends every process of a group at once (SIGKILL). A group that is already gone is no error.
///
/// # Errors
/// As [`terminate_group`].
pub fn kill_group(leader: u32) -> io::Result<()> {
    signal_group(leader, Signal::KILL)
}

fn signal_group(leader: u32, signal: Signal) -> io::Result<()> {
    let Some(group) = Pid::from_raw(leader.cast_signed()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "0 is no process group of ours",
        ));
    };
    debug_assert_ne!(group, Pid::INIT, "never the group of init");
    match rustix::process::kill_process_group(group, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_ended_whole() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & wait"]);
        let mut child = bind_to_parent(&mut command).spawn().expect("a shell");
        terminate_group(child.id()).expect("signalled");
        let status = child.wait().expect("reaped");
        assert!(!status.success());
        kill_group(child.id()).expect("a group that is gone, or going, is no error");
    }

    #[test]
    fn process_group_zero_is_refused() {
        assert!(terminate_group(0).is_err());
    }
}
