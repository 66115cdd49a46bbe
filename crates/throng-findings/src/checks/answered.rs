//! Where every message has a connection of its own: nearly all were answered, and the kernel's account explains why the others were not.
//!
//! What a full accept queue does to a request is what such an experiment counts: a SYN or a final ACK is dropped, a SYN cookie expires, the
//! final ACK is answered by RST (`tcp_abort_on_overflow`), the request waits in the queue until its time is over. The server's program never
//! had such a connection. Every other failure is an error of the server, or of the generator: a reset or a close by the server, a reply
//! that it does not send, a connect that nobody listens for, wrong bytes, no local port.

use throng_record::{
    Check, CheckKind, CheckResult, ConnectionsPhase, ErrorCounts, ErrorKind, ExchangePhase, Network,
};

use super::{errors, made};
use crate::account::{Account, Judged};
use crate::evidence::Evidence;

/// With more than this share unanswered, percentiles of the answered alone say nothing of all: the 99th may be any other.
const SHARE_UNANSWERED_MAX: f64 = 0.001;

/// What the kernel's account says of failed requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelAccount<'a> {
    /// Of the requests that were looked into one by one. Those of the warm-up were not.
    account: &'a Account,
    /// By how much `ListenOverflows` grew; absent where the server's network is not visible.
    overflows: Option<u64>,
    /// The same of `ListenDrops`, which counts every SYN that is dropped at the listener.
    drops: Option<u64>,
    is_queue_observed: bool,
}

impl Evidence<'_> {
    /// What failed requests are judged by; absent where messages do not have connections of their own. In the host's network other servers move the
    /// counters too: there overflows count only where this trial's own connections have met a full queue.
    pub(super) fn kernel_account(&self) -> Option<KernelAccount<'_>> {
        let (phase, account) = self.requests()?;
        let counter = |name| self.is_in_sight().then(|| self.counter(name));
        let has_met_full_queue = self.trial.network == Network::Private
            || account.final_acks_dropped > 0
            || phase.attribution.connects_by_syn_retransmission > 0;
        Some(KernelAccount {
            account,
            overflows: counter("TcpExt.ListenOverflows")
                .map(|grown| if has_met_full_queue { grown } else { 0 }),
            drops: counter("TcpExt.ListenDrops"),
            is_queue_observed: self.trial.accept_queue.is_some(),
        })
    }
}

impl KernelAccount<'_> {
    /// So many of these failures are explained. A connect that times out had its SYN dropped, at the listener where that can be seen, and
    /// otherwise there or on the way: the server's program has no part in it.
    fn explained(&self, kind: ErrorKind, failed: u64) -> u64 {
        match kind {
            ErrorKind::ConnectTimedOut => failed.min(self.drops.unwrap_or(u64::MAX)),
            ErrorKind::ReplyTimedOut => self.one_by_one(&self.account.timed_out, failed),
            ErrorKind::Reset => self.one_by_one(&self.account.reset, failed),
            _ => 0,
        }
    }

    /// Failures of the warm-up are taken for such as those after it, where these are all explained. For others that could not be judged by
    /// themselves the overflows must be enough.
    fn one_by_one(&self, judged: &Judged, failed: u64) -> u64 {
        let others = failed.saturating_sub(judged.seen);
        let all_are_explained =
            self.is_queue_observed && judged.seen > 0 && judged.explained == judged.seen;
        let of_others = if all_are_explained {
            others
        } else {
            others.min(self.overflows.unwrap_or(0))
        };
        (judged.explained + of_others).min(failed)
    }
}

/// At least one request was answered, and so many that their percentiles are those of all.
pub(super) fn most_were(connections: &ConnectionsPhase, exchange: &ExchangePhase) -> Check {
    let kind = CheckKind::UnservedConnections;
    let ConnectionsPhase {
        begun, answered, ..
    } = *connections;
    if answered == 0 {
        return nobody_was(connections, exchange);
    }
    let (unanswered, bound) = (
        begun.saturating_sub(answered) as f64,
        begun as f64 * SHARE_UNANSWERED_MAX,
    );
    if unanswered > bound {
        let detail = format!(
            "answered {answered} of {begun}: percentiles of the answered requests alone are not those of all, so nothing is ranked; see the findings"
        );
        return made(kind, CheckResult::Partial, unanswered, bound, detail);
    }
    let detail = format!("{answered} of {begun} requests were answered");
    made(kind, CheckResult::Passed, unanswered, bound, detail)
}

