//! One core of many used: a server that was allowed several CPUs used about one, others stood idle, and clients had asked for more.
//!
//! *That it was the limit* takes three things. A closed loop, which asks again as soon as it is answered, on several connections; a generator
//! with time to spare; and CPUs of the server's that nobody used (its neighbour on the same CPUs, such as the generator, may otherwise have had them).
//! How long its threads waited for a CPU says nothing: those that take turns under a lock are woken on the CPU of the one that lets it go, and
//! queue there for longer than the window together, beside a CPU that is idle (8 threads of CPython: 0.85 to 1.5 times the window).
//!
//! *Why* is told by what the server is (one loop, threads under a global lock), or by what was seen of its threads. Several threads of an
//! unknown server that come to one core together may do so by chance, each waiting for its clients now and then: there it is told only
//! where clients asked for several times as much as all CPUs could do at once.

use throng_record::finding::OneCoreOfMany;
use throng_record::format::plural;
use throng_record::{CatalogueRecord, DeclaredModel, OneCoreCause, Pacing};

use super::{Kind, Words};
use crate::evidence::{CoresSeen, Evidence};

pub(super) const KIND: Kind = Kind {
    name: "one-core-of-many",
    title: "One core of many used",
    page: include_str!("../../../../docs/findings/one-core-of-many.md"),
};

/// From where on a thread is busy all the time (the bound of `limit = server`), to one thread's work and a quarter of it beside: a runtime's
/// housekeeping, and the system calls for which a global lock is let go. (Eight threads of CPython that each worked for 0.25 ms a message came to 1.13.)
const CORES_USED: std::ops::RangeInclusive<f64> = 0.9..=1.25;
/// Half a core was left at least. A second thread would have had that for certain.
const CORES_IDLE_MIN: f64 = 0.5;
/// The generator had a fifth of its CPUs to spare: it could have asked for a quarter more.
const GENERATOR_BUSY_MAX: f64 = 0.8;
/// One thread did nearly all of it.
const ONE_THREADS_SHARE_MIN: f64 = 0.9;
/// Connections that ask at once for each CPU, where it is not known what holds the server.
const CONNECTIONS_PER_CPU_MIN: u32 = 4;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<OneCoreOfMany> {
    let cores = evidence.cores()?;
    let setting = evidence.setting;
    let idle = cores.idle?;
    let connections = evidence
        .serves_at_once()
        .map_or(setting.connections, |most| most.min(setting.connections));
    let exchange = setting.phases.exchange();
    let asks_at_once = |pacing: &Pacing| pacing.is_closed() || pacing.tasks().is_some();
    let has_asked_for_more = exchange.is_some_and(|exchange| asks_at_once(&exchange.pacing))
        && connections > 1
        && evidence.busy().generator? < GENERATOR_BUSY_MAX;
    // Of several services each is held to a core of its own.
    let services = setting.services;
    let could_have_used_more = cores.allowed > services && idle >= CORES_IDLE_MIN;
    let used_of_left = cores.used / cores.left / f64::from(services);
    if !has_asked_for_more || !could_have_used_more || !CORES_USED.contains(&used_of_left) {
        return None;
    }
    let held_by = held_by(evidence, &cores);
    let is_by_chance = held_by == OneCoreCause::NotKnown
        && connections < CONNECTIONS_PER_CPU_MIN.saturating_mul(cores.allowed);
    (!is_by_chance).then_some(OneCoreOfMany {
        cores_used: cores.used,
        cores_allowed: cores.allowed,
        cores_idle: idle,
        busiest_thread_cores: cores.busiest_thread,
        threads_max: evidence.threads_max(),
        connections,
        held_by,
    })
}

fn held_by(evidence: &Evidence<'_>, cores: &CoresSeen) -> OneCoreCause {
    let server = evidence.target.catalogue.as_ref();
    let threads_max = evidence.threads_max();
    let is_by_one = |busiest: f64| busiest >= ONE_THREADS_SHARE_MIN * cores.used;
    if let Some(lock) = server.and_then(global_lock) {
        lock
    } else if evidence.trial.workers == Some(1)
        || threads_max == 1
        || server.is_some_and(has_one_thread)
        || cores.busiest_thread.is_some_and(is_by_one)
    {
        OneCoreCause::OneThread
    } else {
        OneCoreCause::NotKnown
    }
}

/// The lock under which the threads of this server take turns, as its `server.toml` declares model and runtime.
fn global_lock(server: &CatalogueRecord) -> Option<OneCoreCause> {
    let has_threads = matches!(
        server.model?,
        DeclaredModel::ThreadPerConnection
            | DeclaredModel::TwoThreadsPerConnection
            | DeclaredModel::ThreadPool
            | DeclaredModel::TasksOnThreads
    );
    // `CPython`, `CPython with …`, and `CPython, free-threaded`, which has no such lock (PEP 703).
    let runtime = server.runtime.as_deref()?;
    let name = runtime.split([' ', ',']).next()?;
    match name {
        _ if !has_threads || runtime.contains("free-threaded") => None,
        "CPython" => Some(OneCoreCause::GlobalInterpreterLock),
        "Ruby" => Some(OneCoreCause::GlobalVmLock),
        _ => None,
    }
}

