//! A bell that every loop of a server can ring and hear: a socket pair, of which each loop watches one end.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Readable from the first ring until somebody silences it. A loop that watches it for edges hears each ring.
#[derive(Debug)]
pub(crate) struct Bell {
    rung: UnixStream,
    heard: UnixStream,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let (rung, heard) = UnixStream::pair()?;
        rung.set_nonblocking(true)?;
        heard.set_nonblocking(true)?;
        Ok(Self { rung, heard })
    }

    pub(crate) fn ring(&self) {
        // It fails only where it has been rung many times, and is heard.
        let _ = (&self.rung).write(&[1]);
    }

    pub(crate) fn silence(&self) {
        // It fails only where somebody else has been faster.
        let _ = (&self.heard).read(&mut [0; 64]);
    }

    /// What a loop that rings and hears it needs in its table.
    pub(crate) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.rung.as_fd(), self.heard.as_fd()]
    }
}

/// The end that is watched.
impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.heard.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use throng_sys::epoll::{Epoll, Interest};

    use super::*;

    #[test]
    fn edges_are_heard_by_all_and_silence_ends_it() {
        let bell = Bell::new().expect("made");
        let mut loops = [(); 2].map(|()| Epoll::new(8).expect("an epoll"));
        for epoll in &loops {
            epoll
                .add(&bell, 0, Interest::IN | Interest::ET)
                .expect("added");
        }
        for _ in 0..2 {
            bell.ring();
            for epoll in &mut loops {
                assert_eq!(epoll.wait(Some(0)).expect("waited"), 1);
                assert_eq!(epoll.wait(Some(0)).expect("waited"), 0);
            }
        }
        let mut late = Epoll::new(8).expect("an epoll");
        late.add(&bell, 0, Interest::IN).expect("added");
        assert_eq!(late.wait(Some(0)).expect("waited"), 1);
        bell.silence();
        assert_eq!(late.wait(Some(0)).expect("waited"), 0);
    }
}
