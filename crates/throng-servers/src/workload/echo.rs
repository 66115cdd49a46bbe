//! Every byte comes back, in order (the echo service of RFC 862, over any stream).

use super::{Session, Then};

/// An echo has no state: idle connections cost nothing here.
#[derive(Debug)]
pub(crate) struct Echo;

impl Session for Echo {
    type Settings = ();

    #[inline]
    fn begin((): &()) -> Self {
        Self
    }

    #[inline]
    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Then {
        output.extend_from_slice(bytes);
        Then::Read
    }

    /// An echo holds nothing back.
    #[inline]
    fn end_of_input(&mut self, _output: &mut Vec<u8>) -> Then {
        Then::Close
    }

    /// An echo never waits.
    #[inline]
    fn resume(&mut self, _output: &mut Vec<u8>) -> Then {
        Then::Read
    }
}
