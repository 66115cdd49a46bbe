//! Which CPUs there are, which of them a thread may use, and restricting it to some.
//!
//! By `sched_setaffinity(2)`. Unlike the system call, which silently leaves out CPUs that are offline or outside
//! the cpuset, a request that cannot be met in full is an error here: a "pinned" measurement that ran elsewhere
//! is worse than none. NUMA placement is left out.

use std::fmt;
use std::io;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::kernel_file::{self, with_context};

/// A set of CPU numbers, written as the kernel writes it: `0,2-3` (`cpuset(7)`, "List format").
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuList {
    /// The CPU numbers, ascending, each once.
    pub cpus: Vec<u32>,
}

impl CpuList {
    /// Parses `0,2-3`. Empty text is the empty set; order and repetition do not matter.
    ///
    /// # Errors
    /// [`CpuListError`] names the part that is wrong.
    pub fn parse(text: &str) -> Result<Self, CpuListError> {
        let text = text.trim();
        let mut cpus = Vec::new();
        if !text.is_empty() {
            for part in text.split(',') {
                cpus.extend(parse_part(part.trim())?);
            }
        }
        Ok(Self::from(cpus))
    }
}

/// The highest CPU number accepted: more than the largest `CONFIG_NR_CPUS` (8192), and small enough that a
/// mistyped range stays harmless.
const CPU_MAX: u32 = 65_535;

fn parse_part(part: &str) -> Result<std::ops::RangeInclusive<u32>, CpuListError> {
    let number = |text: &str| match text.trim().parse::<u32>() {
        Ok(number) if number <= CPU_MAX => Ok(number),
        Ok(_) => Err(CpuListError::TooLarge {
            part: part.to_owned(),
        }),
        Err(_) => Err(CpuListError::NotANumber {
            part: part.to_owned(),
        }),
    };
    let (first, last) = match part.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(part)?, number(part)?),
    };
    if first > last {
        return Err(CpuListError::Backwards {
            part: part.to_owned(),
        });
    }
    Ok(first..=last)
}

impl From<Vec<u32>> for CpuList {
    fn from(mut cpus: Vec<u32>) -> Self {
        cpus.sort_unstable();
        cpus.dedup();
        Self { cpus }
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        Self::parse(text)
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.cpus.chunk_by(|one, next| one + 1 == *next);
        for (index, run) in runs.enumerate() {
            let separator = if index == 0 { "" } else { "," };
            match run {
                [only] => write!(out, "{separator}{only}")?,
                [first, .., last] => write!(out, "{separator}{first}-{last}")?,
                [] => unreachable!("chunk_by yields no empty run"),
            }
        }
        Ok(())
    }
}

/// Why a text is not a [`CpuList`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    /// A part is neither a number nor two numbers with a dash.
    #[error("`{part}` is neither a CPU number nor a range; write for example 0,2-3")]
    NotANumber {
        /// The wrong part, as written.
        part: String,
    },
    /// A range whose end lies before its start.
    #[error("the range `{part}` ends before it starts")]
    Backwards {
        /// The wrong part, as written.
        part: String,
    },
    /// A number that no machine has.
    #[error("`{part}`: no machine has a CPU of that number (at most {CPU_MAX})")]
    TooLarge {
        /// The wrong part, as written.
        part: String,
    },
}

/// The CPUs that the calling thread may run on, ascending; never empty.
pub fn allowed_cpus() -> Vec<u32> {
    let by_system_call = || {
        let set = sched_getaffinity(None).ok()?;
        Some(
            (0..CpuSet::MAX_CPU)
                .filter(|&cpu| set.is_set(cpu))
                .map(|cpu| cpu as u32)
                .collect(),
        )
    };
    // The system call's fixed-size set ends at 1024 CPUs; the text form does not.
    let by_status = || {
        let status = kernel_file::read_if_present("/proc/thread-self/status")?;
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(CpuList::parse(list).ok()?.cpus)
    };
    by_system_call()
        .or_else(by_status)
        .filter(|cpus: &Vec<u32>| !cpus.is_empty())
        .unwrap_or_else(|| vec![sched_getcpu() as u32])
}

