//! Threads exhausted: a server with a thread, or a process, for each connection could start no more.
//!
//! A built-in server says so itself. Any other is believed to have met the least of the limits where it was seen within a tenth of it, and some
//! connections were not served. Which limit it was is inferred: the one that allows the fewest threads.

use throng_record::finding::ThreadsExhausted;
use throng_record::format::{exact, plural};

use super::{Kind, Words};
use crate::evidence::Evidence;
use crate::limits::{Bound, MAPPINGS, OF_THREADS, mappings_of_thread, of_threads};
use crate::server::Ending;

pub(super) const KIND: Kind = Kind {
    name: "threads-exhausted",
    title: "Threads exhausted",
    page: include_str!("../../../../docs/findings/threads-exhausted.md"),
};

/// How a built-in server tells of what bounds its threads or processes.
const BOUNDED: &str = "are bounded by kernel.pid_max";
/// Of the limit: the rest of the machine's threads are counted with the server's.
const NEAR: f64 = 0.9;
/// A limit of this machine, and how many threads and processes of the server it allows.
struct Least {
    name: &'static str,
    value: u64,
    threads: u64,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Option<ThreadsExhausted> {
    let threads_max = evidence.threads_max();
    let least = least(evidence)?;
    let mut notes = evidence.ending().into_iter().flat_map(Ending::notes);
    let says_so = notes.any(|note| note.contains(BOUNDED));
    let is_near = f64::from(threads_max) >= NEAR * least.threads as f64;
    if evidence.has_own_connections() || !(says_so || is_near && evidence.not_served() > 0) {
        return None;
    }
    Some(ThreadsExhausted {
        limit_name: least.name.to_owned(),
        limit: least.value,
        threads: threads_max,
        served: evidence.served().unwrap_or(evidence.phases().kept()),
        of_connections: evidence.setting.connections,
    })
}

fn least(evidence: &Evidence<'_>) -> Option<Least> {
    let limits = &evidence.seen.limits;
    let each = |bound: &Bound, threads: &dyn Fn(u64) -> u64| {
        let value = (bound.value)(limits)?;
        Some(Least {
            name: bound.name,
            value,
            threads: threads(value),
        })
    };
    let direct = OF_THREADS
        .iter()
        .filter_map(|bound| each(bound, &|value| value));
    // Each process has mappings of its own: of one thread it needs few.
    let processes = evidence.processes_max().max(1);
    let has_threads = evidence.threads_max() > 2 * processes;
    let of_thread = mappings_of_thread(evidence.target.kind);
    let of_all = |value| u64::from(processes) * value / of_thread;
    let mapped = has_threads.then(|| each(&MAPPINGS, &of_all)).flatten();
    direct.chain(mapped).min_by_key(|least| least.threads)
}

impl Words for ThreadsExhausted {
    fn happened(&self) -> String {
        format!(
            "{} of {} were served, by {} at most; the least limit here is {} = {}.",
            exact(self.served.into()),
            plural(self.of_connections.into(), "connection"),
            plural(self.threads.into(), "thread"),
            self.limit_name,
            exact(self.limit)
        )
    }

    fn cause(&self) -> &'static str {
        "a thread or a process for each connection: threads and processes share the ids below kernel.pid_max, and a thread's stack takes mappings besides."
    }

    fn remedy(&self) -> String {
        let raise = match of_threads(&self.limit_name) {
            Some(bound) => format!(" ({})", bound.raised_to("…")),
            None => String::new(),
        };
        format!(
            "raise {}{raise}, and then whichever is the least, or serve with an event loop or light threads.",
            self.limit_name
        )
    }

    fn gravity(&self) -> f64 {
        self.of_connections.saturating_sub(self.served).into()
    }
}

#[cfg(test)]
mod tests {
    use throng_record::TargetKind;

    use super::*;
    use crate::hand_made::{Case, ended_with};

    fn case(threads_max: u32, served: u32) -> Case {
        let mut case = Case::echo();
        case.setting.connections = 32_000;
        case.server().threads_max = threads_max;
        case.exchange().connections_served = served;
        let limits = &mut case.seen.limits;
        limits.pid_max = Some(32_768);
        limits.threads_max = Some(60_000);
        limits.max_map_count = Some(65_530);
        case
    }

    fn limit(case: &Case) -> Option<(String, u64)> {
        let found = find(&case.evidence())?;
        Some((found.limit_name, found.limit))
    }

    #[test]
    fn the_least_limit_is_named_with_what_was_served() {
        let mut case = case(32_700, 31_000);
        case.seen.limits.max_map_count = Some(262_144);
        let expected = ThreadsExhausted {
            limit_name: "kernel.pid_max".to_owned(),
            limit: 32_768,
            threads: 32_700,
            served: 31_000,
            of_connections: 32_000,
        };
        assert_eq!(find(&case.evidence()), Some(expected));
        case.seen.limits.cgroup_pids_max = Some(20_000);
        assert_eq!(limit(&case), Some(("pids.max".to_owned(), 20_000)));
        case.seen.limits.user_threads_max = Some(100);
        assert_eq!(limit(&case), Some(("RLIMIT_NPROC".to_owned(), 100)));
    }

    #[test]
    fn mappings_bound_the_threads_of_one_process_and_not_many_processes() {
        let mut case = case(16_380, 16_000);
        assert_eq!(limit(&case), None, "two mappings each");
        case.target.kind = TargetKind::BuiltIn;
        assert_eq!(limit(&case), Some(("vm.max_map_count".to_owned(), 65_530)));
        case.server().processes_max = 16_380;
        assert_eq!(limit(&case), None);
    }

    #[test]
    fn a_server_that_says_so_is_believed_and_one_that_serves_all_is_not_suspected() {
        assert_eq!(limit(&case(32_700, 32_000)), None);
        let mut case = case(900, 890);
        assert_eq!(limit(&case), None);
        case.end(ended_with(
            "note: 110 connections were closed unserved, the first because of: EAGAIN; threads are bounded by kernel.pid_max",
        ));
        assert!(limit(&case).is_some());
    }
}