fn has_one_thread(server: &CatalogueRecord) -> bool {
    matches!(
        server.model,
        Some(DeclaredModel::EventLoop | DeclaredModel::Tasks)
    )
}

impl Words for OneCoreOfMany {
    fn happened(&self) -> String {
        format!(
            "{} at once to a server that used {:.2} of {} cores, while {:.2} were idle; it had {}{}.",
            plural(self.connections.into(), "connection"),
            self.cores_used,
            self.cores_allowed,
            self.cores_idle,
            plural(self.threads_max.into(), "thread"),
            match self.busiest_thread_cores {
                Some(busiest) if self.threads_max > 1 => {
                    format!(", the busiest of which used {busiest:.2} of a core")
                }
                _ => String::new(),
            }
        )
    }

    fn cause(&self) -> &'static str {
        match self.held_by {
            OneCoreCause::GlobalInterpreterLock => {
                "the global interpreter lock (GIL) of CPython: of all threads one at a time runs Python code, and the others wait for their turn."
            }
            OneCoreCause::GlobalVmLock => {
                "Ruby's global VM lock (GVL): of all threads one at a time runs Ruby code, and the others wait for their turn."
            }
            OneCoreCause::OneThread => {
                "one thread does all the work, and a thread runs on one CPU at a time."
            }
            OneCoreCause::NotKnown => {
                "not known; several threads or processes shared one core's worth of work, as they do where each holds the same lock while it works, where one hands the others their work, or under a quota of one CPU (cpu.max of a cgroup)."
            }
        }
    }

    fn remedy(&self) -> String {
        match self.held_by {
            OneCoreCause::GlobalInterpreterLock => {
                "several processes, one for each CPU, on one listener or by SO_REUSEPORT; or the free-threaded build of CPython (python3.13t, PEP 703), as in python/threads-free-threaded."
            }
            OneCoreCause::GlobalVmLock => {
                "several processes, one for each CPU, on one listener or by SO_REUSEPORT; or Ractors."
            }
            OneCoreCause::OneThread => {
                "a loop for each CPU: more workers (--workers) where it has them, several processes, or several listeners on one port (SO_REUSEPORT), as in epoll-shared and epoll-reuseport."
            }
            OneCoreCause::NotKnown => {
                "top -H -p PID shows whether one thread or each a little is busy, perf trace -s -p PID or strace -f -c -p PID what they wait in: futex is a lock."
            }
        }
        .to_owned()
    }

    fn gravity(&self) -> f64 {
        self.cores_idle
    }
}

#[cfg(test)]
mod tests {
    use throng_record::{Arrivals, PhaseSpec, Sequence, TasksSpec};

    use super::*;
    use crate::hand_made::Case;

    /// 32 clients of a server with 33 threads that took turns on one of four CPUs.
    fn case() -> Case {
        let mut case = Case::echo();
        case.server().threads_max = 33;
        case.server().cpus = (0..4).collect();
        case.server().busiest_thread_ns = Some(50_000_000);
        case.server_used(Some(1.0));
        case.generator_used(Some(0.3));
        case.seen.cores_idle = Some(2.9);
        case
    }

    fn held(case: &Case) -> Option<OneCoreCause> {
        find(&case.evidence()).map(|found| found.held_by)
    }

    fn changed(change: impl Fn(&mut Case)) -> Option<OneCoreCause> {
        let mut case = case();
        change(&mut case);
        held(&case)
    }

    const FOUND: Option<OneCoreCause> = Some(OneCoreCause::NotKnown);

    #[test]
    fn its_evidence_is_what_was_seen() {
        let expected = OneCoreOfMany {
            cores_used: 1.0,
            cores_allowed: 4,
            cores_idle: 2.9,
            busiest_thread_cores: Some(0.05),
            threads_max: 33,
            connections: 32,
            held_by: OneCoreCause::NotKnown,
        };
        assert_eq!(find(&case().evidence()), Some(expected));
    }

    /// Two of four CPUs: more than one server uses, and what two that are held to one core each do.
    #[test]
    fn of_several_services_each_may_be_held_to_a_core() {
        let of_services = |services: u32| {
            changed(|case| {
                let exchange = case.setting.phases.exchange_mut().expect("one");
                exchange.pacing = Pacing::Tasks(TasksSpec {
                    services,
                    choices: 1,
                    at_once: services,
                });
                case.setting.services = services;
                case.server_used(Some(2.0));
                case.seen.cores_idle = Some(1.9);
            })
        };
        assert_eq!([1, 2, 4].map(of_services), [None, FOUND, None]);
    }

    #[test]
    fn one_core_is_neither_less_than_a_busy_thread_nor_a_second_one() {
        for (used, expected) in [(0.89, None), (0.9, FOUND), (1.25, FOUND), (1.26, None)] {
            let found = changed(|case| case.server_used(Some(used)));
            assert_eq!(found, expected, "{used}");
        }
        // Of four CPUs, a tick of each not counted: 94 and 95 % are left.
        let stolen_from = |stolen_ms: u64| {
            changed(|case| {
                case.server_used(Some(0.85));
                case.server().stolen_ns = Some(stolen_ms * 1_000_000);
            })
        };
        assert_eq!((stolen_from(280), stolen_from(240)), (FOUND, None));
    }

