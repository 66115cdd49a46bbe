//! What is heard on each connection of a fan-out, from first byte to last: the greeting, the single line, the numbered lines. And when
//! those are due.
//!
//! It is one immutable block. A connection remembers how far it has come in it, so that whatever comes, cut anywhere, is verified by one
//! comparison of memory; lines are sent from the same block.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use throng_record::{ErrorKind, PutSpec, Sequence, SustainSpec};

use crate::pacing::spacing::Spacing;
use crate::quote;

/// Why bytes end a connection, in words too.
pub(crate) type Fault = (ErrorKind, Cow<'static, str>);

/// A numbered line is the single one with this many bytes more: a space and ten digits.
pub(crate) const NUMBER_BYTES: usize = 11;

/// The block, and the schedule of its numbered lines.
#[derive(Debug)]
pub(crate) struct Script {
    bytes: Arc<[u8]>,
    greeting_end: u32,
    line_end: u32,
    numbered_bytes: u32,
    due_ns: Box<[u64]>,
}

/// What the phases of a fan-out say and hear.
#[derive(Debug, Default)]
pub(crate) struct Lines<'a> {
    /// The line that each connection is greeted with; absent where the server greets nobody.
    pub(crate) greeting: Option<&'a [u8]>,
    /// Who puts the line, and the numbered ones.
    pub(crate) puts: Vec<&'a PutSpec>,
    /// The schedule of numbered lines.
    pub(crate) sustain: Option<&'a SustainSpec>,
}

impl<'a> Lines<'a> {
    /// `None` where lines are none of the phases' affair.
    pub(crate) fn of(phases: &'a Sequence) -> Option<Self> {
        let (greeting, sustain) = (phases.greeting(), phases.sustain());
        let numbered = sustain.map(|sustain| &sustain.put);
        let puts: Vec<_> = phases.put().into_iter().chain(numbered).collect();
        let has_any = greeting.is_some() || !puts.is_empty();
        has_any.then_some(Self {
            greeting,
            puts,
            sustain,
        })
    }

    /// The line that is put; nothing where none is.
    pub(crate) fn line(&self) -> &'a [u8] {
        self.puts.first().map_or(&[], |put| &put.line)
    }
}

impl Script {
    /// The specification has been found valid: its lines are not empty, and all of them together are far below 4 GiB.
    pub(crate) fn of(lines: &Lines<'_>, seed: u64) -> Self {
        let due_ns = lines
            .sustain
            .map_or_else(Box::default, |sustain| schedule(sustain, seed));
        let mut bytes = lines.greeting.unwrap_or_default().to_vec();
        let greeting_end = bytes.len() as u32;
        let line = lines.line();
        bytes.extend(line);
        let line_end = bytes.len() as u32;
        let words = line.strip_suffix(b"\n").unwrap_or(line);
        for number in 0..due_ns.len() {
            bytes.extend(words);
            bytes.extend(format!(" {number:010}\n").as_bytes());
        }
        Self {
            bytes: bytes.into(),
            greeting_end,
            line_end,
            numbered_bytes: (words.len() + 1 + NUMBER_BYTES) as u32,
            due_ns,
        }
    }

    /// The whole block, for a back end to send from.
    pub(crate) fn shared(&self) -> Arc<[u8]> {
        Arc::clone(&self.bytes)
    }

    /// The most bytes of one line.
    pub(crate) fn line_bytes_max(&self) -> usize {
        self.numbered_bytes.max(self.greeting_end) as usize
    }

    /// Where the greeting ends; 0 without one.
    pub(crate) fn greeting_end(&self) -> u32 {
        self.greeting_end
    }

    /// Where the single line ends, and the numbered ones begin.
    pub(crate) fn line_end(&self) -> u32 {
        self.line_end
    }

    /// The single line, to be sent.
    pub(crate) fn line(&self) -> Range<usize> {
        self.greeting_end as usize..self.line_end as usize
    }

    /// A numbered line, to be sent.
    pub(crate) fn numbered(&self, number: u32) -> Range<usize> {
        let start = self.numbered_start(number) as usize;
        start..start + self.numbered_bytes as usize
    }

    /// Where a numbered line begins, which is where so many of them have ended.
    pub(crate) fn numbered_start(&self, number: u32) -> u32 {
        self.line_end + number * self.numbered_bytes
    }

    /// The numbered lines that end between two positions.
    #[inline]
    pub(crate) fn numbers_ended(&self, heard: &Range<u32>) -> Range<u32> {
        let ended = |at: u32| at.saturating_sub(self.line_end) / self.numbered_bytes;
        ended(heard.start)..ended(heard.end)
    }

