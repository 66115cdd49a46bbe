//! Threads exhausted: a server with a thread, or a process, for each connection could start no more.

use throng_record::finding::ThreadsExhausted;
use throng_record::format::{exact, plural};

use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "threads-exhausted",
    title: "Threads exhausted",
    page: include_str!("../../../../docs/findings/threads-exhausted.md"),
};

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
        let raise = match self.limit_name.as_str() {
            "pids.max" => "raise pids.max of the cgroup (TasksMax= of its unit)".to_owned(),
            "RLIMIT_NPROC" => "raise the user's limit (ulimit -u)".to_owned(),
            name => format!("raise {name} (sysctl -w {name}=…), and then whichever is the least"),
        };
        format!("{raise}, or serve with an event loop or light threads.")
    }

    fn gravity(&self) -> f64 {
        self.of_connections.saturating_sub(self.served).into()
    }
}
