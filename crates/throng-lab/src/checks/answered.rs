//! Where every message has a connection of its own: somebody was answered, and nothing failed but in ways that are the question.
//!
//! That connects are refused or time out, that replies do not come and connections are reset is what such an experiment counts. Wrong
//! bytes, and a generator without ports or descriptors, are faults there too.

use throng_record::{Check, CheckKind, CheckResult, ConnectionsPhase, ErrorCounts, ErrorKind};

use super::{errors, made};

/// At least one request was answered.
pub(super) fn somebody_was(connections: &ConnectionsPhase, errors: &ErrorCounts) -> Check {
    let ConnectionsPhase {
        begun, answered, ..
    } = *connections;
    let kind = CheckKind::UnservedConnections;
    let detail = format!("{answered} of {begun} requests were answered");
    if answered > 0 {
        return made(kind, CheckResult::Passed, answered as f64, 1.0, detail);
    }
    let kinds: Vec<String> = errors
        .counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(kind, count)| format!("{count} {}", kind.words()))
        .collect();
    let detail = format!(
        "{detail} ({}): the server speaks another protocol, closes for a reason of its own, or is slower than --timeout; see --workload, --send and --expect",
        kinds.join(", ")
    );
    made(kind, CheckResult::Failed, 0.0, 1.0, detail)
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
        let mut errors = ErrorCounts::default();
        for kind in [ErrorKind::Reset, ErrorKind::Reset, ErrorKind::ReplyTimedOut] {
            errors.count(kind, String::new);
        }
        assert_eq!(somebody_was(&phase(1), &errors).result, CheckResult::Passed);
        let check = somebody_was(&phase(0), &errors);
        assert_eq!(check.result, CheckResult::Failed);
        let told = "0 of 160 requests were answered (2 reset, 1 reply timed out)";
        assert!(check.detail.starts_with(told), "{}", check.detail);
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
