//! `select(2)`: sets of descriptors, one bit for each number below `FD_SETSIZE`, all of them looked at by every call.
//!
//! A set has exactly 1024 bits, and the kernel's interface has no larger one. C's `FD_SET` writes past the end of the set
//! for a higher number; here that number is an error.

use std::ffi::c_ulong;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use crate::clock::SECOND_NS;

/// The descriptors that can be watched are those below this number.
pub const FD_SETSIZE: usize = libc::FD_SETSIZE;

const WORD_BITS: usize = c_ulong::BITS as usize;
const WORDS: usize = FD_SETSIZE / WORD_BITS;

/// A set of descriptors, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FdSet {
    // Of the same layout as `libc::fd_set`, whose fields are private.
    words: [c_ulong; WORDS],
}

const _: () = assert!(size_of::<FdSet>() == size_of::<libc::fd_set>());
const _: () = assert!(align_of::<FdSet>() == align_of::<libc::fd_set>());

impl FdSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a descriptor. It must be removed before it is closed: a closed one fails the next [`select`], and one whose
    /// number is used again is another file's readiness.
    ///
    /// # Errors
    /// `InvalidInput` for a descriptor that is not below [`FD_SETSIZE`].
    pub fn insert(&mut self, fd: impl AsFd) -> io::Result<()> {
        self.insert_number(number(&fd))
    }

    /// Removes a descriptor. One that cannot be in a set is not in this one.
    pub fn remove(&mut self, fd: impl AsFd) {
        if let Some((word, bit)) = place(number(&fd)) {
            self.words[word] &= !bit;
        }
    }

    /// Whether the descriptor of this number is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&self, number: usize) -> bool {
        place(number).is_some_and(|(word, bit)| self.words[word] & bit != 0)
    }

    /// One more than the highest descriptor in the set (the `nfds` of the manual page); 0 where it is empty.
    #[must_use]
    pub fn end(&self) -> usize {
        let highest = self.words.iter().rposition(|&word| word != 0);
        highest.map_or(0, |index| {
            (index + 1) * WORD_BITS - self.words[index].leading_zeros() as usize
        })
    }

    fn insert_number(&mut self, number: usize) -> io::Result<()> {
        let (word, bit) = place(number).ok_or_else(|| {
            let text = format!(
                "select(2) cannot watch descriptor {number}: a set holds those below {FD_SETSIZE} (FD_SETSIZE)"
            );
            io::Error::new(io::ErrorKind::InvalidInput, text)
        })?;
        self.words[word] |= bit;
        Ok(())
    }
}

fn number(fd: &impl AsFd) -> usize {
    fd.as_fd().as_raw_fd().cast_unsigned() as usize
}

#[inline]
fn place(number: usize) -> Option<(usize, c_ulong)> {
    (number < FD_SETSIZE).then(|| (number / WORD_BITS, 1 << (number % WORD_BITS)))
}

/// Waits until a descriptor of `readable` can be read or one of `writable` written, at most `timeout_ns` (forever without,
/// else rounded up to a microsecond), and leaves the ready ones in the sets; their number, 0 after a time-out or a signal.
///
/// # Errors
/// As `select(2)`: EBADF where a descriptor was closed that is still in a set. The sets are then as before.
pub fn select(
    readable: &mut FdSet,
    writable: &mut FdSet,
    timeout_ns: Option<u64>,
) -> io::Result<usize> {
    let end = readable.end().max(writable.end());
    let end = i32::try_from(end).expect("it is at most FD_SETSIZE");
    let mut timeout = timeout_ns.map(|timeout_ns| libc::timeval {
        tv_sec: (timeout_ns / SECOND_NS) as libc::time_t,
        tv_usec: (timeout_ns % SECOND_NS).div_ceil(1_000) as libc::suseconds_t,
    });
    let timeout = timeout
        .as_mut()
        .map_or(std::ptr::null_mut(), std::ptr::from_mut);
    // SAFETY: both sets are live, exclusively borrowed, and of the size and alignment of an fd_set; the kernel writes within
    // the first `end` bits of each. The time-out is null or of a live variable, and a null set of exceptions is allowed.
    let ready = unsafe {
        libc::select(
            end,
            readable.words.as_mut_ptr().cast(),
            writable.words.as_mut_ptr().cast(),
            std::ptr::null_mut(),
            timeout,
        )
    };
    if ready >= 0 {
        return Ok(ready.cast_unsigned() as usize);
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::Interrupted => {
            *readable = FdSet::new();
            *writable = FdSet::new();
            Ok(0)
        }
        error => Err(error),
    }
}

/// How many of the numbers below [`FD_SETSIZE`] are no open descriptor of this process (of this thread, where it has a
/// table of its own). The limit on open files may leave fewer.
#[must_use]
pub fn free_numbers() -> usize {
    let is_open = |number| {
        // SAFETY: F_GETFD takes no further argument, touches no memory of ours and changes nothing, whatever the number.
        unsafe { libc::fcntl(number, libc::F_GETFD) != -1 }
    };
    (0..FD_SETSIZE as i32)
        .filter(|&number| !is_open(number))
        .count()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_set_ends_after_its_highest_descriptor_and_never_beyond_its_size() {
        let mut set = FdSet::new();
        assert_eq!(set.end(), 0);
        for number in [0, 63, 64, FD_SETSIZE - 1] {
            set.insert_number(number).expect("it fits");
            assert_eq!(set.end(), number + 1);
            assert!(set.contains(number) && !set.contains(number + 1));
        }
        let before = set.clone();
        let error = set.insert_number(FD_SETSIZE).expect_err("beyond");
        assert!(
            error.to_string().contains("descriptor 1024")
                && error.kind() == io::ErrorKind::InvalidInput,
            "{error}"
        );
        set.insert_number(usize::MAX).expect_err("beyond");
        assert!(!set.contains(FD_SETSIZE) && set == before);
    }

    #[test]
    fn only_what_is_ready_is_left_in_the_sets() {
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let (_quiet_near, quiet_far) = UnixStream::pair().expect("a pair");
        let (mut asked, mut ready) = (FdSet::new(), FdSet::new());
        asked.insert(&far).expect("low");
        asked.insert(&quiet_far).expect("low");
        let mut none = FdSet::new();
        ready.clone_from(&asked);
        assert_eq!(select(&mut ready, &mut none, Some(0)).expect("select"), 0);
        assert_eq!(ready, FdSet::new());

        near.write_all(b"x").expect("written");
        ready.clone_from(&asked);
        let mut writable = FdSet::new();
        writable.insert(&near).expect("low");
        let count = select(&mut ready, &mut writable, Some(SECOND_NS)).expect("select");
        assert_eq!(count, 2);
        assert!(ready.contains(number(&far)) && !ready.contains(number(&quiet_far)));
        assert!(writable.contains(number(&near)));

        asked.remove(&far);
        assert_eq!(select(&mut asked, &mut none, Some(0)).expect("select"), 0);
    }

    #[test]
    fn an_open_descriptor_is_not_free() {
        std::thread::spawn(|| {
            // A table of its own: the other tests open descriptors meanwhile.
            crate::descriptor_table::make_private(&[]).expect("private");
            let before = free_numbers();
            let pair = UnixStream::pair().expect("a pair");
            assert_eq!(free_numbers(), before - 2);
            drop(pair);
            assert_eq!(free_numbers(), before);
        })
        .join()
        .expect("no panic");
    }
}
