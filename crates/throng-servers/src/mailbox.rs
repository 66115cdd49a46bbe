//! Mail between the loops of one server: what goes to everyone reaches the connections of other loops by their mailboxes.
//!
//! *Method.* A mailbox is bytes, whole lines one after the other, under a lock, and a socket pair that is readable as long
//! as there are some: a loop watches it as it watches everything else. It is bounded, and whoever finds one full takes its
//! own mail before it tries again: two loops that write to each other cannot wait for each other for ever.
//!
//! *Left out on purpose.* Sharing one copy between the loops: a line is short, and a lock held for a copy of it is held for
//! less than a lock that is shared by all.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::workload::UNSENT_BYTES_MAX;

/// What a mailbox takes, unless a single piece is longer. It is delivered at once, and so is less than what is kept for a
/// connection: nobody who has kept up is closed for it.
const MAIL_BYTES_MAX: usize = UNSENT_BYTES_MAX / 4 * 3;

/// Whoever has it keeps the descriptors of all mailboxes open. Loops with descriptor tables of their own must not be the last
/// to let go of them: in their tables other files have those numbers.
#[derive(Debug)]
pub(crate) struct AllMailboxes {
    _boxes: Arc<[Mailbox]>,
}

/// A loop's own mailbox, and the way to those of the others. Dropped, it is closed: what others post there is lost.
#[derive(Debug)]
pub(crate) struct Post {
    boxes: Arc<[Mailbox]>,
    own: usize,
}

#[derive(Debug)]
struct Mailbox {
    mail: Mutex<Mail>,
    /// One byte is on its way from here while there is mail,
    flag: UnixStream,
    /// and is read here.
    watched: UnixStream,
}

#[derive(Debug, Default)]
struct Mail {
    bytes: Vec<u8>,
    is_closed: bool,
}

impl Post {
    /// One for each of so many loops.
    pub(crate) fn for_loops(loops: usize) -> io::Result<Vec<Self>> {
        let boxes: Arc<[Mailbox]> = (0..loops)
            .map(|_| Mailbox::new())
            .collect::<io::Result<_>>()?;
        let post = |own| Self {
            boxes: Arc::clone(&boxes),
            own,
        };
        Ok((0..loops).map(post).collect())
    }

    /// What keeps all mailboxes open.
    pub(crate) fn all(&self) -> AllMailboxes {
        AllMailboxes {
            _boxes: Arc::clone(&self.boxes),
        }
    }

    /// What a loop with a descriptor table of its own needs in it.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let flags = self.boxes.iter().map(|mailbox| mailbox.flag.as_fd());
        flags.chain([self.as_fd()])
    }

    /// The numbers of the other loops.
    pub(crate) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.own;
        (0..self.boxes.len()).filter(move |&other| other != own)
    }

    /// Whether that loop's mailbox had room for it, or is closed.
    #[must_use]
    pub(crate) fn put(&self, other: usize, bytes: &[u8]) -> bool {
        let mailbox = &self.boxes[other];
        let mut mail = mailbox.mail();
        let length = mail.bytes.len();
        if mail.is_closed || bytes.is_empty() {
            return true;
        }
        if length > 0 && length + bytes.len() > MAIL_BYTES_MAX {
            return false;
        }
        mail.bytes.extend_from_slice(bytes);
        if length == 0 {
            // There is room for one byte, and the other end is open.
            let _ = (&mailbox.flag).write(&[1]);
        }
        true
    }

    /// Takes all own mail in exchange for an empty buffer.
    pub(crate) fn take(&self, empty: &mut Vec<u8>) {
        let mailbox = &self.boxes[self.own];
        let mut mail = mailbox.mail();
        if !mail.bytes.is_empty() {
            std::mem::swap(&mut mail.bytes, empty);
            // It does not block, and the byte is there.
            let _ = (&mailbox.watched).read(&mut [0; 1]);
        }
    }
}

/// Readable as long as there is own mail.
impl AsFd for Post {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.boxes[self.own].watched.as_fd()
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        let mut mail = self.boxes[self.own].mail();
        mail.is_closed = true;
        mail.bytes = Vec::new();
    }
}

impl Mailbox {
    fn new() -> io::Result<Self> {
        let (flag, watched) = UnixStream::pair()?;
        flag.set_nonblocking(true)?;
        watched.set_nonblocking(true)?;
        Ok(Self {
            mail: Mutex::default(),
            flag,
            watched,
        })
    }

    fn mail(&self) -> MutexGuard<'_, Mail> {
        // Every change under the lock is complete in itself.
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use throng_sys::clock::monotonic_ns;
    use throng_sys::poll::wait_readable;

    use super::*;

    fn has_mail(post: &Post) -> bool {
        wait_readable(post, monotonic_ns()).expect("asked")
    }

    #[test]
    fn mail_comes_in_order_and_shows_until_it_is_taken() {
        let [one, two, three] = &Post::for_loops(3).expect("made")[..] else {
            panic!("three were asked for");
        };
        assert_eq!(one.others().collect::<Vec<_>>(), [1, 2]);
        assert!(one.put(1, b"a\n") && three.put(1, b"b\n") && one.put(1, b"c\n"));
        assert!(has_mail(two) && !has_mail(one) && !has_mail(three));
        let mut mail = Vec::new();
        two.take(&mut mail);
        assert_eq!(mail, b"a\nb\nc\n");
        assert!(!has_mail(two));
        mail.clear();
        two.take(&mut mail);
        assert!(mail.is_empty());
        assert!(one.put(1, b"d\n") && has_mail(two));
    }

    #[test]
    fn a_full_mailbox_takes_no_more_and_a_closed_one_loses_all() {
        let mut post = Post::for_loops(2).expect("made");
        let two = post.pop().expect("the second");
        let one = &post[0];
        let half = vec![b'x'; MAIL_BYTES_MAX / 2 + 1];
        assert!(one.put(1, &half) && !one.put(1, &half));
        two.take(&mut Vec::new());
        assert!(one.put(1, &half) && !one.put(1, &half));
        drop(two);
        assert!(one.put(1, &half));
        assert!(one.boxes[1].mail().bytes.is_empty());
    }
}
