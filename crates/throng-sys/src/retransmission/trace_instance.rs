//! A trace buffer of our own, for some of the kernel's trace events (Documentation/trace/ftrace.rst, "Instances";
//! Documentation/trace/events.rst).
//!
//! It is a directory in tracefs, which is mounted for ourselves alone where the host has not mounted it. The kernel keeps it
//! until it is removed: those of processes that were killed are removed by whoever makes the next.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::{Errno, write};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::kernel_file::{read_again, with_context};

/// The buffer, until it is dropped.
#[derive(Debug)]
pub(super) struct TraceInstance {
    // Before the directory: nobody may read a buffer while it is removed.
    pipe: File,
    directory: Directory,
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
}

#[derive(Debug)]
struct Directory {
    instances: OwnedFd,
    name: String,
    /// The directory itself.
    opened: OwnedFd,
}

impl TraceInstance {
    /// Makes one that holds `kilobytes` on each CPU, with times of `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// `PermissionDenied` for whoever is not root; `NotFound` where the kernel has none (`CONFIG_FTRACE`).
    pub(super) fn make(kilobytes: usize) -> io::Result<Self> {
        let directory = Directory::make().map_err(|error| {
            with_context(&error, "cannot make a trace buffer (tracefs/instances)")
        })?;
        directory.set("trace_clock", "mono")?;
        directory.set("buffer_size_kb", &kilobytes.to_string())?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        Ok(Self {
            pipe: directory.open("trace_pipe", flags)?.into(),
            directory,
            rest: Vec::new(),
        })
    }

    /// Has it hold the events (`tcp/tcp_retransmit_skb`) that this is true of, from now on.
    ///
    /// # Errors
    /// `NotFound` where the kernel has no such event, `InvalidInput` where the event has no such field.
    pub(super) fn add(&self, event: &str, filter: &str) -> io::Result<()> {
        let file = |name: &str| format!("events/{event}/{name}");
        self.directory.set(&file("filter"), filter)?;
        self.directory.set(&file("enable"), "1")
    }

    /// Takes the events that have come since, in order, a line each.
    ///
    /// # Errors
    /// What reading answers.
    pub(super) fn read(&mut self, mut visit: impl FnMut(&str)) -> io::Result<()> {
        // The kernel gives a page at most at a time.
        let mut piece = [0; 16 << 10];
        loop {
            match self.pipe.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(length) => self.rest.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            let whole = self.rest.iter().rposition(|&byte| byte == b'\n');
            let whole_bytes = whole.map_or(0, |last| last + 1);
            for line in String::from_utf8_lossy(&self.rest[..whole_bytes]).lines() {
                visit(line);
            }
            self.rest.drain(..whole_bytes);
        }
    }

    /// Events so far that found no room.
    ///
    /// # Errors
    /// What reading answers.
    pub(super) fn lost(&self) -> io::Result<u64> {
        let mut lost = 0;
        for cpu in names_in(&self.directory.open("per_cpu", OFlags::RDONLY)?)? {
            let stats = self.directory.read(&format!("per_cpu/{cpu}/stats"))?;
            lost += lost_of(&stats);
        }
        Ok(lost)
    }
}

/// Of a file `stats`: a line for each number, `overrun: 0`.
fn lost_of(stats: &str) -> u64 {
    let count = |line: &str| {
        let (name, count) = line.split_once(": ")?;
        let tells_of_loss = matches!(name, "overrun" | "commit overrun" | "dropped events");
        tells_of_loss.then(|| count.trim().parse::<u64>().ok())?
    };
    stats.lines().filter_map(count).sum()
}

