//! What the kernel says of an operation that is over, and how the 64 bits that it hands back are divided.

use std::io;

use super::buffers::BufferId;

/// The largest token: the upper eight bits of the kernel's `user_data` say what kind of operation completed.
pub const TOKEN_MAX: u64 = (1 << KIND_SHIFT) - 1;

const KIND_SHIFT: u32 = 56;

/// What kind of operation completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A connection was accepted: the result is its descriptor, see [`Completion::accepted`].
    Accept,
    /// Bytes came, or the input ended (0), or failed.
    Receive,
    /// A send of shared bytes ended; of a silent one, it ended short or failed.
    SendShared,
    /// A send of owned bytes ended; the vector is in [`Completion::sent`].
    SendOwned,
    /// A polled descriptor became ready.
    Poll,
    /// A cancellation ended; nothing to do.
    Cancel,
    /// An alarm's time has come.
    Alarm,
}

/// One completed operation.
#[derive(Debug)]
pub struct Completion {
    /// What it was.
    pub kind: Kind,
    /// What it was submitted with.
    pub token: u64,
    /// Bytes moved, or readiness, or the negated error number.
    pub result: i32,
    /// Whether a multishot operation goes on; where not, it must be submitted again.
    pub more: bool,
    /// Where received bytes are.
    pub buffer: Option<BufferId>,
    /// The vector of an owned send, all of its bytes still in it.
    pub sent: Option<Vec<u8>>,
}

impl Completion {
    /// The result, or the error it stands for.
    ///
    /// # Errors
    /// The operation's error.
    pub fn bytes(&self) -> io::Result<usize> {
        if self.result < 0 {
            Err(io::Error::from_raw_os_error(-self.result))
        } else {
            Ok(self.result.cast_unsigned() as usize)
        }
    }

    /// Whether it ended because it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.result == -libc::ECANCELED
    }

    /// Whether a receive ended because every provided buffer was with its holder: submit it again.
    #[must_use]
    pub fn is_out_of_buffers(&self) -> bool {
        self.result == -libc::ENOBUFS
    }

    /// The accepted descriptor.
    ///
    /// # Errors
    /// The accept's error; `InvalidInput` for another kind of completion.
    pub fn accepted(&mut self) -> io::Result<std::os::fd::OwnedFd> {
        use std::os::fd::FromRawFd as _;
        if self.kind != Kind::Accept {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "only an accept has a descriptor",
            ));
        }
        self.bytes()?;
        let fd = std::mem::replace(&mut self.result, -libc::EBADF);
        // SAFETY: the kernel made this descriptor for us, and taking it replaced the result, so nobody takes it twice.
        Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) })
    }
}

pub(super) fn user_data(kind: Kind, token: u64) -> u64 {
    (kind as u64) << KIND_SHIFT | token
}

pub(super) fn kind_of(user_data: u64) -> Kind {
    match user_data >> KIND_SHIFT {
        0 => Kind::Accept,
        1 => Kind::Receive,
        2 => Kind::SendShared,
        3 => Kind::SendOwned,
        4 => Kind::Poll,
        5 => Kind::Cancel,
        _ => Kind::Alarm,
    }
}