    /// When each numbered line is due, since the begin of them all.
    #[inline]
    pub(crate) fn due_ns(&self) -> &[u64] {
        &self.due_ns
    }

    /// Whether a position is within a line rather than at the end of one.
    pub(crate) fn is_mid_line(&self, at: u32) -> bool {
        self.line_start(at) != at
    }

    /// Follows bytes that came at a position, as far as `limit`: where they end, or where they cease to be the script's, and why.
    #[inline]
    pub(crate) fn follow(&self, at: u32, bytes: &[u8], limit: u32) -> Result<u32, (u32, Fault)> {
        let end = at as usize + bytes.len();
        if end <= limit as usize && self.bytes[at as usize..end] == *bytes {
            return Ok(end as u32);
        }
        Err(self.stray(at, bytes, limit))
    }

    #[cold]
    fn stray(&self, at: u32, bytes: &[u8], limit: u32) -> (u32, Fault) {
        let expected = &self.bytes[at as usize..limit as usize];
        let right = expected.iter().zip(bytes).take_while(|(a, b)| a == b);
        let right = right.count();
        let (at, rest) = (at + right as u32, &bytes[right..]);
        let fault = if self.repeats(at, rest) {
            (
                ErrorKind::DeliveredTwice,
                "the line before came again".into(),
            )
        } else if at == limit {
            let words = quote::came_unasked(rest, "came, which nobody had put");
            (ErrorKind::ExcessBytes, words.into())
        } else {
            (ErrorKind::WrongBytes, self.instead(at, rest).into())
        };
        (at, fault)
    }

    /// What came in the place of a line of which all before a position had come rightly.
    fn instead(&self, at: u32, rest: &[u8]) -> String {
        let start = self.line_start(at);
        let end = if start < self.greeting_end {
            self.greeting_end
        } else if start < self.line_end {
            self.line_end
        } else {
            start + self.numbered_bytes
        };
        let mut came = self.bytes[start as usize..at as usize].to_vec();
        came.extend(rest);
        quote::came_instead(&came, &self.bytes[start as usize..end as usize])
    }

    /// Whether these bytes, and those of their line before them, are the line before that once more.
    fn repeats(&self, at: u32, rest: &[u8]) -> bool {
        let start = self.line_start(at);
        let Some(before) = self.line_before(start) else {
            return false;
        };
        let begun = &self.bytes[start as usize..at as usize];
        self.bytes[before]
            .strip_prefix(begun)
            .is_some_and(|left| !left.is_empty() && left.iter().zip(rest).all(|(a, b)| a == b))
    }

    fn line_start(&self, at: u32) -> u32 {
        if at < self.greeting_end {
            0
        } else if at < self.line_end {
            self.greeting_end
        } else {
            at - (at - self.line_end) % self.numbered_bytes
        }
    }

    /// The line that ends where another begins.
    fn line_before(&self, start: u32) -> Option<Range<usize>> {
        let before = if start == 0 {
            return None;
        } else if start <= self.greeting_end {
            0
        } else if start <= self.line_end {
            self.greeting_end
        } else {
            start - self.numbered_bytes
        };
        Some(before as usize..start as usize)
    }
}

/// All due times up to and including the end of the duration; the first is one gap after the begin.
fn schedule(sustain: &SustainSpec, seed: u64) -> Box<[u64]> {
    let mut spacing = Spacing::new(sustain.rate_per_second, sustain.arrivals, seed);
    let mut at_ns = 0.0;
    std::iter::repeat_with(|| {
        at_ns += spacing.next_gap_ns();
        at_ns as u64
    })
    .take_while(|&due_ns| due_ns <= sustain.duration_ns)
    .collect()
}

#[cfg(test)]
mod tests {
    use throng_record::{Arrivals, PhaseSpec};

    use super::*;

    fn script(greeting: Option<&str>) -> Script {
        let sustain = at_rate(3.0);
        let lines = Lines {
            greeting: greeting.map(str::as_bytes),
            puts: vec![&sustain.put],
            sustain: Some(&sustain),
        };
        Script::of(&lines, 1)
    }

    fn at_rate(rate_per_second: f64) -> SustainSpec {
        SustainSpec {
            put: PutSpec {
                line: b"hello\n".to_vec(),
                speaker: 0,
            },
            rate_per_second,
            arrivals: Arrivals::Constant,
            duration_ns: 1_000_000_000,
        }
    }

