//! `fork(2)`, made safe: only from a process with one thread, and nothing of the parent is unwound or dropped in the child.
//!
//! *Why one thread.* A fork copies the calling thread only. Locks that others hold (the allocator's, for one) stay
//! locked in the child for ever, which is why it may call almost nothing (`signal-safety(7)`). Where there is no other
//! thread the copy is whole, and the child may run any code.

use std::io;
use std::mem;
use std::os::unix::fs::MetadataExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use super::leaving::{self, Leaving};
use crate::signal;

/// Why there is no child.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The process has other threads.
    #[error(
        "it forks, and this process has {0} threads, of which a fork would copy one; serve in a process of its own"
    )]
    Threads(u64),
    /// The kernel refused, usually for want of room.
    #[error(transparent)]
    Kernel(#[from] io::Error),
}

impl From<ForkError> for io::Error {
    fn from(error: ForkError) -> Self {
        match error {
            ForkError::Kernel(error) => error,
            error @ ForkError::Threads(_) => Self::other(error),
        }
    }
}

/// What the shell shows for a program that panicked.
const EXIT_PANICKED: libc::c_int = 101;

pub(super) fn fork(body: impl FnOnce(&Leaving)) -> Result<Pid, ForkError> {
    require_single_thread()?;
    let parent = getpid();
    // What comes before the child can handle it waits until it can.
    let _held = signal::Held::new(&leaving::SIGNALS)?;
    // SAFETY: this process has one thread, so the child is a whole copy of it: no lock is held by a thread that is not
    // there, and any code may run. The child never returns from `run_child`, so what the parent owns is not dropped
    // twice.
    match unsafe { libc::fork() } {
        -1 => Err(ForkError::Kernel(io::Error::last_os_error())),
        0 => run_child(parent, body),
        child => Ok(Pid::from_raw(child).expect("fork returns 0 to the child only")),
    }
}

/// By the link count of the directory of threads, which is two more than there are (proc_task_getattr in
/// fs/proc/base.c): two system calls, little beside a fork.
pub(super) fn require_single_thread() -> Result<(), ForkError> {
    let threads = std::fs::metadata("/proc/self/task")?
        .nlink()
        .saturating_sub(2);
    if threads == 1 {
        Ok(())
    } else {
        Err(ForkError::Threads(threads))
    }
}

fn run_child(parent: Pid, body: impl FnOnce(&Leaving)) -> ! {
    let ran = catch_unwind(AssertUnwindSafe(|| {
        bind_to(parent)?;
        body(&Leaving::install()?);
        io::Result::Ok(())
    }));
    let code = match ran {
        Ok(Ok(())) => 0,
        Ok(Err(_)) => 1,
        Err(panic) => {
            // It has been reported; dropping it could panic again.
            mem::forget(panic);
            EXIT_PANICKED
        }
    };
    // SAFETY: no memory is involved. Not exit(3): what is buffered and registered is the parent's.
    unsafe { libc::_exit(code) }
}

/// The kernel kills this process when its parent ends, which may have happened already.
fn bind_to(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(io::Error::other("the parent ended while its child started"))
    }
}
