//! Processes that outlive whoever started them: becoming their parent, finding them, ending them.
//!
//! A process that goes into the background forks, lets its parent end and takes a session of its own (`daemon(7)`). Without more it becomes a child of
//! `init`, and nobody knows any longer whose it was. A *child subreaper* (`PR_SET_CHILD_SUBREAPER`, `prctl(2)`) takes init's place for its
//! descendants, without any privilege.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use procfs::process::Stat;

use crate::{process, signal};

/// How often those that were killed are looked at.
const POLL: Duration = Duration::from_millis(2);

/// A process, and what it calls itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Orphan {
    /// Its id.
    pub pid: u32,
    /// Its name (`/proc/PID/comm`).
    pub name: String,
}

/// Makes this process the parent of those of its descendants whose parents end, from now on.
///
/// # Errors
/// As `prctl(2)`: kernels before 3.4 do not know it.
pub fn adopt() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(io::Error::from)
}

/// What lives of the process group that `leader` led, and what has come to this process as an orphan: its children in sessions other than its own.
/// (None of our own children takes a session.) `leader` itself is not among them.
///
/// # Errors
/// Only if `/proc` itself cannot be read.
pub fn left_by(leader: u32) -> io::Result<Vec<Orphan>> {
    let left = stats_of_left(leader)?.into_iter();
    let living = left.filter(|stat| !is_ended(stat));
    Ok(living
        .map(|stat| Orphan {
            pid: stat.pid.cast_unsigned(),
            name: stat.comm,
        })
        .collect())
}

/// Kills all that [`left_by`] tells, and what these leave in turn, for so long at most; takes the statuses of those that are children of this
/// process.
///
/// # Errors
/// As [`left_by`]. A process of another user that cannot be killed is no error, and stays.
pub fn end(leader: u32, patience: Duration) -> io::Result<()> {
    let deadline = Instant::now() + patience;
    loop {
        let left = stats_of_left(leader)?;
        if left.is_empty() || Instant::now() >= deadline {
            return Ok(());
        }
        for stat in left {
            if is_ended(&stat) {
                take_status(stat.pid);
            } else {
                let _ = signal::kill_process(stat.pid.cast_unsigned());
            }
        }
        std::thread::sleep(POLL);
    }
}

fn stats_of_left(leader: u32) -> io::Result<Vec<Stat>> {
    let mut buffer = Vec::with_capacity(512);
    let own_pid = rustix::process::getpid().as_raw_nonzero().get();
    // From `/proc` and not by `getsid(2)`: in a container whose session began outside, that is 0, which rustix does not take for an answer.
    let own_session = process::stat(std::process::id(), &mut buffer)?.session;
    let leader = leader.cast_signed();
    let is_left = |stat: &Stat| {
        let is_of_group = stat.pgrp == leader && (!is_ended(stat) || stat.ppid == own_pid);
        let is_adopted = stat.ppid == own_pid && stat.session != own_session;
        stat.pid != leader && (is_of_group || is_adopted)
    };
    let all: BTreeSet<u32> = process::numbers_in("/proc")?.into_iter().collect();
    // Those that cannot be read are gone meanwhile, or hidden from this user, and then not ours.
    let stats = all
        .into_iter()
        .filter_map(|pid| process::stat(pid, &mut buffer).ok());
    Ok(stats.filter(is_left).collect())
}

fn is_ended(stat: &Stat) -> bool {
    matches!(stat.state, 'Z' | 'X')
}

fn take_status(pid: i32) {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else {
        return;
    };
    // One that somebody else waits for is gone as well.
    let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
}
