//! Where every message has a connection of its own: somebody was answered, and nothing failed but in ways that are the question.
//!
//! That connects are refused or time out, that replies do not come and connections are reset is what such an experiment counts. Wrong
//! bytes, and a generator without ports or descriptors, are faults there too.

use throng_record::{
    Check, CheckKind, CheckResult, ConnectionsPhase, ErrorCounts, ErrorKind, LoadRecord,
};

use super::{errors, made};

/// At least one request was answered.
pub(super) fn somebody_was(connections: &ConnectionsPhase, load: &LoadRecord) -> Check {
    let kind = CheckKind::UnservedConnections;
    let ConnectionsPhase {
        begun, answered, ..
    } = *connections;
    if answered > 0 {
        let detail = format!("{answered} of {begun} requests were answered");
        return made(kind, CheckResult::Passed, answered as f64, 1.0, detail);
    }
    let errors = load.errors();
    let happened = errors.counts.iter().filter(|(_, count)| **count > 0);
    let kinds: Vec<String> = happened
        .map(|(kind, count)| format!("{count} {}", kind.words()))
        .collect();
    // Of what is a fault by itself the other check tells the cause.
    let has_cause = errors.counts.keys().any(|&kind| !is_counted(kind));
    let guess = if has_cause {
        "see the errors"
    } else {
        "the server speaks another protocol, closes for a reason of its own, or is slower than --timeout; see --workload, --send and --expect"
    };
    let tally = nobody_was(connections, load.exchange.warmup_replies);
    let detail = format!("{tally} ({}): {guess}", kinds.join(", "));
    made(kind, CheckResult::Failed, 0.0, 1.0, detail)
}

/// The failures are counted with those of the warm-up, and so must the requests be.
fn nobody_was(connections: &ConnectionsPhase, warmup_answered: u64) -> String {
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

/// No request failed in a way that is not the question.
pub(super) fn only_expected(errors: &ErrorCounts) -> Check {
    let kind = CheckKind::UnexpectedErrors;
    let mut unexpected = ErrorCounts::default();
    for (&error, &count) in errors.counts.iter().filter(|(kind, _)| !is_counted(**kind)) {
        unexpected.counts.insert(error, count);
        if let Some(example) = errors.first_examples.get(&error) {
            unexpected.first_examples.insert(error, example.clone());
        }
    }
    let failed = errors.total() - unexpected.total();
    if unexpected.total() > 0 {
        let detail = errors::in_words(&unexpected);
        return made(
            kind,
            CheckResult::Failed,
            unexpected.total() as f64,
            0.0,
            detail,
        );
    }
    let detail = match failed {
        0 => "no request failed".to_owned(),
        failed => format!("{failed} requests failed in ways that are counted in the report"),
    };
    made(kind, CheckResult::Passed, 0.0, 0.0, detail)
}

/// Whether it is one of the ways in which a full accept queue, or a server that cannot keep up, shows.
fn is_counted(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectRefused
            | ErrorKind::ConnectTimedOut
            | ErrorKind::Reset
            | ErrorKind::ClosedEarly
            | ErrorKind::Truncated
            | ErrorKind::ReplyTimedOut
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_enough_and_none_is_not() {
        let phase = |answered| ConnectionsPhase {
            begun: 160,
            answered,
            ..ConnectionsPhase::default()
        };
        let load = load([ErrorKind::Reset, ErrorKind::Reset, ErrorKind::ReplyTimedOut]);
        assert_eq!(somebody_was(&phase(1), &load).result, CheckResult::Passed);
        let check = somebody_was(&phase(0), &load);
        assert_eq!(check.result, CheckResult::Failed);
        let told =
            "0 of 160 requests were answered (2 reset, 1 reply timed out): the server speaks";
        assert!(check.detail.starts_with(told), "{}", check.detail);
    }

    fn load<const N: usize>(kinds: [ErrorKind; N]) -> LoadRecord {
        let mut load = LoadRecord::default();
        for kind in kinds {
            load.exchange.errors.count(kind, String::new);
        }
        load
    }

    #[test]
    fn failures_of_the_warm_up_are_set_against_its_requests() {
        let mut load = load([ErrorKind::ReplyTimedOut; 10]);
        let mut phase = ConnectionsPhase {
            warmup_begun: 10,
            ..ConnectionsPhase::default()
        };
        let told = |phase: &_, load: &_| somebody_was(phase, load).detail;
        let first = "0 of 10 requests were answered, warm-up included (10 reply timed out)";
        let found = told(&phase, &load);
        assert!(found.starts_with(first), "{found}");
        load.exchange.warmup_replies = 3;
        phase.begun = 5;
        let found = told(&phase, &load);
        let second =
            "3 of 15 requests were answered, warm-up included, and none of the 5 after it (";
        assert!(found.starts_with(second), "{found}");
    }

    #[test]
    fn a_fault_that_has_a_cause_gets_no_second_guess() {
        let load = load([ErrorKind::PortsExhausted]);
        let check = somebody_was(&ConnectionsPhase::default(), &load);
        assert_eq!(check.result, CheckResult::Failed);
        assert!(!check.detail.contains("protocol"), "{}", check.detail);
    }

    #[test]
    fn what_a_full_queue_does_is_counted_and_wrong_bytes_are_a_fault() {
        let mut errors = ErrorCounts::default();
        for kind in [ErrorKind::Reset, ErrorKind::ConnectTimedOut] {
            errors.count(kind, || "the first".to_owned());
        }
        assert_eq!(only_expected(&errors).result, CheckResult::Passed);
        errors.count(ErrorKind::WrongBytes, || "client 3".to_owned());
        let check = only_expected(&errors);
        assert_eq!(check.result, CheckResult::Failed);
        assert!(check.detail.contains("client 3"), "{}", check.detail);
        assert!(!check.detail.contains("reset"), "{}", check.detail);
    }
}