fn nobody_was(connections: &ConnectionsPhase, exchange: &ExchangePhase) -> Check {
    let errors = &exchange.errors;
    // Of what is a fault by itself the other check tells the cause.
    let has_cause = errors.counts.keys().any(|&kind| !may_be_slow(kind));
    let guess = if has_cause {
        "see the errors"
    } else {
        "the server speaks another protocol, closes for a reason of its own, or is slower than --timeout; see --workload, --send and --expect"
    };
    let tally = tally_of_nobody(connections, exchange.warmup_replies);
    let detail = format!("{tally} ({}): {guess}", by_kind(errors));
    made(
        CheckKind::UnservedConnections,
        CheckResult::Failed,
        connections.begun as f64,
        0.0,
        detail,
    )
}

/// The failures are counted with those of the warm-up, and so must the requests be.
fn tally_of_nobody(connections: &ConnectionsPhase, warmup_answered: u64) -> String {
    let all = connections.begun_in_all();
    match (connections.warmup_begun, warmup_answered) {
        (0, _) => format!("0 of {all} requests were answered"),
        (_, 0) => format!("0 of {all} requests were answered, warm-up included"),
        (_, some) => format!(
            "{some} of {all} requests were answered, warm-up included, and none of the {} after it",
            connections.begun
        ),
    }
}