impl Directory {
    fn make() -> io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let instances = openat(open_tracefs()?, "instances", flags, Mode::empty())?;
        remove_those_left_behind(&instances);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        mkdirat(&instances, &name, Mode::RWXU)?;
        let opened = openat(&instances, &name, flags, Mode::empty())
            .inspect_err(|_| remove(&instances, &name))?;
        Ok(Self {
            instances,
            name,
            opened,
        })
    }

    fn open(&self, file: &str, flags: OFlags) -> io::Result<OwnedFd> {
        openat(&self.opened, file, flags | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| with_context(&error.into(), format_args!("cannot open {file}")))
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        let opened = self.open(file, OFlags::WRONLY | OFlags::TRUNC)?;
        // The kernel takes it whole or refuses it.
        write(opened, value.as_bytes()).map_err(|error| {
            with_context(
                &error.into(),
                format_args!("cannot write {value} to {file}"),
            )
        })?;
        Ok(())
    }

    fn read(&self, file: &str) -> io::Result<String> {
        let text = read_again(&self.open(file, OFlags::RDONLY)?.into())?;
        String::from_utf8(text).map_err(io::Error::other)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        remove(&self.instances, &self.name);
    }
}

/// If it fails, the next to make one tries again.
fn remove(instances: &OwnedFd, name: &str) {
    let _ = unlinkat(instances, name, AtFlags::REMOVEDIR);
}

/// What is ours in tracefs begins so; the number of the process follows.
const PREFIX: &str = "throng-";

fn remove_those_left_behind(instances: &OwnedFd) {
    for name in names_in(instances).unwrap_or_default() {
        if is_left_behind(&name) {
            remove(instances, &name);
        }
    }
}

fn is_left_behind(name: &str) -> bool {
    let process = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split('-').next());
    process.is_some_and(|process| !Path::new("/proc").join(process).exists())
}

fn names_in(directory: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    Ok(names)
}

/// Where the host has mounted it, or a mount that only this descriptor reaches.
fn open_tracefs() -> Result<OwnedFd, Errno> {
    const MOUNTED: &str = "/sys/kernel/tracing";
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, MOUNTED, flags, Mode::empty())?;
    if openat(&directory, "instances", flags, Mode::empty()).is_ok() {
        return Ok(directory);
    }
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let (flags, attributes) = (FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty());
    fsmount(context.as_fd(), flags, attributes)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Above the greatest number that there can be (`PID_MAX_LIMIT`).
    const NO_PROCESS: u32 = 4_194_305;

    #[test]
    fn all_ways_to_lose_an_event_count() {
        let stats = "entries: 7\noverrun: 3\ncommit overrun: 2\nbytes: 52\noldest event ts:  7.1\ndropped events: 40\nread events: 9\n";
        assert_eq!(lost_of(stats), 45);
        assert_eq!(lost_of(""), 0);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let Ok(instance) = TraceInstance::make(4) else {
            return;
        };
        // Each sleep is one.
        instance.add("sched/sched_switch", "next_pid >= 0").unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while instance.lost().unwrap() == 0 {
            assert!(Instant::now() < deadline, "nothing is lost");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn only_those_of_processes_that_are_no_more_are_left_behind() {
        let own = std::process::id();
        for (name, is_so) in [
            (format!("{PREFIX}{own}-3"), false),
            (format!("{PREFIX}{NO_PROCESS}-0"), true),
            ("somebody-elses".to_owned(), false),
        ] {
            assert_eq!(is_left_behind(&name), is_so, "{name}");
        }
    }

    #[test]
    fn one_is_gone_once_it_is_dropped_and_an_event_that_there_is_not_is_named() {
        let Ok(instance) = TraceInstance::make(64) else {
            return;
        };
        let error = instance.add("tcp/no_such_event", "dport == 1").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("no_such_event"), "{error}");
        let name = instance.directory.name.clone();
        let instances = instance.directory.instances.try_clone().unwrap();
        assert!(names_in(&instances).unwrap().contains(&name));
        drop(instance);
        assert!(!names_in(&instances).unwrap().contains(&name));
    }

    #[test]
    fn one_that_a_killed_process_left_behind_is_removed() {
        let Ok(instance) = TraceInstance::make(64) else {
            return;
        };
        let instances = instance.directory.instances.try_clone().unwrap();
        let left_behind = format!("{PREFIX}{NO_PROCESS}-0");
        mkdirat(&instances, &left_behind, Mode::RWXU).unwrap();
        TraceInstance::make(64).unwrap();
        assert!(!names_in(&instances).unwrap().contains(&left_behind));
    }
}
