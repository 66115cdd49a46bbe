//! Threads exhausted: a server with a thread, or a process, for each connection could start no more.
//!
//! A built-in server says so itself. Any other is believed to have met the least of the limits where it was seen within a tenth of it, and some
//! connections were not served. Which limit it was is inferred: the one that allows the fewest threads.

use throng_record::{Finding, finding};

use super::Evidence;
use crate::capacity::MAPPINGS_OF_BUILT_IN_THREAD;

/// How a built-in server tells of what bounds its threads or processes.
const BOUNDED: &str = "are bounded by kernel.pid_max";
/// Of the limit: the rest of the machine's threads are counted with the server's.
const NEAR: f64 = 0.9;
/// Mappings of a thread's stack and its guard page; the built-in servers' threads have a signal stack with its own besides.
const MAPPINGS_OF_THREAD: u64 = 2;

struct Bound {
    name: &'static str,
    value: u64,
    /// Threads and processes of the server that it allows.
    threads: u64,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let server = &evidence.server;
    let least = least(evidence)?;
    let mut notes = server.ending.into_iter().flat_map(|ending| ending.notes());
    let says_so = notes.any(|note| note.contains(BOUNDED));
    let is_near = f64::from(server.threads_max) >= NEAR * least.threads as f64;
    if evidence.connections.is_some() || !(says_so || is_near && evidence.not_served() > 0) {
        return None;
    }
    Some(Finding::ThreadsExhausted(finding::ThreadsExhausted {
        limit_name: least.name.to_owned(),
        limit: least.value,
        threads: server.threads_max,
        served: server.served.unwrap_or(evidence.connected()),
        of_connections: evidence.setting.connections,
    }))
}

fn least(evidence: &Evidence<'_>) -> Option<Bound> {
    let (limits, server) = (&evidence.limits, &evidence.server);
    let machine = &limits.machine;
    let of_user = Some(machine.user_threads_max)
        .filter(|&threads| limits.binds_user_threads && threads < u64::MAX);
    let direct = [
        ("kernel.pid_max", machine.pid_max),
        ("kernel.threads-max", machine.threads_max),
        ("pids.max", machine.cgroup_pids_max),
        ("RLIMIT_NPROC", of_user),
    ];
    let direct = direct.into_iter().filter_map(|(name, value)| {
        let value = value?;
        Some(Bound {
            name,
            value,
            threads: value,
        })
    });
    // Each process has mappings of its own: of one thread it needs few.
    let processes = server.processes_max.max(1);
    let has_threads = server.threads_max > 2 * processes;
    let mappings = machine.max_map_count.filter(|_| has_threads);
    let mappings = mappings.map(|value| Bound {
        name: "vm.max_map_count",
        value,
        threads: u64::from(processes) * value
            / if server.is_built_in {
                MAPPINGS_OF_BUILT_IN_THREAD
            } else {
                MAPPINGS_OF_THREAD
            },
    });
    direct.chain(mappings).min_by_key(|bound| bound.threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::findings::hand_made::{Case, ended_with};

    fn case(threads_max: u32, served: u32) -> Case {
        let mut case = Case::echo();
        case.setting.connections = 32_000;
        case.threads_max = threads_max;
        case.served = Some(served);
        let machine = &mut case.limits.machine;
        machine.pid_max = Some(32_768);
        machine.threads_max = Some(60_000);
        machine.max_map_count = Some(65_530);
        machine.user_threads_max = 100;
        case
    }

    fn limit(case: &Case) -> Option<(String, u64)> {
        match find(&case.evidence()) {
            Some(Finding::ThreadsExhausted(finding::ThreadsExhausted {
                limit_name,
                limit,
                ..
            })) => Some((limit_name, limit)),
            None => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_least_limit_is_named_with_what_was_served() {
        let mut case = case(32_700, 31_000);
        case.limits.machine.max_map_count = Some(262_144);
        let expected = Finding::ThreadsExhausted(finding::ThreadsExhausted {
            limit_name: "kernel.pid_max".to_owned(),
            limit: 32_768,
            threads: 32_700,
            served: 31_000,
            of_connections: 32_000,
        });
        assert_eq!(find(&case.evidence()), Some(expected));
        case.limits.machine.cgroup_pids_max = Some(20_000);
        assert_eq!(limit(&case), Some(("pids.max".to_owned(), 20_000)));
        case.limits.binds_user_threads = true;
        assert_eq!(limit(&case), Some(("RLIMIT_NPROC".to_owned(), 100)));
    }

    #[test]
    fn mappings_bound_the_threads_of_one_process_and_not_many_processes() {
        let mut case = case(16_380, 16_000);
        assert_eq!(limit(&case), None, "two mappings each");
        case.is_built_in = true;
        assert_eq!(limit(&case), Some(("vm.max_map_count".to_owned(), 65_530)));
        case.processes_max = 16_380;
        assert_eq!(limit(&case), None);
    }

    #[test]
    fn a_server_that_says_so_is_believed_and_one_that_serves_all_is_not_suspected() {
        assert_eq!(limit(&case(32_700, 32_000)), None);
        let mut case = case(900, 890);
        assert_eq!(limit(&case), None);
        case.ending = Some(ended_with(
            "note: 110 connections were closed unserved, the first because of: EAGAIN; threads are bounded by kernel.pid_max",
        ));
        assert!(limit(&case).is_some());
    }
}
