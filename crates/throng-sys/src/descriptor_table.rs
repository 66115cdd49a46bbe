//! A private descriptor table for one thread, so that the limit on open files bounds a thread, not the process.
//!
//! `RLIMIT_NOFILE` limits the highest descriptor *number* of a table, and a table is an attribute of a thread
//! that threads merely share by default (`CLONE_FILES`, `clone(2)`). A thread that unshares its table counts
//! from the bottom again. `close_range(2)` with `CLOSE_RANGE_UNSHARE` (Linux 5.9) copies only what is kept,
//! where `unshare(CLONE_FILES)` would copy everything first: a copied table keeps a child's pipe, a peer's
//! connection or a dropped listener alive for as long as the thread lives.
//!
//! # Hazards
//! From then on a descriptor's *number* means something only together with its table:
//! - An `OwnedFd` (`TcpStream`, `File`, …) dropped by a thread with another table closes whatever has that
//!   number *there*: a stranger. Never send one across, never let one be dropped across (a channel's unread
//!   items, a thread's return value, an `Arc`'s last owner).
//! - What the calling thread owned before the call and did not keep is closed in its table, although its
//!   `OwnedFd` still exists. Make the call the thread's first act.
//! - Code that keeps descriptors for the whole process (a logger's file, a runtime's epoll, a source of random
//!   bytes) must not be used from such a thread unless they are kept.
//! - Threads that it spawns share its table, not the process's; `/proc/PID/fd` shows the main thread's table
//!   only, this one is at `/proc/PID/task/TID/fd`.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::kernel_file::with_context;

/// Gives the calling thread a descriptor table of its own that holds only standard input, output, error and
/// `keep`, each under its present number. Other threads are not affected. See the module's hazards.
///
/// # Errors
/// `Unsupported` before Linux 5.9; `EMFILE` or `ENOMEM` if the new table cannot be made, and then the old one is
/// still shared and untouched.
pub fn make_private(keep: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut kept: Vec<u32> = keep
        .iter()
        .map(|descriptor| {
            u32::try_from(descriptor.as_raw_fd()).expect("a borrowed descriptor is never negative")
        })
        .filter(|&number| number >= FIRST_BEYOND_STANDARD)
        .collect();
    kept.sort_unstable();
    kept.dedup();

    // The top gap goes first: the kernel then copies only the descriptors below it.
    let mut unshare = libc::CLOSE_RANGE_UNSHARE;
    for (first, last) in gaps(&kept).into_iter().rev() {
        close_range(first, last, unshare)?;
        unshare = 0;
    }
    Ok(())
}

/// Puts a copy of `replacement` in the place of standard input, in the calling thread's table: that of the whole process
/// unless the thread made its own.
///
/// # Errors
/// As `dup2(2)`.
pub fn replace_standard_input(replacement: impl AsFd) -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(replacement)?)
}

const FIRST_BEYOND_STANDARD: u32 = 3;

/// The inclusive ranges of numbers from 3 on that are not in `kept` (sorted, without duplicates). The last one
/// is never empty, as the highest possible number is not a descriptor.
fn gaps(kept: &[u32]) -> Vec<(u32, u32)> {
    let mut gaps = Vec::with_capacity(kept.len() + 1);
    let mut first = FIRST_BEYOND_STANDARD;
    for &number in kept {
        if number > first {
            gaps.push((first, number - 1));
        }
        first = number + 1;
    }
    gaps.push((first, u32::MAX));
    gaps
}

fn close_range(first: u32, last: u32, flags: u32) -> io::Result<()> {
    // SAFETY: close_range takes three integers and touches no memory of ours. That it closes descriptors which
    // others may believe to own is this module's documented contract.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if answer == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ENOSYS) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a private descriptor table needs close_range(2), Linux 5.9 or newer",
        ));
    }
    Err(with_context(
        &error,
        "cannot make the thread's descriptor table private",
    ))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    use super::*;

    /// The numbers open in the calling thread's table, except the one that the listing itself needs.
    fn open_numbers() -> Vec<u32> {
        let listing = std::fs::read_dir("/proc/thread-self/fd").unwrap();
        let numbers: Vec<u32> = listing
            .map(|entry| {
                entry
                    .unwrap()
                    .file_name()
                    .to_str()
                    .unwrap()
                    .parse()
                    .unwrap()
            })
            .collect();
        let is_open =
            |number: &u32| std::fs::read_link(format!("/proc/thread-self/fd/{number}")).is_ok();
        let mut open: Vec<u32> = numbers.into_iter().filter(is_open).collect();
        open.sort_unstable();
        open
    }

    #[test]
    fn the_gaps_are_all_but_the_kept() {
        assert_eq!(gaps(&[]), [(3, u32::MAX)]);
        assert_eq!(gaps(&[3]), [(4, u32::MAX)]);
        assert_eq!(gaps(&[4, 5, 9]), [(3, 3), (6, 8), (10, u32::MAX)]);
    }

    #[test]
    fn keeps_what_is_named_and_leaves_the_other_threads_alone() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        let bystander = File::open("/proc/version").unwrap();
        let kept = writer.as_fd().as_raw_fd() as u32;

        std::thread::scope(|scope| {
            scope.spawn(|| {
                make_private(&[writer.as_fd()]).unwrap();
                let beyond_standard: Vec<u32> = open_numbers()
                    .into_iter()
                    .filter(|&number| number >= 3)
                    .collect();
                assert_eq!(beyond_standard, [kept]);
                (&writer).write_all(b"x").unwrap();
            });
        });

        let mut text = String::new();
        (&bystander)
            .read_to_string(&mut text)
            .expect("the main table still has this file");
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        writer.flush().unwrap();
        assert_eq!(&byte, b"x");
    }

    #[test]
    fn the_kept_descriptor_does_not_outlive_the_thread() {
        let (mut reader, writer) = io::pipe().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| make_private(&[writer.as_fd()]).unwrap());
        });
        drop(writer);
        // End of input: the thread's copy went with its table.
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn standard_input_is_replaced_in_the_threads_own_table_only() {
        let identity = || std::fs::read_link("/proc/thread-self/fd/0");
        let before = identity().ok();
        std::thread::spawn(|| {
            make_private(&[]).unwrap();
            let (reader, mut writer) = io::pipe().unwrap();
            replace_standard_input(&reader).unwrap();
            drop(reader);
            writer.write_all(b"x").unwrap();
            let mut byte = [0];
            rustix::io::read(io::stdin().as_fd(), &mut byte).unwrap();
            assert_eq!(&byte, b"x");
        })
        .join()
        .unwrap();
        assert_eq!(identity().ok(), before);
    }

    #[test]
    fn keeping_standard_error_is_no_special_case() {
        std::thread::spawn(|| {
            make_private(&[io::stderr().as_fd()]).unwrap();
            assert!(open_numbers().iter().all(|&number| number < 3));
        })
        .join()
        .unwrap();
    }
}
