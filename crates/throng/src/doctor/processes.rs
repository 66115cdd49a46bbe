//! Threads: what bounds a server with one for each connection.

use throng_record::format::exact;
use throng_sys::limits::MachineLimits;

use super::descriptors::amount;
use super::{Line, Status};

/// Threads that a server with one per connection should be able to have.
const PLENTY: u64 = 20_000;

pub(super) fn lines() -> Vec<Line> {
    let limits = MachineLimits::read();
    let mut lines = Vec::new();
    lines.extend(limits.pid_max.map(|limit| {
        line(
            "pid_max",
            limit,
            limit,
            "ids of threads and processes, on the whole machine",
        )
        .improve_unless_ok("sudo sysctl -w kernel.pid_max=4194304")
    }));
    lines.extend(limits.threads_max.map(|limit| {
        line("threads-max", limit, limit, "threads on the whole machine")
            .improve_unless_ok("sudo sysctl -w kernel.threads-max=1000000")
    }));
    lines.push(
        line(
            "threads of this user",
            limits.user_threads_max,
            limits.user_threads_max,
            "threads of all processes of this user; root is exempt",
        )
        .improve_unless_ok("sudo prlimit --pid $$ --nproc=1000000:1000000"),
    );
    // A thread of a Rust program takes four maps: its stack, the signal stack, and a guard for each.
    lines.extend(limits.max_map_count.map(|limit| {
        line(
            "max_map_count",
            limit,
            limit / 4,
            "memory maps of one process, four for each thread",
        )
        .improve_unless_ok("sudo sysctl -w vm.max_map_count=1000000")
    }));
    lines.push(match limits.cgroup_pids_max {
        Some(limit) => line("cgroup pids", limit, limit, "threads in this container or service")
            .improve_unless_ok("systemd-run --scope -p TasksMax=infinity throng …, or raise the container's pids limit"),
        None => Line::new("cgroup pids", Status::Ok, "no limit", "no container or service bounds the threads"),
    });
    lines
}

fn line(name: &'static str, limit: u64, threads: u64, of_what: &str) -> Line {
    let status = if threads < PLENTY {
        Status::Warn
    } else {
        Status::Ok
    };
    let meaning = if limit == u64::MAX {
        of_what.to_owned()
    } else {
        format!(
            "{of_what}: below {} connections to thread-per-connection",
            exact(threads)
        )
    };
    Line::new(name, status, amount(limit), meaning)
}
