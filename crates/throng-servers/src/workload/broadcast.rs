//! A chat of one room: whoever connects is greeted by a line, and every line that comes goes to all, the sender included.
//!
//! Lines end in a newline and go out whole, in one piece each, however they were cut on their way in. What has come of a line that its
//! sender never ended is dropped with the connection.

use super::{Audience, Session, Then};

/// The greeting.
const GREETING: &[u8] = b"connected\n";
/// A line that is longer ends its connection: nothing else bounds what is kept of it.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024;

/// What has come of a line; an idle connection has no buffer.
#[derive(Debug, Default)]
pub(crate) struct Broadcast {
    begun: Vec<u8>,
}

impl Session for Broadcast {
    type Settings = ();

    const AUDIENCE: Audience = Audience::Everyone;

    fn begin((): &()) -> Self {
        Self::default()
    }

    fn greet(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(GREETING);
    }

    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Then {
        let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') else {
            if self.begun.len() + bytes.len() >= LINE_BYTES_MAX {
                return Then::Close;
            }
            self.begun.extend_from_slice(bytes);
            return Then::Read;
        };
        let (lines, begun) = bytes.split_at(last + 1);
        output.append(&mut self.begun);
        output.extend_from_slice(lines);
        // The memory goes back.
        self.begun = begun.to_vec();
        Then::Read
    }

    fn end_of_input(&mut self, _output: &mut Vec<u8>) -> Then {
        Then::Close
    }

    /// It never waits.
    fn resume(&mut self, _output: &mut Vec<u8>) -> Then {
        Then::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_out_whole_wherever_they_were_cut() {
        let input = b"one\ntwo\n\nthree\nunended";
        for cut in 0..=input.len() {
            let mut session = Broadcast::begin(&());
            let mut output = Vec::new();
            for part in [&input[..cut], &input[cut..]] {
                if !part.is_empty() {
                    assert_eq!(session.input(part, &mut output), Then::Read);
                    assert!(output.is_empty() || output.ends_with(b"\n"), "cut at {cut}");
                }
            }
            assert_eq!(output, b"one\ntwo\n\nthree\n", "cut at {cut}");
            assert_eq!(session.end_of_input(&mut output), Then::Close);
            assert_eq!(output, b"one\ntwo\n\nthree\n", "cut at {cut}");
        }
    }

    #[test]
    fn a_line_without_end_ends_the_connection() {
        let mut session = Broadcast::begin(&());
        let mut output = Vec::new();
        let half = vec![b'x'; LINE_BYTES_MAX / 2];
        assert_eq!(session.input(&half, &mut output), Then::Read);
        assert_eq!(session.input(&half, &mut output), Then::Close);
        assert!(output.is_empty());
    }

    #[test]
    fn an_idle_connection_has_no_buffer() {
        let mut session = Broadcast::begin(&());
        let _ = session.input(b"line\n", &mut Vec::new());
        assert_eq!(session.begun.capacity(), 0);
    }
}
