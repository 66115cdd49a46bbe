//! Frames of JSON: four bytes of length (unsigned, the highest first), then so many bytes. Each request is answered after the counting that it asks for.
//!
//! *Method.* A frame is parsed where it lies, in what the read brought; only what is left of it after the last whole frame is kept. Frames that come
//! together are answered in their order. As in `http`, others have their turn after each answer that was counted for.
//!
//! *What is malformed* is answered with code 400, and the next frame is found all the same. After a length that is too large there is no
//! next frame: the connection is closed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Session, Then, count};

/// The longest frame, without its length.
const FRAME_BYTES_MAX: usize = 64 * 1024;
/// The bytes of a length.
const PREFIX: usize = 4;

/// A request; what else it holds is not meant for us.
#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    count: u64,
}

#[derive(Serialize)]
struct Reply<'a> {
    code: u16,
    msg: &'a str,
}

/// A connection's requests: what has come of the next one.
#[derive(Debug, Default)]
pub(crate) struct Framed {
    rest: Vec<u8>,
}

impl Session for Framed {
    type Settings = ();

    fn begin((): &()) -> Self {
        Self::default()
    }

    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Then {
        if self.rest.is_empty() {
            let (used, then) = serve(bytes, output);
            self.rest.extend_from_slice(&bytes[used..]);
            return then;
        }
        self.rest.extend_from_slice(bytes);
        self.resume(output)
    }

    /// A request that was begun is dropped.
    fn end_of_input(&mut self, _output: &mut Vec<u8>) -> Then {
        Then::Close
    }

    fn resume(&mut self, output: &mut Vec<u8>) -> Then {
        let mut rest = std::mem::take(&mut self.rest);
        let (used, then) = serve(&rest, output);
        if used < rest.len() {
            rest.drain(..used);
            self.rest = rest;
        }
        then
    }
}

/// Answers whole frames. How many bytes they took, and what comes next.
fn serve(input: &[u8], output: &mut Vec<u8>) -> (usize, Then) {
    let mut used = 0;
    while let Some((prefix, rest)) = input[used..].split_first_chunk::<PREFIX>() {
        let length = u32::from_be_bytes(*prefix) as usize;
        if length > FRAME_BYTES_MAX {
            let msg = format!("a frame has {FRAME_BYTES_MAX} bytes at most, not {length}");
            append(output, 400, &msg);
            return (input.len(), Then::Linger);
        }
        let Some(frame) = rest.get(..length) else {
            break;
        };
        used += PREFIX + length;
        let counted = answer(frame, output);
        if counted && used < input.len() {
            return (used, Then::Wait(Duration::ZERO));
        }
    }
    (used, Then::Read)
}

/// Whether there was something to count.
fn answer(frame: &[u8], output: &mut Vec<u8>) -> bool {
    // A list would be read as a request too, by the order of its fields.
    if frame.trim_ascii_start().first() != Some(&b'{') {
        append(output, 400, "a request is an object");
        return false;
    }
    match serde_json::from_slice(frame) {
        Ok(Request { count }) if count <= count::MAX => {
            count::to(count);
            append(output, 200, "ok");
            return count > 0;
        }
        Ok(_) => append(output, 400, &format!("count is {} at most", count::MAX)),
        Err(error) => append(output, 400, &error.to_string()),
    }
    false
}

fn append(output: &mut Vec<u8>, code: u16, msg: &str) {
    let begin = output.len();
    output.extend_from_slice(&[0; PREFIX]);
    serde_json::to_writer(&mut *output, &Reply { code, msg }).expect("memory takes it");
    let length = (output.len() - begin - PREFIX) as u32;
    output[begin..begin + PREFIX].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(json: &str) -> Vec<u8> {
        let length = json.len() as u32;
        [&length.to_be_bytes(), json.as_bytes()].concat()
    }

    fn ok() -> Vec<u8> {
        frame(r#"{"code":200,"msg":"ok"}"#)
    }

    #[test]
    fn frames_are_answered_however_they_are_cut() {
        let input = [frame("{}"), frame(r#"{"count": 3, "more": [1]}"#)].concat();
        for cut in 0..=input.len() {
            let (mut session, mut output) = (Framed::begin(&()), Vec::new());
            for piece in [&input[..cut], &input[cut..]] {
                if !piece.is_empty() {
                    assert_eq!(session.input(piece, &mut output), Then::Read, "{cut}");
                }
            }
            assert_eq!(output, [ok(), ok()].concat(), "{cut}");
            assert!(session.rest.is_empty());
        }
    }

    #[test]
    fn others_have_a_turn_between_two_that_count() {
        let counting = frame(r#"{"count": 1}"#);
        let (mut session, mut output) = (Framed::begin(&()), Vec::new());
        let then = session.input(&counting.repeat(2), &mut output);
        assert_eq!((then, &output), (Then::Wait(Duration::ZERO), &ok()));
        assert_eq!(session.resume(&mut output), Then::Read);
        assert_eq!(output, ok().repeat(2));
    }

    #[test]
    fn what_is_malformed_gets_400_and_the_next_one_is_answered() {
        for json in [
            "",
            "{",
            "[1]",
            "7",
            r#"{"count": -1}"#,
            r#"{"count": "x"}"#,
            r#"{"count": 1e99}"#,
        ] {
            let (mut session, mut output) = (Framed::begin(&()), Vec::new());
            let then = session.input(&[frame(json), frame("{}")].concat(), &mut output);
            assert_eq!(then, Then::Read, "{json}");
            assert!(output.ends_with(&ok()), "{json}");
            let refusal = &output[PREFIX..output.len() - ok().len()];
            assert!(refusal.starts_with(br#"{"code":400,"msg":""#), "{json}");
        }
    }

    #[test]
    fn a_length_that_is_too_large_ends_the_connection() {
        let (mut session, mut output) = (Framed::begin(&()), Vec::new());
        let then = session.input(&[0, 1, 0, 1, b'{'], &mut output);
        assert_eq!(then, Then::Linger);
        assert!(output[PREFIX..].starts_with(br#"{"code":400,"#));
        assert_eq!(session.end_of_input(&mut output), Then::Close);
    }
}
