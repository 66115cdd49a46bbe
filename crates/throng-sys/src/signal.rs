//! Termination as a readable descriptor, so that an event loop meets SIGTERM like any other event; and the ending of
//! process groups that we started.
//!
//! SIGHUP, which a terminal that is closed sends, means the same, unless it was ignored from the start on (`nohup(1)`).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Pid, Signal};

use crate::clock::SECOND_NS;

/// SIGTERM, SIGINT and SIGHUP, blocked in this thread (and in threads it starts later) and readable from here instead.
#[derive(Debug)]
pub struct Termination {
    fd: OwnedFd,
}

impl Termination {
    /// Takes the signals over. Call it before any other thread exists: one that was started earlier still has the
    /// signals unblocked and would die of them.
    ///
    /// # Errors
    /// As `signalfd(2)`.
    pub fn take_over() -> io::Result<Self> {
        let signals = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
        // A signal that is blocked would be heard although it is ignored.
        let is_hangup_ignored = is_ignored(libc::SIGHUP)?;
        let fd = take_over(&signals[..if is_hangup_ignored { 2 } else { 3 }])?;
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

/// SIGCHLD, blocked in this thread and readable instead. Where it is ignored, children would leave no status.
pub(crate) fn take_over_ended_children() -> io::Result<OwnedFd> {
    // SAFETY: SIG_DFL runs no code of ours.
    if unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    take_over(&[libc::SIGCHLD])
}

/// Takes the signals that have come from a descriptor of [`take_over_ended_children`].
pub(crate) fn take_all(fd: &OwnedFd) -> io::Result<()> {
    let mut information = [0_u8; size_of::<libc::signalfd_siginfo>()];
    loop {
        match rustix::io::read(fd, &mut information) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_ignored(signal: libc::c_int) -> io::Result<bool> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: no new action is given, and the place for the old one is valid; the call initialises it unless it fails.
    let action = unsafe {
        if libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        action.assume_init()
    };
    Ok(action.sa_sigaction == libc::SIG_IGN)
}

fn take_over(signals: &[libc::c_int]) -> io::Result<OwnedFd> {
    let set = set_of(signals);
    change_mask(libc::SIG_BLOCK, &set)?;
    // SAFETY: `set` is initialised, -1 asks for a new descriptor.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Signals that this thread does not take until this is dropped.
pub(crate) struct Held {
    before: libc::sigset_t,
}

impl Held {
    pub(crate) fn new(signals: &[libc::c_int]) -> io::Result<Self> {
        let before = change_mask(libc::SIG_BLOCK, &set_of(signals))?;
        Ok(Self { before })
    }

    /// Waits for so long, or until a handler has run: meanwhile, and only then, this thread takes what it took before.
    /// One that came earlier runs at once, so none is missed between a look at what it changes and the wait.
    pub(crate) fn wait(&self, length_ns: u64) {
        let length = libc::timespec {
            tv_sec: (length_ns / SECOND_NS).cast_signed(),
            tv_nsec: (length_ns % SECOND_NS).cast_signed(),
        };
        // SAFETY: no descriptor is looked at, so there is no list of them; the time and the mask live during the call. It
        // fails when a handler has run, as it is to, or with a length that no clock has.
        unsafe {
            libc::ppoll(
                std::ptr::null_mut(),
                0,
                &raw const length,
                &raw const self.before,
            )
        };
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // It fails only for an unknown way of changing the mask.
        let _ = change_mask(libc::SIG_SETMASK, &self.before);
    }
}

/// Lets this thread take the signals.
pub(crate) fn unblock(signals: &[libc::c_int]) -> io::Result<()> {
    change_mask(libc::SIG_UNBLOCK, &set_of(signals)).map(drop)
}

/// Has `handler` run at a signal. Calls that it interrupts are restarted.
///
/// # Safety
/// `handler` must keep to async-signal-safe calls (`signal-safety(7)`).
pub(crate) unsafe fn handle(
    signal: libc::c_int,
    handler: extern "C" fn(libc::c_int),
) -> io::Result<()> {
    let action = libc::sigaction {
        sa_sigaction: handler as libc::sighandler_t,
        sa_mask: set_of(&[]),
        sa_flags: libc::SA_RESTART,
        sa_restorer: None,
    };
    // SAFETY: `action` is whole, its handler takes what a handler without SA_SIGINFO is given; no old one is asked for.
    match unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The mask as it was before.
fn change_mask(how: libc::c_int, set: &libc::sigset_t) -> io::Result<libc::sigset_t> {
    let mut before = set_of(&[]);
    // SAFETY: both sets are initialised, and live during the call.
    match unsafe { libc::pthread_sigmask(how, set, &raw mut before) } {
        0 => Ok(before),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set that sigaddset then changes; a number that is no signal changes nothing.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
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

/// Has a child tell its id, in a line after `word` and a blank, before it becomes another program: who reads there knows of it before it can do anything.
/// `to` must stay open until the child has been started. Where the line cannot be written the child starts all the same.
pub fn announce<'a>(command: &'a mut Command, to: BorrowedFd<'_>, word: &str) -> &'a mut Command {
    let to = to.as_raw_fd();
    let mut line = format!("{word} ").into_bytes();
    let digits_begin = line.len();
    // Allocated here, since the child must not: the longest id, and the line's end.
    line.extend_from_slice(&[b'\n'; 11]);
    // SAFETY: between fork and exec only async-signal-safe calls are made: getpid, signal, write. Nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            let end = put_digits(&mut line[digits_begin..], libc::getpid().cast_unsigned());
            // Nobody may read there any more, which is no reason to die.
            libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            libc::write(to, line.as_ptr().cast(), digits_begin + end);
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            Ok(())
        })
    }
}

/// Writes a number and a line's end; how many bytes that are.
fn put_digits(into: &mut [u8], number: u32) -> usize {
    let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut left = number;
    for place in (0..digits).rev() {
        into[place] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    into[digits] = b'\n';
    digits + 1
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

/// Asks one process to end (SIGTERM), as a supervisor does. One that is already gone is no error.
///
/// # Errors
/// EPERM where it belongs to another user.
pub fn terminate_process(process: u32) -> io::Result<()> {
    signal_process(process, Signal::TERM)
}

/// Ends one process at once (SIGKILL). One that is already gone is no error.
///
/// # Errors
/// As [`terminate_process`].
pub fn kill_process(process: u32) -> io::Result<()> {
    signal_process(process, Signal::KILL)
}

fn signal_process(process: u32, signal: Signal) -> io::Result<()> {
    let Some(process) = Pid::from_raw(process.cast_signed()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "0 is no process",
        ));
    };
    match rustix::process::kill_process(process, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
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
    fn a_process_is_ended_alone() {
        let start = || Command::new("sleep").arg("1000").spawn().expect("a sleep");
        let (mut first, mut second) = (start(), start());
        terminate_process(first.id()).expect("signalled");
        assert!(!first.wait().expect("reaped").success());
        assert!(second.try_wait().expect("a child").is_none());
        kill_process(second.id()).expect("signalled");
        assert!(!second.wait().expect("reaped").success());
        assert!(kill_process(0).is_err());
    }

    #[test]
    fn process_group_zero_is_refused() {
        assert!(terminate_group(0).is_err());
    }
}
