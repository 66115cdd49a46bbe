//! The bytes that a fleet sends, made once and never changed: a message is a range of them.
//!
//! So sending copies nothing in user space and verifying is one comparison. Echo messages differ from one another: a
//! reply that is lost, swapped, cut, doubled or another connection's is then found by its bytes.

use std::ops::Range;
use std::sync::Arc;

use throng_record::{PageRequest, Protocol};

/// Room for different echo messages: small enough to stay in the second-level cache.
const ROOM_BYTES: usize = 64 * 1024;
/// At most so many different messages.
const VARIETY_MAX: usize = 1024;
/// At least so many, however large: neighbours of one connection always differ.
const VARIETY_MIN: usize = 4;

/// All messages of a fleet.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    bytes: Arc<[u8]>,
    size: usize,
    /// Number of different messages − 1; their number is a power of two.
    mask: u32,
    /// Where they are of different lengths: the place of each.
    requests: Arc<[Range<usize>]>,
}

impl Messages {
    pub(crate) fn of(protocol: &Protocol, seed: u64) -> Self {
        match protocol {
            Protocol::Echo { size_bytes } => Self::varied(*size_bytes as usize, seed),
            Protocol::Request { send, .. } => Self {
                bytes: send.as_slice().into(),
                size: send.len(),
                mask: 0,
                requests: [].into(),
            },
            Protocol::Pages(pages) => Self::in_turn(&pages.requests),
        }
    }

    /// One behind the other.
    fn in_turn(requests: &[PageRequest]) -> Self {
        let (mut bytes, mut ranges) = (Vec::new(), Vec::new());
        for request in requests {
            let start = bytes.len();
            bytes.extend(request.bytes());
            ranges.push(start..bytes.len());
        }
        Self {
            size: bytes.len() / requests.len().max(1),
            bytes: bytes.into(),
            mask: 0,
            requests: ranges.into(),
        }
    }

    fn varied(size: usize, seed: u64) -> Self {
        let variety = (ROOM_BYTES / size.max(1)).clamp(VARIETY_MIN, VARIETY_MAX);
        let variety = 1 << variety.ilog2();
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes: Vec<u8> = (0..variety * size)
            .map(|_| random.u8(b'!'..=b'~'))
            .collect();
        if size >= 2 {
            bytes
                .chunks_mut(size)
                .for_each(|message| message[size - 1] = b'\n');
        }
        Self {
            bytes: bytes.into(),
            size,
            mask: variety as u32 - 1,
            requests: [].into(),
        }
    }

    /// All bytes, for a back end to send from.
    pub(crate) fn shared(&self) -> Arc<[u8]> {
        Arc::clone(&self.bytes)
    }

    /// Bytes of a message; where their lengths differ, the mean.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Where a connection's n-th message lies.
    #[inline]
    pub(crate) fn range(&self, connection: u32, n: u32) -> Range<usize> {
        if !self.requests.is_empty() {
            return self.requests[self.request(connection, n)].clone();
        }
        // An odd multiplier sends neighbouring connections to distant starts, so that a reply that comes on a wrong
        // connection is not the one expected there.
        let index = connection
            .wrapping_mul(0x9E37_79B1)
            .rotate_left(8)
            .wrapping_add(n)
            & self.mask;
        let start = index as usize * self.size;
        start..start + self.size
    }

    /// Which of the requests that are sent in turn a connection's n-th is.
    #[inline]
    pub(crate) fn request(&self, connection: u32, n: u32) -> usize {
        (connection as usize + n as usize) % self.requests.len().max(1)
    }

    /// The bytes of a connection's n-th message.
    #[inline]
    pub(crate) fn bytes(&self, connection: u32, n: u32) -> &[u8] {
        &self.bytes[self.range(connection, n)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_varied_messages_that_end_in_a_newline() {
        for size_bytes in [2, 6, 1000, 65_536, 1 << 20] {
            let messages = Messages::of(&Protocol::Echo { size_bytes }, 1);
            assert_eq!(messages.bytes(3, 5).len(), size_bytes as usize);
            assert_eq!(messages.bytes(3, 5).last(), Some(&b'\n'));
            let different = (0..4)
                .map(|n| messages.range(0, n).start)
                .collect::<std::collections::HashSet<_>>();
            assert_eq!(different.len(), 4, "four messages in a row are four places");
        }
    }

    #[test]
    fn one_byte_messages_vary() {
        let messages = Messages::of(&Protocol::Echo { size_bytes: 1 }, 1);
        let different: std::collections::HashSet<_> =
            (0..1000).map(|n| messages.bytes(0, n)[0]).collect();
        assert!(different.len() > 50);
    }

    #[test]
    fn a_request_is_the_same_every_time() {
        let send = b"PING\r\n".to_vec();
        let messages = Messages::of(
            &Protocol::Request {
                send: send.clone(),
                expect: throng_record::Expect::Bytes(7),
            },
            1,
        );
        assert_eq!(messages.bytes(9, 1_000_000), send);
    }
}