/// No request failed in a way that the kernel's account does not explain.
pub(super) fn only_explained(failed: &ErrorCounts, kernel: Option<&KernelAccount<'_>>) -> Check {
    let (mut explained, mut unexplained) = (ErrorCounts::default(), ErrorCounts::default());
    for (&kind, &count) in &failed.counts {
        let of_kernel = kernel.map_or(0, |kernel| kernel.explained(kind, count));
        if of_kernel > 0 {
            explained.counts.insert(kind, of_kernel);
        }
        if of_kernel < count {
            unexplained.counts.insert(kind, count - of_kernel);
            // The example may be one of those that are explained.
            if let Some(example) = failed.first_examples.get(&kind).filter(|_| of_kernel == 0) {
                unexplained.first_examples.insert(kind, example.clone());
            }
        }
    }
    let told = told_of_explained(&explained, kernel);
    let kind = CheckKind::UnexpectedErrors;
    if unexplained.total() == 0 {
        let detail = told.unwrap_or_else(|| "no request failed".to_owned());
        return made(kind, CheckResult::Passed, 0.0, 0.0, detail);
    }
    let may_have_waited = unexplained.of(ErrorKind::ReplyTimedOut) > 0
        && kernel.is_none_or(|kernel| kernel.overflows.is_none());
    let words = [
        told,
        may_have_waited.then(|| NOT_OBSERVED.to_owned()),
        // Last: it ends with what is to be done.
        Some(errors::in_words(&unexplained)),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let unexplained = unexplained.total() as f64;
    made(
        kind,
        CheckResult::Failed,
        unexplained,
        0.0,
        words.join("; "),
    )
}

const NOT_OBSERVED: &str = "the accept queue cannot be seen from here, so that a request that waited there looks like one that the server had";

fn told_of_explained(
    explained: &ErrorCounts,
    kernel: Option<&KernelAccount<'_>>,
) -> Option<String> {
    let total = explained.total();
    let requests = if total == 1 { "request" } else { "requests" };
    let is_in_sight = kernel.is_some_and(|kernel| kernel.drops.is_some());
    let why = if is_in_sight {
        "as the kernel's account explains: the server did not have their connections"
    } else {
        "and the server may not have had their connections: the counters of its kernel cannot be seen from here, and a full accept queue looks like loss on the way"
    };
    (total > 0).then(|| format!("{total} {requests} failed ({}), {why}", by_kind(explained)))
}

/// `2 reset, 1 reply timed out`.
fn by_kind(errors: &ErrorCounts) -> String {
    let happened = errors.counts.iter().filter(|(_, count)| **count > 0);
    let kinds: Vec<String> = happened
        .map(|(kind, count)| format!("{count} {}", kind.words()))
        .collect();
    kinds.join(", ")
}

/// Whether a server that is slow, or speaks another protocol, may show so.
fn may_be_slow(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectRefused
            | ErrorKind::ConnectTimedOut
            | ErrorKind::Reset
            | ErrorKind::ClosedEarly
            | ErrorKind::Truncated
            | ErrorKind::ReplyTimedOut
            | ErrorKind::ReplyStalled
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(begun: u64, answered: u64) -> ConnectionsPhase {
        ConnectionsPhase {
            begun,
            answered,
            ..ConnectionsPhase::default()
        }
    }

    #[test]
    fn an_answer_is_enough_for_a_figure_and_none_is_not() {
        let exchange = exchange([ErrorKind::Reset, ErrorKind::Reset, ErrorKind::ReplyTimedOut]);
        let check = most_were(&phase(160, 0), &exchange);
        assert_eq!(check.result, CheckResult::Failed);
        let told =
            "0 of 160 requests were answered (2 reset, 1 reply timed out): the server speaks";
        assert!(check.detail.starts_with(told), "{}", check.detail);
        let result = |begun, answered| most_were(&phase(begun, answered), &exchange).result;
        assert_eq!(result(160, 160), CheckResult::Passed);
        assert_eq!(result(1_000, 999), CheckResult::Passed);
        assert_eq!(result(1_000, 998), CheckResult::Partial);
        let part = most_were(&phase(50, 13), &exchange);
        assert_eq!(part.result, CheckResult::Partial);
        assert!(
            part.detail.starts_with("answered 13 of 50"),
            "{}",
            part.detail
        );
    }

    fn exchange<const N: usize>(kinds: [ErrorKind; N]) -> ExchangePhase {
        let mut exchange = ExchangePhase::default();
        for kind in kinds {
            exchange.errors.count(kind, String::new);
        }
        exchange
    }

    #[test]
    fn failures_of_the_warm_up_are_set_against_its_requests() {
        let mut exchange = exchange([ErrorKind::ReplyTimedOut; 10]);
        let mut phase = ConnectionsPhase {
            warmup_begun: 10,
            ..ConnectionsPhase::default()
        };
        let told = |phase: &_, exchange: &_| most_were(phase, exchange).detail;
        let first = "0 of 10 requests were answered, warm-up included (10 reply timed out)";
        let found = told(&phase, &exchange);
        assert!(found.starts_with(first), "{found}");
        exchange.warmup_replies = 3;
        phase.begun = 5;
        let found = told(&phase, &exchange);
        let second =
            "3 of 15 requests were answered, warm-up included, and none of the 5 after it (";
        assert!(found.starts_with(second), "{found}");
    }

    #[test]
    fn a_fault_that_has_a_cause_gets_no_second_guess() {
        let exchange = exchange([ErrorKind::PortsExhausted]);
        let check = most_were(&ConnectionsPhase::default(), &exchange);
        assert_eq!(check.result, CheckResult::Failed);
        assert!(!check.detail.contains("protocol"), "{}", check.detail);
    }

    const NONE: Judged = Judged {
        seen: 0,
        explained: 0,
    };

    fn judged(seen: u64, explained: u64) -> Judged {
        Judged { seen, explained }
    }

    /// The check of so many failures of each kind, with that account and so many overflows, each of which is a drop.
    fn checked(
        failed: &[(ErrorKind, u64)],
        (timed_out, reset): (Judged, Judged),
        overflows: Option<u64>,
    ) -> Check {
        let account = Account {
            timed_out,
            reset,
            ..Account::default()
        };
        let kernel = KernelAccount {
            account: &account,
            overflows,
            drops: overflows,
            is_queue_observed: overflows.is_some(),
        };
        let mut errors = ErrorCounts::default();
        for &(kind, count) in failed {
            for _ in 0..count {
                errors.count(kind, || "client 3: the first".to_owned());
            }
        }
        only_explained(&errors, Some(&kernel))
    }

    fn unexplained(check: &Check) -> f64 {
        let failed = check.measured.expect("counted");
        assert_eq!(check.result == CheckResult::Failed, failed > 0.0);
        failed
    }

    /// Every 50th connection of 5,000 is reset by a server whose queue never overflowed, and a seventh of the others is never answered.
    #[test]
    fn what_the_server_did_is_an_error_of_the_server() {
        use ErrorKind::{ClosedEarly, ConnectRefused, ReplyStalled, ReplyTimedOut, Reset};
        let check = checked(
            &[(Reset, 100), (ReplyTimedOut, 7)],
            (judged(7, 0), judged(100, 0)),
            Some(0),
        );
        assert_eq!(unexplained(&check), 107.0);
        assert!(check.detail.contains("100 × reset"), "{}", check.detail);
        assert!(check.detail.contains("client 3"), "{}", check.detail);
        for kind in [
            ClosedEarly,
            ConnectRefused,
            ReplyStalled,
            ErrorKind::WrongBytes,
        ] {
            let check = checked(&[(kind, 1)], (NONE, NONE), Some(1_000));
            assert_eq!(unexplained(&check), 1.0, "{kind:?}: no queue does that");
        }
    }

    #[test]
    fn what_a_full_queue_did_is_a_result() {
        use ErrorKind::{ConnectTimedOut, ReplyTimedOut, Reset};
        let failed = [(ConnectTimedOut, 4), (ReplyTimedOut, 2), (Reset, 71)];
        let check = checked(&failed, (judged(2, 2), judged(71, 71)), Some(325));
        assert_eq!(unexplained(&check), 0.0);
        let told = "77 requests failed (4 connect timed out, 71 reset, 2 reply timed out), as the kernel's account explains";
        assert!(check.detail.starts_with(told), "{}", check.detail);
        let mixed = checked(&failed, (judged(2, 1), judged(71, 70)), Some(325));
        assert_eq!(unexplained(&mixed), 2.0);
        assert!(!mixed.detail.contains("client 3"), "{}", mixed.detail);
        assert!(
            mixed.detail.starts_with("75 requests failed"),
            "{}",
            mixed.detail
        );
        assert!(
            mixed.detail.ends_with("raise --timeout"),
            "{}",
            mixed.detail
        );
        let dropped_nowhere = checked(&failed, (judged(2, 2), judged(71, 71)), Some(1));
        assert_eq!(unexplained(&dropped_nowhere), 3.0, "one SYN was dropped");
    }

    #[test]
    fn failures_of_the_warm_up_are_like_those_after_it_or_need_an_overflow_each() {
        use ErrorKind::ReplyTimedOut;
        let failed = [(ReplyTimedOut, 9)];
        let rest = |seen, explained, overflows| {
            unexplained(&checked(
                &failed,
                (judged(seen, explained), NONE),
                Some(overflows),
            ))
        };
        assert_eq!(rest(4, 4, 0), 0.0);
        assert_eq!(rest(4, 3, 0), 6.0);
        assert_eq!(rest(0, 0, 0), 9.0);
        assert_eq!(rest(0, 0, 7), 2.0);
    }

    #[test]
    fn of_a_server_elsewhere_it_is_said_what_cannot_be_seen() {
        use ErrorKind::{ConnectTimedOut, ReplyTimedOut};
        let connects = checked(&[(ConnectTimedOut, 4)], (NONE, NONE), None);
        assert_eq!(unexplained(&connects), 0.0);
        assert!(
            connects.detail.contains("cannot be seen from here"),
            "{}",
            connects.detail
        );
        let replies = checked(&[(ReplyTimedOut, 3)], (judged(3, 1), NONE), None);
        assert_eq!(unexplained(&replies), 2.0);
        assert!(
            replies.detail.contains("cannot be seen from here"),
            "{}",
            replies.detail
        );
    }
}
