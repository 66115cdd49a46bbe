//! One core of many used: a server that was allowed several CPUs used about one, others stood idle, and clients had asked for more.

use throng_record::OneCoreCause;
use throng_record::finding::OneCoreOfMany;
use throng_record::format::plural;

use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "one-core-of-many",
    title: "One core of many used",
    page: include_str!("../../../../docs/findings/one-core-of-many.md"),
};

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
