//! What is known of a reply that did not come in time: how far it came, or whether the peer's kernel has the connection at all.

use throng_record::ErrorKind;
use throng_sys::tcp_info::TcpInfo;

use super::Shard;
use crate::backend::Backend;
use crate::protocol::{Part, Replies};

impl<B: Backend> Shard<B> {
    /// Of a kept connection whose reply is overdue. A peer whose kernel dropped the handshake's last ACK, since its accept queue was full, does not
    /// have the connection: it acknowledges nothing, however often the data is sent again.
    #[cold]
    pub(super) fn overdue(&self, slot: u32, replies: &Replies) -> (ErrorKind, String) {
        let connection = self.connections[slot as usize];
        let socket = self.backend.socket(slot);
        let last = socket.and_then(|own| TcpInfo::of(own).ok());
        if connection.is_mid_reply() {
            let part = replies.part(connection.remembered);
            return (ErrorKind::ReplyStalled, stalled(part, last.as_ref()));
        }
        match last {
            Some(last) if connection.replies == 0 && acknowledges_nothing(&last) => {
                let again = last.total_retrans;
                let words = format!(
                    "the peer's kernel acknowledged no byte within the reply timeout, with {again} retransmissions on this connection"
                );
                (ErrorKind::NotAcknowledged, words)
            }
            _ => {
                let words = "no reply within the reply timeout";
                (ErrorKind::ReplyTimedOut, words.to_owned())
            }
        }
    }
}

/// The SYN counts as one acknowledged byte. Kernels that do not tell (before 4.1) are not believed to have acknowledged nothing.
fn acknowledges_nothing(last: &TcpInfo) -> bool {
    last.unacked > 0 && last.bytes_acked.is_some_and(|bytes| bytes <= 1)
}

/// How far a reply came, and for how long nothing has come since.
pub(super) fn stalled(part: Part, last: Option<&TcpInfo>) -> String {
    let came = match (part.came_bytes, part.whole_bytes) {
        (Some(came), Some(whole)) => format!("{came} of {whole} bytes of the reply came"),
        (Some(came), None) => format!("{came} bytes of the reply came, and not its end"),
        (None, _) => "a part of the reply came, and not its end".to_owned(),
    };
    match last {
        Some(last) => {
            let silent = f64::from(last.last_data_received_ms) / 1e3;
            format!("{came}, then nothing for {silent:.1} s")
        }
        None => format!("{came} within the reply timeout"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_reply_is_told_as_far_as_it_is_known() {
        let part = |came_bytes, whole_bytes| Part {
            came_bytes,
            whole_bytes,
        };
        for (part, words) in [
            (part(Some(5), Some(6)), "5 of 6 bytes of the reply came"),
            (
                part(Some(5), None),
                "5 bytes of the reply came, and not its end",
            ),
            (Part::default(), "a part of the reply came, and not its end"),
        ] {
            let told = stalled(part, None);
            assert_eq!(told, format!("{words} within the reply timeout"));
        }
    }
}
