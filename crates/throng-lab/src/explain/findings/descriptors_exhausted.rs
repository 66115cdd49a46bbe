//! Descriptors exhausted: a table was full (`EMFILE`), or the machine's (`ENFILE`): the generator's, as its connects say, or the server's.
//!
//! A built-in server says so itself. Any other is believed to have none left where its process stood at its limit with every connection
//! open, and some connections were not served.

use throng_record::{ErrorKind, Finding, Side, finding};

use super::Evidence;
use crate::launcher::PAUSED;

/// How the system calls it (`strerror(3)`); `ENFILE` begins with the same words.
const TOO_MANY: &str = "Too many open files";
/// How a built-in server calls it whose loops have tables of their own, and which stops before an accept can fail.
const ALL_FULL: &str = "all loops are full";
/// Servers keep some in reserve, such as one for the connection that they accept only to close it.
const RESERVE_MAX: u64 = 4;

pub(super) fn of_generator(evidence: &Evidence<'_>) -> Option<Finding> {
    const KIND: ErrorKind = ErrorKind::DescriptorsExhausted;
    let failed = evidence.errors.of(KIND);
    (failed > 0 && evidence.connections.is_none()).then(|| {
        Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
            side: Side::Generator,
            limit: Some(evidence.limits.open_files_max),
            // Not those at the first failure: others were in flight then, and had their descriptors.
            open: evidence.connected(),
            failed: evidence.failed_by(KIND),
            descriptors_per_connection: None,
        })
    })
}

pub(super) fn of_server(evidence: &Evidence<'_>) -> Option<Finding> {
    let server = &evidence.server;
    let mut notes = server.ending.into_iter().flat_map(|ending| ending.notes());
    let says_so = notes.any(|note| {
        note.starts_with(PAUSED) && (note.contains(TOO_MANY) || note.contains(ALL_FULL))
    });
    let stood_at_limit = server
        .descriptors
        .is_some_and(|table| table.open + RESERVE_MAX >= table.limit);
    if evidence.connections.is_some() || !(says_so || stood_at_limit && evidence.not_served() > 0) {
        return None;
    }
    let served = server.served.unwrap_or(evidence.connected());
    Some(Finding::DescriptorsExhausted(
        finding::DescriptorsExhausted {
            side: Side::Server,
            limit: server.descriptors.map(|table| table.limit),
            open: served,
            failed: evidence.not_served().into(),
            descriptors_per_connection: per_connection(evidence, served),
        },
    ))
}

/// What the server's only process had open ÷ connections that it served. Built-in servers take one for each, and their loops may have tables of
/// their own, which are not seen here.
fn per_connection(evidence: &Evidence<'_>, served: u32) -> Option<f64> {
    let server = &evidence.server;
    let table = server
        .descriptors
        .filter(|_| !server.is_built_in && server.processes_max == 1 && served > 0)?;
    Some(table.open as f64 / f64::from(served))
}

#[cfg(test)]
mod tests {
    use throng_record::ConnectStop;
    use throng_sys::open_descriptors::OpenDescriptors;

    use super::*;
    use crate::explain::findings::hand_made::{Case, ended_with};

    #[test]
    fn the_generators_connects_tell_of_its_own() {
        let mut case = Case::echo();
        case.connect.connected = 1_013;
        case.setting.connections = 2_000;
        case.limits.open_files_max = 1_024;
        assert_eq!(of_generator(&case.evidence()), None);
        for _ in 0..17 {
            case.errors
                .count(ErrorKind::DescriptorsExhausted, String::new);
        }
        // Another way to fail was the first one, and there were 4 connects in flight then that opened all the same.
        case.errors.count(ErrorKind::ConnectTimedOut, String::new);
        case.connect.errors = case.errors.clone();
        case.connect.not_begun = 969;
        case.connect.stop = Some(ConnectStop {
            connection: 7,
            open: 1_009,
            at_ns: 1,
            kind: ErrorKind::ConnectTimedOut,
            message: String::new(),
        });
        let expected = Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
            side: Side::Generator,
            limit: Some(1_024),
            open: 1_013,
            failed: 986,
            descriptors_per_connection: None,
        });
        assert_eq!(of_generator(&case.evidence()), Some(expected));
        assert_eq!(of_server(&case.evidence()), None);
    }

    #[test]
    fn a_built_in_server_says_so_itself() {
        let paused = |cause: &str| {
            let mut case = Case::echo();
            case.setting.connections = 32;
            case.served = Some(20);
            case.ending = Some(ended_with(&format!(
                "note: accepting was paused 7 times, first because of: {cause}"
            )));
            of_server(&case.evidence())
        };
        let expected = Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
            side: Side::Server,
            limit: None,
            open: 20,
            failed: 12,
            descriptors_per_connection: None,
        });
        let found = paused("Too many open files (os error 24)");
        assert_eq!(found.as_ref(), Some(&expected));
        let full = "all loops are full (2 of them, the last with 243 connections)";
        assert_eq!(paused(full), Some(expected));
        assert_eq!(paused("Cannot allocate memory (os error 12)"), None);
    }

    /// As measured of a Go server whose `io.Copy` splices between connections: a socket and the two ends of a pipe for each.
    #[test]
    fn a_server_that_takes_three_for_each_connection_is_seen_to() {
        let mut case = Case::echo();
        case.setting.connections = 10_000;
        case.descriptors = Some(OpenDescriptors {
            open: 20_000,
            limit: 20_000,
        });
        case.served = Some(6_678);
        let each = |case: &Case| match of_server(&case.evidence()) {
            Some(Finding::DescriptorsExhausted(finding::DescriptorsExhausted {
                descriptors_per_connection,
                ..
            })) => descriptors_per_connection,
            other => panic!("{other:?}"),
        };
        let three = each(&case).expect("told");
        assert!((2.99..3.0).contains(&three), "{three}");
        case.processes_max = 2;
        assert_eq!(each(&case), None, "of which the table is not known");
        case.processes_max = 1;
        case.is_built_in = true;
        assert_eq!(each(&case), None);
    }

    #[test]
    fn anothers_full_table_counts_only_where_somebody_was_not_served() {
        let found = |open, served| {
            let mut case = Case::echo();
            case.setting.connections = 32;
            case.descriptors = Some(OpenDescriptors { open, limit: 30 });
            case.served = Some(served);
            of_server(&case.evidence()).is_some()
        };
        assert!(found(30, 20));
        assert!(found(26, 20), "some are kept in reserve");
        assert!(!found(25, 20));
        assert!(!found(30, 32));
    }
}
