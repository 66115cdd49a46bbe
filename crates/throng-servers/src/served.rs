//! What came of serving: the totals, or why a model could not start or go on.

use std::io;

use throng_sys::children::ForkError;
use throng_sys::socket::ListenError;

use crate::note::Note;

/// What a server did until it was told to stop.
#[derive(Debug, Default)]
pub struct Served {
    /// Connections served, those that their peer reset included.
    pub connections: u64,
    /// Bytes of answers that the kernel took over.
    pub bytes: u64,
    /// What the user should hear of, although the server went on.
    pub notes: Vec<Note>,
}

impl Served {
    /// Together with what another part of the same server did.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.connections += other.connections;
        self.bytes += other.bytes;
        for note in other.notes {
            note.add_to(&mut self.notes);
        }
        self
    }
}

/// Why a model could not start, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A listener could not be opened.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The kernel refused a ring.
    #[error(
        "it needs Linux 6.1 or newer with io_uring enabled, and the kernel says: {0}; see `uname -r` and \
         `sysctl kernel.io_uring_disabled` (0 is enabled; a container's seccomp filter may forbid it as well), or serve \
         with epoll-edge"
    )]
    IoUring(io::Error),
    /// It could not fork.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// Its own waiting failed, or it could not be set up.
    #[error("{0}; see `throng doctor` for the limits of this machine")]
    System(#[from] io::Error),
}
