//! What another process has used: its CPU time to the nanosecond, its line in `/proc/PID/stat`, its memory.
//!
//! The CPU time comes from the process's own CPU clock (`clock_getcpuclockid(3)`, `clock_gettime(2)`), which
//! counts nanoseconds where `/proc/PID/stat` counts hundredths of a second, includes threads that have exited,
//! and needs no permission. It excludes children. Limit of its accuracy: for another process's thread that is
//! *running* at that moment, the kernel has accounted only up to the last scheduler tick (at most
//! 1 / `CONFIG_HZ`, 1 to 10 ms per running thread; `thread_group_cputime` in kernel/sched/cputime.c).

use std::io;

use procfs::process::Stat;
use procfs::{FromRead, ProcError};

use crate::kernel_file::{self, unexpected_content, with_context};

/// The CPU time that all threads of process `pid`, living and exited, have used since it started, in
/// nanoseconds. Still answers for a zombie, until its parent has waited for it.
///
/// # Errors
/// [`is_gone`] if there is no such process (any more); `InvalidInput` if `pid` cannot be one.
pub fn cpu_time_ns(pid: u32) -> io::Result<u64> {
    let id = process_id(pid)?;
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` is a valid place for the one value that the function writes.
    match unsafe { libc::clock_getcpuclockid(id, &raw mut clock) } {
        0 => {}
        libc::ESRCH => return Err(gone(pid)),
        number => {
            let error = io::Error::from_raw_os_error(number);
            return Err(with_context(
                &error,
                format_args!("no CPU clock of process {pid}"),
            ));
        }
    }
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the one value that the function writes.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        let error = io::Error::last_os_error();
        // The clock of a process that has vanished since is an invalid one.
        return Err(match error.raw_os_error() {
            Some(libc::EINVAL | libc::ESRCH) => gone(pid),
            _ => with_context(
                &error,
                format_args!("cannot read the CPU clock of process {pid}"),
            ),
        });
    }
    // A CPU clock starts at zero: neither part is ever negative.
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Whether `error`, from a function of this crate that asks about a process, says that the process is not there.
pub fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// Resident memory of one process, in bytes, exact at the moment of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// Resident set size: every page mapped, shared ones in full.
    pub rss_bytes: u64,
    /// Proportional set size: a page shared by n processes counts 1/n. Adds up over processes.
    pub pss_bytes: u64,
    /// The part of it that is no file's: heap, stacks, buffers. A program's text, which grows and shrinks by who else runs
    /// the same program, is not in it.
    pub anonymous_pss_bytes: u64,
}

/// Resident memory of process `pid` from `/proc/PID/smaps_rollup`. Walks all its page tables under its memory
/// map's lock: about 10 ms per gigabyte, felt by the process if it maps memory meanwhile.
///
/// # Errors
/// [`is_gone`] if there is no such process (any more) or it is a zombie, which has no memory;
/// `PermissionDenied` for a process that the caller could not trace (`ptrace(2)`).
pub fn memory(pid: u32) -> io::Result<Memory> {
    process_id(pid)?;
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = std::fs::read_to_string(&path).map_err(|error| absence(pid, &error, &path))?;
    let bytes = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
        Some(kibibytes * 1024)
    };
    match (bytes("Rss:"), bytes("Pss:"), bytes("Pss_Anon:")) {
        (Some(rss_bytes), Some(pss_bytes), Some(anonymous_pss_bytes)) => Ok(Memory {
            rss_bytes,
            pss_bytes,
            anonymous_pss_bytes,
        }),
        // A process whose memory went away while the file was open reads as empty.
        _ if text.is_empty() => Err(gone(pid)),
        _ => Err(unexpected_content(path, "no Rss, Pss and Pss_Anon in kB")),
    }
}

/// The process's line in `/proc/PID/stat` (`proc_pid_stat(5)`), read into `buffer`.
pub(crate) fn stat(pid: u32, buffer: &mut Vec<u8>) -> io::Result<Stat> {
    let path = format!("/proc/{pid}/stat");
    buffer.clear();
    std::fs::File::open(&path)
        .and_then(|mut file| io::Read::read_to_end(&mut file, buffer))
        .map_err(|error| absence(pid, &error, &path))?;
    Stat::from_read(buffer.as_slice()).map_err(|error| match error {
        ProcError::NotFound(_) => gone(pid),
        other => unexpected_content(path, other),
    })
}

/// Context switches of one thread from `/proc/PID/task/TID/status`: voluntary, involuntary.
pub(crate) fn context_switches(pid: u32, thread: u32) -> io::Result<(u64, u64)> {
    let path = format!("/proc/{pid}/task/{thread}/status");
    let status = std::fs::read(&path).map_err(|error| absence(thread, &error, &path))?;
    let status = String::from_utf8_lossy(&status);
    let count = |name: &str| {
        let value = status
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.trim().parse().ok())
    };
    match (
        count("voluntary_ctxt_switches:"),
        count("nonvoluntary_ctxt_switches:"),
    ) {
        (Some(voluntary), Some(involuntary)) => Ok((voluntary, involuntary)),
        _ => Err(unexpected_content(path, "no context switches")),
    }
}

/// What the scheduler has given one thread so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadTime {
    /// How long it ran.
    pub(crate) ran_ns: u64,
    /// How long it waited for a CPU though it could have run.
    pub(crate) waited_ns: u64,
}

/// From `/proc/PID/task/TID/schedstat`; `None` where the kernel does not count it (`CONFIG_SCHED_INFO`).
pub(crate) fn thread_time(pid: u32, thread: u32) -> io::Result<Option<ThreadTime>> {
    let path = format!("/proc/{pid}/task/{thread}/schedstat");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Err(absence(thread, &error, &path)),
    };
    let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (Some(Ok(ran_ns)), Some(Ok(waited_ns))) = (fields.next(), fields.next()) else {
        return Err(unexpected_content(path, "no run delay"));
    };
    // A thread that never ran cannot be asked; a kernel that does not count says 0 of all.
    Ok((ran_ns > 0).then_some(ThreadTime { ran_ns, waited_ns }))
}

/// The thread ids of process `pid`, from `/proc/PID/task`.
pub(crate) fn threads(pid: u32) -> io::Result<Vec<u32>> {
    numbers_in(&format!("/proc/{pid}/task"))
        .map_err(|error| if is_gone(&error) { gone(pid) } else { error })
}

/// The entries of a directory whose names are numbers, others left out.
pub(crate) fn numbers_in(directory: &str) -> io::Result<Vec<u32>> {
    let listed = || -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            numbers.extend(
                entry?
                    .file_name()
                    .to_str()
                    .and_then(|name| name.parse::<u32>().ok()),
            );
        }
        Ok(numbers)
    };
    listed().map_err(|error| match error.raw_os_error() {
        Some(libc::ESRCH) => io::Error::new(io::ErrorKind::NotFound, format!("{directory}: gone")),
        _ => kernel_file::with_context(&error, format_args!("cannot list {directory}")),
    })
}

/// The id in the system's own type. 0 would mean the caller itself, which no caller of this module means.
fn process_id(pid: u32) -> io::Result<libc::pid_t> {
    libc::pid_t::try_from(pid)
        .ok()
        .filter(|&id| id > 0)
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{pid} is not a process id"),
            )
        })
}

fn absence(pid: u32, error: &io::Error, path: &str) -> io::Error {
    // ESRCH: the file was opened in time, but the process went away before it was read.
    if is_gone(error) {
        gone(pid)
    } else {
        with_context(error, format_args!("cannot read {path}"))
    }
}

fn gone(pid: u32) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("process {pid} is not running (any more)"),
    )
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn own_cpu_time_grows_with_work_and_includes_exited_threads() {
        let own = std::process::id();
        let before = cpu_time_ns(own).unwrap();
        let burnt_ns = std::thread::spawn(|| {
            let thread_ns = || {
                let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
                time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
            };
            let mut sum = 0_u64;
            while thread_ns() < 20_000_000 {
                sum = black_box(sum.wrapping_add(1));
            }
            thread_ns()
        })
        .join()
        .unwrap();
        assert!(cpu_time_ns(own).unwrap() - before >= burnt_ns);
    }

    #[test]
    fn a_child_has_a_clock_until_it_has_been_waited_for() {
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        assert!(cpu_time_ns(pid).unwrap() < 10_000_000_000);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&cpu_time_ns(pid).unwrap_err()));
        assert!(is_gone(&memory(pid).unwrap_err()));
        assert!(is_gone(&threads(pid).unwrap_err()));
    }

    #[test]
    fn impossible_ids_are_refused() {
        for pid in [0, u32::MAX] {
            assert_eq!(
                cpu_time_ns(pid).unwrap_err().kind(),
                io::ErrorKind::InvalidInput
            );
            assert_eq!(memory(pid).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn memory_that_is_touched_is_resident() {
        let own = std::process::id();
        let before = memory(own).unwrap();
        let block = black_box(vec![1_u8; 32 << 20]);
        let after = memory(own).unwrap();
        drop(block);
        assert!(after.pss_bytes <= after.rss_bytes);
        assert!(
            after.rss_bytes > before.rss_bytes + (16 << 20),
            "{before:?} {after:?}"
        );
    }
}