    #[test]
    fn cpus_that_others_used_were_not_left_to_it() {
        for (idle, expected) in [(Some(0.5), FOUND), (Some(0.49), None), (None, None)] {
            let found = changed(|case| case.seen.cores_idle = idle);
            assert_eq!(found, expected, "{idle:?}");
        }
    }

    #[test]
    fn a_server_that_was_allowed_one_cpu_uses_all_it_has() {
        assert_eq!(changed(|case| case.server().cpus = vec![0, 1]), FOUND);
        assert_eq!(changed(|case| case.server().cpus = vec![0]), None);
        assert_eq!(changed(|case| case.server_used(None)), None, "unseen");
    }

    #[test]
    fn a_generator_that_had_nothing_to_spare_asked_for_no_more() {
        let mut case = case();
        for (busy, expected) in [(Some(0.79), FOUND), (Some(0.8), None), (None, None)] {
            case.generator_used(busy);
            assert_eq!(held(&case), expected, "{busy:?}");
        }
    }

    #[test]
    fn only_a_closed_loop_asks_for_as_much_as_there_is() {
        let mut case = case();
        case.setting.phases.exchange_mut().expect("one").pacing = Pacing::Open {
            rate_per_second: 1_000.0,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin: false,
        };
        assert_eq!(held(&case), None);
        let mut case = self::case();
        let hold = PhaseSpec::Hold { duration_ns: 0 };
        case.setting.phases = Sequence::on_open_connections([hold]);
        assert_eq!(held(&case), None);
    }

    #[test]
    fn one_connection_after_the_other_is_work_for_one() {
        let mut case = case();
        case.trial.workers = Some(1);
        case.setting.connections = 2;
        assert_eq!(held(&case), Some(OneCoreCause::OneThread));
        case.trial.job.fleet.serves_at_once = Some(1);
        assert_eq!(held(&case), None);
        case.trial.job.fleet.serves_at_once = None;
        case.setting.connections = 1;
        assert_eq!(held(&case), None);
    }

    #[test]
    fn several_unknown_threads_with_few_clients_may_come_to_one_core_by_chance() {
        let mut case = case();
        case.setting.connections = 16;
        assert_eq!(held(&case), FOUND);
        case.setting.connections = 15;
        assert_eq!(held(&case), None);
    }

    #[test]
    fn one_thread_is_told_by_its_number_by_the_workers_or_by_what_it_did() {
        let one = Some(OneCoreCause::OneThread);
        for (busiest_ms, expected) in [(900, one), (890, FOUND)] {
            let busiest_ns = busiest_ms * 1_000_000;
            let found = changed(|case| case.server().busiest_thread_ns = Some(busiest_ns));
            assert_eq!(found, expected, "{busiest_ms}");
        }
        let mut case = case();
        case.server().threads_max = 1;
        assert_eq!(held(&case), one);
        case.server().threads_max = 2;
        assert_eq!(held(&case), FOUND);
        case.trial.workers = Some(1);
        assert_eq!(held(&case), one);
        case.trial.workers = Some(2);
        assert_eq!(held(&case), FOUND);
    }

    #[test]
    fn a_global_lock_is_told_by_declared_model_and_runtime() {
        use DeclaredModel::{
            EventLoop, EventLoopProcesses, ProcessPerConnection, Tasks, TasksOnThreads,
            ThreadPerConnection, ThreadPool, TwoThreadsPerConnection,
        };
        use OneCoreCause::{
            GlobalInterpreterLock as Gil, GlobalVmLock as Gvl, NotKnown, OneThread,
        };
        for (model, runtime, expected) in [
            (ThreadPerConnection, "CPython", Gil),
            (ThreadPool, "CPython with gevent", Gil),
            (ThreadPerConnection, "CPython, free-threaded", NotKnown),
            (TwoThreadsPerConnection, "Ruby", Gvl),
            (TasksOnThreads, "Ruby", Gvl),
            (ThreadPerConnection, "JRuby", NotKnown),
            (TasksOnThreads, "Go", NotKnown),
            (Tasks, "CPython", OneThread),
            (EventLoop, "Ruby", OneThread),
            (EventLoop, "Node.js", OneThread),
            (EventLoopProcesses, "Node.js", NotKnown),
            (ProcessPerConnection, "CPython", NotKnown),
        ] {
            let mut case = case();
            case.target.catalogue = Some(CatalogueRecord {
                language: "any".to_owned(),
                server: "made".to_owned(),
                title: None,
                model: Some(model),
                runtime: Some(runtime.to_owned()),
                runtime_version: None,
                options: std::collections::BTreeMap::new(),
                ignores_backlog: false,
                contract: None,
            });
            assert_eq!(held(&case), Some(expected), "{model} of {runtime}");
        }
    }
}
