//! Backlog clamped: `listen(2)` was asked for more than `net.core.somaxconn`, and the kernel silently took that (`__sys_listen` in
//! net/socket.c).
//!
//! A server that listens with another backlog than it was asked for, although the kernel would have allowed it, is not meant.

use throng_record::finding::BacklogClamped;

use super::clause::maybe;
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "backlog-clamped",
    title: "Backlog clamped",
    page: include_str!("../../../../docs/findings/backlog-clamped.md"),
};

pub(super) fn find(evidence: &Evidence<'_>) -> Option<BacklogClamped> {
    let asked = evidence.backlog_asked()?;
    let in_force = evidence.backlog()?;
    let somaxconn = evidence.somaxconn();
    let is_the_kernels = somaxconn.is_none_or(|most| most == in_force);
    (in_force < asked && is_the_kernels).then_some(BacklogClamped {
        asked,
        in_force,
        somaxconn,
    })
}

impl Words for BacklogClamped {
    fn happened(&self) -> String {
        format!(
            "the server was asked for a backlog of {}, and {} is in force{}.",
            self.asked,
            self.in_force,
            maybe(self.somaxconn, |limit| format!(
                "; net.core.somaxconn is {limit}"
            ))
        )
    }

    fn cause(&self) -> &'static str {
        if is_the_kernels(self) {
            "listen(2) gives no more than net.core.somaxconn, and says nothing of it."
        } else {
            "the server passed another number to listen(2), such as a default of its runtime."
        }
    }

    fn remedy(&self) -> String {
        if is_the_kernels(self) {
            let asked = self.asked;
            format!(
                "sysctl -w net.core.somaxconn={asked} and start the server again; in a trial, --kernel somaxconn={asked}."
            )
        } else {
            "look for the backlog in the server's configuration, or in its call of listen(2)."
                .to_owned()
        }
    }

    fn gravity(&self) -> f64 {
        f64::from(self.asked) / f64::from(self.in_force.max(1))
    }
}

/// Whether it is the kernel's bound that is in force. Where that could not be read the kernel is the likelier one.
fn is_the_kernels(clamped: &BacklogClamped) -> bool {
    clamped
        .somaxconn
        .is_none_or(|most| most == clamped.in_force)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::{Case, listener};

    fn found(asked: Option<u32>, in_force: u32, somaxconn: Option<u32>) -> bool {
        let mut case = Case::backlog();
        if let Some(asked) = asked {
            case.ask_for_backlog(asked);
        }
        case.seen.somaxconn = somaxconn;
        case.queue().listeners = vec![listener(in_force, 0, 0.0)];
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
        case.ask_for_backlog(1_024);
        case.seen.somaxconn = Some(4);
        assert_eq!(find(&case.evidence()), None, "not looked up");
        case.trial.backlog_in_force = Some(4);
        let expected = BacklogClamped {
            asked: 1_024,
            in_force: 4,
            somaxconn: Some(4),
        };
        assert_eq!(find(&case.evidence()), Some(expected));
    }

    #[test]
    fn without_a_listener_nothing_is_in_force() {
        let mut case = Case::backlog();
        case.ask_for_backlog(256);
        case.queue().listeners = vec![];
        assert_eq!(find(&case.evidence()), None);
    }
}
