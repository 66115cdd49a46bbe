//! SYN cookies in use: the request queue was full too, so the kernel answered without keeping anything, and what was then dropped is not
//! sent again by the server.

use throng_record::finding::SynCookies;
use throng_record::format::{exact, plural, times};

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "syn-cookies",
    title: "SYN cookies in use",
    page: include_str!("../../../../docs/findings/syn-cookies.md"),
};

pub(super) fn find(evidence: &Evidence<'_>) -> Option<SynCookies> {
    let sent = evidence.counter_of_overflow("TcpExt.SyncookiesSent");
    (sent > 0).then(|| SynCookies {
        sent,
        received: evidence.counter("TcpExt.SyncookiesRecv"),
        failed: evidence.counter("TcpExt.SyncookiesFailed"),
        request_queue_full: evidence.counter("TcpExt.TCPReqQFullDoCookies"),
    })
}

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

#[cfg(test)]
mod tests {
    use throng_record::Network;

    use super::*;
    use crate::hand_made::Case;

    #[test]
    fn cookies_sent_are_told_with_what_became_of_them() {
        let mut case = Case::backlog();
        case.counter("TcpExt.SyncookiesRecv", 24);
        assert_eq!(find(&case.evidence()), None, "none sent");
        case.counter("TcpExt.SyncookiesSent", 27);
        case.counter("TcpExt.SyncookiesFailed", 2);
        case.counter("TcpExt.TCPReqQFullDoCookies", 26);
        assert_eq!(
            find(&case.evidence()),
            Some(SynCookies {
                sent: 27,
                received: 24,
                failed: 2,
                request_queue_full: 26
            })
        );
        case.trial.network = Network::Host;
        assert_eq!(find(&case.evidence()), None, "may be another server's");
    }
}
