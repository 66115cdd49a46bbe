//! SYN cookies in use: the request queue was full too, so the kernel answered without keeping anything, and what was then dropped is not
//! sent again by the server.

use throng_record::finding::SynCookies;
use throng_record::format::{exact, plural, times};

use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "syn-cookies",
    title: "SYN cookies in use",
    page: include_str!("../../../../docs/findings/syn-cookies.md"),
};

impl Words for SynCookies {
    fn happened(&self) -> String {
        format!(
            "{} sent; {} came back with a valid one (SyncookiesRecv: the ACK that finds the accept queue full counts, and each retransmission of the data behind it), {} with an invalid or expired one; the request queue was full {}.",
            plural(self.sent, "SYN cookie"),
            plural(self.received, "segment"),
            exact(self.failed),
            times(self.request_queue_full)
        )
    }

    fn cause(&self) -> &'static str {
        "so many handshakes were under way that the request queue, as long as the backlog, was full too; the kernel then keeps nothing of a connection, and cannot send a SYN-ACK again."
    }

    fn remedy(&self) -> String {
        "a longer backlog. With --kernel tcp_syncookies=0 SYNs are dropped instead, and the waiting moves into the connect.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.sent as f64
    }
}
