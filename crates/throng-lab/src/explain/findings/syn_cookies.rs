//! SYN cookies in use: the request queue was full too, so the kernel answered without keeping anything, and what was then dropped is not
//! sent again by the server.

use throng_record::{Finding, finding};

use super::Evidence;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let sent = evidence.counter_of_overflow("TcpExt.SyncookiesSent");
    (sent > 0).then(|| {
        Finding::SynCookies(finding::SynCookies {
            sent,
            received: evidence.counter("TcpExt.SyncookiesRecv"),
            failed: evidence.counter("TcpExt.SyncookiesFailed"),
            request_queue_full: evidence.counter("TcpExt.TCPReqQFullDoCookies"),
        })
    })
}

#[cfg(test)]
mod tests {
    use throng_record::Network;

    use super::*;
    use crate::explain::findings::hand_made::Case;

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
            Some(Finding::SynCookies(finding::SynCookies {
                sent: 27,
                received: 24,
                failed: 2,
                request_queue_full: 26
            }))
        );
        case.network = Network::Host;
        assert_eq!(find(&case.evidence()), None, "may be another server's");
    }
}
