//! The guard: a process that does nothing but wait for the lab's end, and then ends the process groups that the lab has left.
//!
//! The kernel kills the lab's children with it, but not theirs: a server behind a wrapper script would go on in a network that nobody sees when the
//! lab is killed by a signal that it cannot catch. The guard is told which groups there are over a pipe, whose end of file is the lab's
//! end. A child tells it of its group itself, before it becomes another program: the lab may be killed before it knows that there is one. What took a session of its own by then is not in a group that it knows; the lab itself ends such servers when they go into the background.

use std::collections::BTreeMap;
use std::io::{BufRead, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use throng_sys::{orphans, signal};

/// Killed processes go at once, but for those in the middle of a write to a slow disk.
const PATIENCE: Duration = Duration::from_secs(5);

/// Children are started from wherever they are needed, and all of them are this process's.
static POSTED: Mutex<Option<Child>> = Mutex::new(None);

/// A guard on its post; dismissed when dropped.
#[derive(Debug)]
pub struct Guard(());

impl Guard {
    /// Starts it. Without one a run goes on as well.
    pub fn post(throng_program: &Path) -> Self {
        let mut command = Command::new(throng_program);
        command.arg("guard").stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C in a terminal reaches the lab's own group only.
        command.process_group(0);
        *posted() = command.spawn().ok();
        Self(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut guard) = posted().take() {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}

/// Children that are about to start, in the order in which they were.
static STARTS: AtomicU64 = AtomicU64::new(0);

/// A child that is about to start, and lead a process group.
#[derive(Debug)]
pub(crate) struct Start(u64);

/// Has the child tell of its group.
pub(crate) fn announce(command: &mut Command) -> Start {
    let start = Start(STARTS.fetch_add(1, Relaxed));
    if let Some(pipe) = posted().as_ref().and_then(|guard| guard.stdin.as_ref()) {
        signal::announce(command, pipe.as_fd(), &format!("+{}", start.0));
    }
    start
}

/// It did not become another program, and is gone: its id may be another's soon.
pub(crate) fn withdraw(start: &Start) {
    tell('!', start.0);
}

/// Tells that nothing of it is left.
pub fn forget(leader: u32) {
    tell('-', leader.into());
}

fn tell(what: char, number: u64) {
    if let Some(pipe) = posted().as_mut().and_then(|guard| guard.stdin.as_mut()) {
        // A guard that was killed is missed only where the lab is killed too.
        let _ = writeln!(pipe, "{what}{number}");
    }
}

fn posted() -> std::sync::MutexGuard<'static, Option<Child>> {
    POSTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the guard does: hears of groups, and at the end of `input` ends those that are left.
pub fn stand(input: impl BufRead) {
    let mut groups = BTreeMap::new();
    for line in input.lines().map_while(Result::ok) {
        match line.split_at_checked(1) {
            Some(("+", start)) => {
                let numbers = start.split_once(' ');
                let numbers = numbers.and_then(|(start, leader)| {
                    Some((start.parse::<u64>().ok()?, leader.parse::<u32>().ok()?))
                });
                groups.extend(numbers);
            }
            Some(("-", leader)) => {
                let leader = leader.parse().ok();
                groups.retain(|_, own| Some(*own) != leader);
            }
            Some(("!", start)) => {
                if let Ok(start) = start.parse() {
                    groups.remove(&start);
                }
            }
            _ => {}
        }
    }
    for leader in groups.into_values() {
        let _ = orphans::end(leader, PATIENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started() -> Child {
        let mut command = Command::new("sleep");
        command.arg("1000").process_group(0);
        command.spawn().expect("started")
    }

    #[test]
    fn what_is_left_at_the_end_is_ended_and_what_was_forgotten_is_not() {
        // Of a group the leader counts as the lab's own, which the kernel ends.
        let (mut left, mut forgotten) = (started(), started());
        let mut member = Command::new("sleep");
        member.arg("1000").process_group(left.id().cast_signed());
        let mut member = member.spawn().expect("started");
        let (one, other) = (left.id(), forgotten.id());
        // The third did not start, and its id is that of the second.
        stand(
            format!("+0 {one}\n+1 {other}\nnonsense\n\n-{other}\n+2 {other}\n!2\n+3\n").as_bytes(),
        );
        // Its status may have been taken by the guard, which is its parent here.
        assert!(member.wait().map_or(true, |status| !status.success()));
        assert!(forgotten.try_wait().expect("ours").is_none());
        for child in [&mut left, &mut forgotten] {
            child.kill().expect("ours");
            child.wait().expect("ours");
        }
    }
}