    const WHOLE: &[u8] =
        b"connected\nhello\nhello 0000000000\nhello 0000000001\nhello 0000000002\n";

    #[test]
    fn lines_are_gathered_from_all_phases() {
        let sustain = at_rate(3.0);
        let phases = Sequence::on_open_connections([
            PhaseSpec::Acknowledge {
                greeting: b"connected\n".to_vec(),
            },
            PhaseSpec::Get(sustain.put.clone()),
            PhaseSpec::Sustain(sustain),
        ]);
        let lines = Lines::of(&phases).expect("a fan-out");
        assert_eq!(&Script::of(&lines, 1).shared()[..], WHOLE);
        assert!(Lines::of(&Sequence::on_open_connections([])).is_none());
    }

    #[test]
    fn every_cut_of_the_whole_is_followed_to_its_end() {
        let script = script(Some("connected\n"));
        assert_eq!(&script.shared()[..], WHOLE);
        let limit = WHOLE.len() as u32;
        for cut in 0..=WHOLE.len() {
            let at = script.follow(0, &WHOLE[..cut], limit).expect("the script");
            assert_eq!(script.follow(at, &WHOLE[cut..], limit), Ok(limit));
        }
        assert_eq!(script.numbers_ended(&(16..limit)), 0..3);
        assert_eq!(script.numbers_ended(&(17..limit - 1)), 0..2);
        assert_eq!(
            WHOLE[script.numbered(2)],
            WHOLE[script.numbered_start(2) as usize..]
        );
        assert!(script.is_mid_line(3) && !script.is_mid_line(16));
    }

    #[test]
    fn what_is_not_the_script_is_told_apart() {
        let script = script(Some("connected\n"));
        let kind = |at, bytes: &[u8], limit| {
            let (at, fault) = script.follow(at, bytes, limit).expect_err("not the script");
            (at, fault.0)
        };
        assert_eq!(kind(0, b"connexted\n", 10), (5, ErrorKind::WrongBytes));
        assert_eq!(kind(10, b"!", 10), (10, ErrorKind::ExcessBytes));
        assert_eq!(
            kind(0, b"connected\nc", 10),
            (10, ErrorKind::DeliveredTwice)
        );
        assert_eq!(kind(10, b"hello\nhel", 16), (16, ErrorKind::DeliveredTwice));
        assert_eq!(
            kind(10, b"connected\n", 16),
            (10, ErrorKind::DeliveredTwice)
        );
        assert_eq!(kind(16, b"hello\n", 67), (21, ErrorKind::DeliveredTwice));
        let first_again = b"hello 0000000000\n";
        assert_eq!(kind(33, first_again, 67), (48, ErrorKind::DeliveredTwice));
        assert_eq!(kind(48, b"0\n", 67), (48, ErrorKind::DeliveredTwice));
        let left_out = b"hello 0000000002\n";
        assert_eq!(kind(33, left_out, 67), (48, ErrorKind::WrongBytes));
    }

    #[test]
    fn a_fault_shows_what_came_and_what_was_due() {
        let script = script(Some("connected\n"));
        let words = |at, bytes: &[u8], limit| script.follow(at, bytes, limit).expect_err("").1.1;
        assert_eq!(
            words(0, b"HTTP/1.1 400\r\n", 10),
            r#""HTTP/1.1 400\r\n" where "connected\n" was due"#
        );
        // The beginning had come before.
        assert_eq!(
            words(4, b"exion\n", 10),
            r#""connexion\n" where "connected\n" was due"#
        );
        assert_eq!(
            words(10, b"jello\n", 16),
            r#""jello\n" where "hello\n" was due"#
        );
        assert_eq!(
            words(33, b"hello 0000000002\n", 67),
            r#""hello 0000000002\n" where "hello 0000000001\n" was due"#
        );
        assert_eq!(words(10, b"!", 10), r#""!" came, which nobody had put"#);
    }

    #[test]
    fn without_a_greeting_whatever_comes_first_is_excess() {
        let script = script(None);
        let excess = script.follow(0, b"hello\n", script.greeting_end());
        assert_eq!(
            excess.expect_err("nothing is due").1.0,
            ErrorKind::ExcessBytes
        );
    }

    #[test]
    fn a_constant_schedule_has_rate_times_duration_lines() {
        for rate in [1.0, 3.0, 7.0, 30.0, 1_000.0, 30_000.0] {
            assert_eq!(schedule(&at_rate(rate), 1).len(), rate as usize);
        }
    }
}
