//! One reply of the workload `framed`: four bytes with its length, the highest first, then JSON with a code, which is to be 200.
//!
//! A reply that lies whole in what a read brought, as nearly all do, is looked at there. Only the beginning of one that was cut is kept.

use serde::Deserialize;

use crate::quote;

/// The bytes of the length.
const PREFIX: usize = 4;
/// A longer one is no sensible reply.
const REPLY_BYTES_MAX: usize = 1 << 20;
/// What is due.
const OK: u16 = 200;

#[derive(Deserialize)]
struct Inside {
    code: u16,
}

/// A reader of one reply.
#[derive(Clone, Debug)]
pub(super) struct FrameReply {
    /// Whether its code decides whether it is right.
    verify: bool,
    partial: Vec<u8>,
}

impl FrameReply {
    pub(super) fn new(verify: bool) -> Self {
        let partial = Vec::new();
        Self { verify, partial }
    }

    /// Reads on: of how many of the bytes the reply has its end; `None` where it goes on. Nothing is to be read after its end.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Option<usize>, String> {
        let before = self.partial.len();
        if before > 0 {
            self.partial.extend_from_slice(bytes);
        }
        let all = if before > 0 { &self.partial } else { bytes };
        let inside = whole(all)
            .map_err(|length| format!("a reply of {length} bytes: {}", quote::quoted(all, 0)))?;
        let Some(inside) = inside else {
            if before == 0 {
                self.partial.extend_from_slice(bytes);
            }
            return Ok(None);
        };
        match self.complaint(inside) {
            None => Ok(Some(PREFIX + inside.len() - before)),
            Some(words) => Err(words),
        }
    }

    fn complaint(&self, inside: &[u8]) -> Option<String> {
        if !self.verify {
            return None;
        }
        match serde_json::from_slice(inside) {
            Ok(Inside { code: OK }) => None,
            Ok(Inside { code }) => Some(format!(
                "a reply with the code {code}, where {OK} was due: {}",
                quote::quoted(inside, 0)
            )),
            Err(error) => Some(format!("no reply: {error} in {}", quote::quoted(inside, 0))),
        }
    }
}

/// What the first frame holds, once it is whole; an error is a length that none has.
fn whole(bytes: &[u8]) -> Result<Option<&[u8]>, u32> {
    let Some((prefix, rest)) = bytes.split_first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*prefix);
    match usize::try_from(length) {
        Ok(length) if length <= REPLY_BYTES_MAX => Ok(rest.get(..length)),
        _ => Err(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(inside: &str) -> Vec<u8> {
        [&(inside.len() as u32).to_be_bytes(), inside.as_bytes()].concat()
    }

    #[test]
    fn a_reply_ends_where_its_length_says_however_it_is_cut() {
        let reply = frame(r#"{"msg": "counted", "code": 200}"#);
        let two = [&reply[..], &reply].concat();
        for cut in 1..two.len() {
            let mut reader = FrameReply::new(true);
            let first = reader.read(&two[..cut]);
            if cut >= reply.len() {
                assert_eq!(first, Ok(Some(reply.len())), "{cut}");
            } else {
                assert_eq!(first, Ok(None), "{cut}");
                let rest = reader.read(&two[cut..]);
                assert_eq!(rest, Ok(Some(reply.len() - cut)), "{cut}");
            }
        }
    }

    #[test]
    fn another_code_and_what_is_no_reply_are_wrong_where_that_is_looked_at() {
        for (bytes, part) in [
            (frame(r#"{"code": 400, "msg": "no"}"#), "the code 400"),
            (frame("ok"), "no reply"),
            (frame(r#"{"msg": "ok"}"#), "code"),
            (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), "bytes: \"HTTP/1.1"),
        ] {
            let words = FrameReply::new(true).read(&bytes).expect_err(part);
            assert!(words.contains(part), "{words}");
        }
        let bytes = frame(r#"{"code": 400}"#);
        let read = FrameReply::new(false).read(&bytes);
        assert_eq!(read, Ok(Some(bytes.len())));
    }
}
