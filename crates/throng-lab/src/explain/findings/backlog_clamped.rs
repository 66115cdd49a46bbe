//! Backlog clamped: `listen(2)` was asked for more than `net.core.somaxconn`, and the kernel silently took that (`__sys_listen` in
//! net/socket.c).
//!
//! A server that listens with another backlog than it was asked for, although the kernel would have allowed it, is not meant.

use throng_record::{Finding, finding};

use super::Evidence;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let asked = evidence.server.backlog_asked?;
    let in_force = evidence.backlog()?;
    let somaxconn = evidence.somaxconn;
    let is_the_kernels = somaxconn.is_none_or(|most| most == in_force);
    (in_force < asked && is_the_kernels).then_some(Finding::BacklogClamped(
        finding::BacklogClamped {
            asked,
            in_force,
            somaxconn,
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::findings::hand_made::{Case, listener};

    fn found(asked: Option<u32>, in_force: u32, somaxconn: Option<u32>) -> bool {
        let mut case = Case::backlog();
        case.backlog_asked = asked;
        case.somaxconn = somaxconn;
        case.queue.listeners = vec![listener(in_force, 0, 0.0)];
        find(&case.evidence()).is_some()
    }

    #[test]
    fn less_than_asked_is_clamped_where_it_is_the_kernels_bound() {
        assert!(found(Some(256), 128, Some(128)));
        assert!(found(Some(256), 128, None));
        assert!(!found(Some(256), 5, Some(4_096)), "the server's own choice");
        assert!(!found(Some(128), 128, Some(128)));
        assert!(!found(Some(5), 128, Some(128)));
        assert!(!found(None, 128, Some(128)));
    }

    #[test]
    fn that_of_kept_connections_is_clamped_too() {
        let mut case = Case::echo();
        case.backlog_asked = Some(1_024);
        case.somaxconn = Some(4);
        assert_eq!(find(&case.evidence()), None, "not looked up");
        case.backlog_in_force = Some(4);
        let expected = Finding::BacklogClamped(finding::BacklogClamped {
            asked: 1_024,
            in_force: 4,
            somaxconn: Some(4),
        });
        assert_eq!(find(&case.evidence()), Some(expected));
    }

    #[test]
    fn without_a_listener_nothing_is_in_force() {
        let mut case = Case::backlog();
        case.backlog_asked = Some(256);
        case.queue.listeners = vec![];
        assert_eq!(find(&case.evidence()), None);
    }
}
