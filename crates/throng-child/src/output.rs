//! What a child prints: always read, so that a full pipe never stops it, and its end kept for the error message.
//!
//! One thread for each stream. Lines of standard output can be handed on; those that nobody asked for are only kept as part
//! of the tail. Threads are not waited for without bound: a grandchild that got away may hold a pipe open.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Lines kept for an error message.
const TAIL_LINES: usize = 20;
/// Characters kept of each.
const TAIL_LINE_CHARACTERS: usize = 500;

/// What becomes of the lines of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Handed on, a longer one in pieces of this many bytes.
    Wanted {
        /// The longest piece.
        longest_bytes: u64,
    },
    /// Only kept as part of the tail.
    Unwanted,
}

/// The output of one child.
#[derive(Debug)]
pub struct Output {
    tail: Arc<Mutex<VecDeque<String>>>,
    lines: Receiver<String>,
    /// Never sends; disconnected once both streams have ended.
    ended: Receiver<()>,
}

/// The next line of standard output.
#[derive(Debug, PartialEq, Eq)]
pub enum NextLine {
    /// Without its end.
    Line(String),
    /// None came in the time given.
    Silence,
    /// There will be no more.
    End,
}

impl Output {
    /// Starts to read both streams.
    pub fn read(
        stdout: impl Read + Send + 'static,
        stderr: impl Read + Send + 'static,
        wanted: Lines,
    ) -> Self {
        let tail = Arc::default();
        let (line_sender, lines) = channel();
        let (end_sender, ended) = channel();
        let (longest_bytes, line_sender) = match wanted {
            Lines::Wanted { longest_bytes } => (longest_bytes, Some(line_sender)),
            Lines::Unwanted => (TAIL_LINE_CHARACTERS as u64, None),
        };
        // Where a thread cannot be had the stream is closed instead, and the child meets a broken pipe rather than a full one.
        spawn_reader(
            stdout,
            longest_bytes,
            Arc::clone(&tail),
            line_sender,
            end_sender.clone(),
        );
        spawn_reader(
            stderr,
            TAIL_LINE_CHARACTERS as u64,
            Arc::clone(&tail),
            None,
            end_sender,
        );
        Self { tail, lines, ended }
    }

    /// The next line, where lines are wanted.
    pub fn next_line(&self, timeout: Duration) -> NextLine {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => NextLine::Line(line),
            Err(RecvTimeoutError::Timeout) => NextLine::Silence,
            Err(RecvTimeoutError::Disconnected) => NextLine::End,
        }
    }

    /// The last lines of both streams. Waits a moment for their end: call it after the child's.
    pub fn tail(&self) -> Vec<String> {
        self.tail_within(Duration::from_millis(300))
    }

    /// The same; waits for so long at most.
    pub fn tail_within(&self, longest: Duration) -> Vec<String> {
        let deadline = Instant::now() + longest;
        while let Err(RecvTimeoutError::Timeout) =
            self.ended.recv_timeout(Duration::from_millis(20))
        {
            if Instant::now() >= deadline {
                break;
            }
        }
        self.tail_now()
    }

    /// The last lines of both streams so far.
    pub fn tail_now(&self) -> Vec<String> {
        self.tail
            .lock()
            .map(|tail| tail.iter().cloned().collect())
            .unwrap_or_default()
    }
}

fn spawn_reader(
    stream: impl Read + Send + 'static,
    longest_bytes: u64,
    tail: Arc<Mutex<VecDeque<String>>>,
    lines: Option<Sender<String>>,
    end: Sender<()>,
) {
    let body = move || {
        let mut stream = BufReader::with_capacity(64 * 1024, stream);
        while let Some(line) = next_line(&mut stream, longest_bytes) {
            keep(&tail, &line);
            if let Some(lines) = &lines {
                // Nobody listens any more: go on reading all the same, the child must not block.
                let _ = lines.send(line);
            }
        }
        drop(end);
    };
    drop(
        std::thread::Builder::new()
            .name("output".to_owned())
            .spawn(body),
    );
}

/// A line without its end, or a piece of one that is longer; `None` at the end of the stream.
fn next_line(stream: &mut impl BufRead, longest_bytes: u64) -> Option<String> {
    let mut bytes = Vec::new();
    match stream.take(longest_bytes).read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(
            String::from_utf8_lossy(&bytes)
                .trim_end_matches(['\n', '\r'])
                .to_owned(),
        ),
    }
}

fn keep(tail: &Mutex<VecDeque<String>>, line: &str) {
    if line.trim().is_empty() {
        return;
    }
    let Ok(mut tail) = tail.lock() else { return };
    if tail.len() == TAIL_LINES {
        tail.pop_front();
    }
    tail.push_back(line.chars().take(TAIL_LINE_CHARACTERS).collect());
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, empty, repeat};

    use super::*;

    const WANTED: Lines = Lines::Wanted { longest_bytes: 100 };

    #[test]
    fn lines_are_handed_on_and_the_end_is_kept() {
        let text: String = (0..100).map(|number| format!("line {number}\n")).collect();
        let output = Output::read(Cursor::new(text), Cursor::new("an error\n\n"), WANTED);
        for number in 0..100 {
            assert_eq!(
                output.next_line(Duration::from_secs(10)),
                NextLine::Line(format!("line {number}"))
            );
        }
        assert_eq!(output.next_line(Duration::from_secs(10)), NextLine::End);
        let tail = output.tail();
        assert_eq!(tail.len(), TAIL_LINES);
        assert!(tail.contains(&"line 99".to_owned()), "{tail:?}");
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let endless = repeat(b'x').take(10_000_000);
        let output = Output::read(endless, empty(), Lines::Unwanted);
        let tail = output.tail();
        assert!(tail.iter().all(|line| line.len() <= TAIL_LINE_CHARACTERS));
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_far_as_they_are() {
        let output = Output::read(Cursor::new(b"a\xffb\n".to_vec()), empty(), WANTED);
        assert_eq!(
            output.next_line(Duration::from_secs(10)),
            NextLine::Line("a\u{fffd}b".to_owned())
        );
    }
}