/// The CPUs that the machine has online, ascending; those of [`allowed_cpus`] where `/sys` is not mounted.
pub fn online_cpus() -> Vec<u32> {
    kernel_file::read_if_present("/sys/devices/system/cpu/online")
        .and_then(|list| CpuList::parse(&list).ok())
        .map_or_else(allowed_cpus, |list| list.cpus)
}

/// Restricts the calling thread, and every thread that it spawns from now on, to `cpus`.
///
/// # Errors
/// `InvalidInput`, naming the CPUs, if `cpus` is empty or holds one that is offline, outside the cpuset of this
/// process or beyond 1023; the thread may then be left on those of them that do exist.
pub fn set_current_thread(cpus: &[u32]) -> io::Result<()> {
    let wanted = CpuList::from(cpus.to_vec());
    if wanted.cpus.is_empty()
        || wanted
            .cpus
            .iter()
            .any(|&cpu| cpu as usize >= CpuSet::MAX_CPU)
    {
        return Err(unavailable(&wanted));
    }
    let mut set = CpuSet::new();
    for &cpu in &wanted.cpus {
        set.set(cpu as usize);
    }
    match sched_setaffinity(None, &set) {
        Ok(()) if allowed_cpus() == wanted.cpus => Ok(()),
        // EINVAL: not one of them is available.
        Ok(()) | Err(rustix::io::Errno::INVAL) => Err(unavailable(&wanted)),
        Err(error) => Err(with_context(
            &error.into(),
            format_args!("cannot pin the thread to CPUs {wanted}"),
        )),
    }
}

fn unavailable(wanted: &CpuList) -> io::Error {
    let online = CpuList::from(online_cpus());
    let message = if wanted.cpus.is_empty() {
        format!("cannot pin a thread to no CPU at all (online: {online})")
    } else {
        format!(
            "cannot pin the thread to CPUs {wanted}: not all of them are usable here (online: {online})"
        )
    };
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_as_the_kernel_does() {
        for (text, cpus, written) in [
            ("0,2-3", vec![0, 2, 3], "0,2-3"),
            ("3, 2 ,0-1,1", vec![0, 1, 2, 3], "0-3"),
            ("7", vec![7], "7"),
            ("4-5", vec![4, 5], "4-5"),
            ("\n", vec![], ""),
        ] {
            let list = CpuList::parse(text).unwrap();
            assert_eq!(list.cpus, cpus, "{text:?}");
            assert_eq!(list.to_string(), written, "{text:?}");
        }
    }

    #[test]
    fn the_wrong_part_is_named() {
        for (text, part) in [
            ("0,x", "x"),
            ("0,,1", ""),
            ("1-", "1-"),
            ("-1", "-1"),
            ("0,3-2", "3-2"),
            ("0-4000000000", "0-4000000000"),
        ] {
            let message = CpuList::parse(text).unwrap_err().to_string();
            assert!(
                message.contains(&format!("`{part}`")),
                "{text:?}: {message}"
            );
        }
    }

    #[test]
    fn a_thread_is_pinned_and_the_others_are_not() {
        let before = allowed_cpus();
        let target = *before.last().unwrap();
        let pinned = std::thread::spawn(move || {
            set_current_thread(&[target]).unwrap();
            allowed_cpus()
        });
        assert_eq!(pinned.join().unwrap(), [target]);
        assert_eq!(allowed_cpus(), before);
        assert!(before.iter().all(|cpu| online_cpus().contains(cpu)));
    }

    #[test]
    fn cpus_that_do_not_exist_are_refused_by_name() {
        std::thread::spawn(|| {
            let present = allowed_cpus()[0];
            for cpus in [vec![], vec![1023], vec![present, 1023], vec![5000]] {
                let error = set_current_thread(&cpus).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                if let Some(missing) = cpus.last() {
                    assert!(error.to_string().contains(&missing.to_string()), "{error}");
                }
            }
        })
        .join()
        .unwrap();
    }
}
