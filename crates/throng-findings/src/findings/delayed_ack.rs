//! Delayed ACK against Nagle: a reply written in two pieces waits, since the second is not sent before the first is acknowledged
//! (RFC 896) and the peer delays that by 40 ms (`TCP_DELACK_MIN`, include/net/tcp.h; RFC 1122, 4.2.3.2).

use throng_record::finding::DelayedAck;
use throng_record::format::{exact, plural};

use super::clause::{percent, time};
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "delayed-ack",
    title: "Delayed ACK",
    page: include_str!("../../../../docs/findings/delayed-ack.md"),
};

impl Words for DelayedAck {
    fn happened(&self) -> String {
        format!(
            "{} of the replies ({} in all) came in pieces, the last about 40 ms after the first (median of these {}), with {} (DelayedACKs).",
            percent(self.share_of_replies),
            exact(self.replies),
            time(self.gap_ns_median),
            plural(self.delayed_acks, "delayed ACK")
        )
    }

    fn cause(&self) -> &'static str {
        "a message in two writes without TCP_NODELAY: Nagle's algorithm holds the second back until the first is acknowledged, and the peer delays that ACK by 40 ms."
    }

    fn remedy(&self) -> String {
        "set TCP_NODELAY, or send a message with one write (writev, a buffer, MSG_MORE).".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.share_of_replies
    }
}
