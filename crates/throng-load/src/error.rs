//! Why a fleet could not be made or could not work at all. What happens to single connections is counted, not raised.

use std::io;

/// A failure of the generator itself.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The job contradicts itself.
    #[error("the load job cannot be done: {0}")]
    Job(String),
    /// The address of the job is none.
    #[error(transparent)]
    Address(#[from] throng_sys::address::ParseError),
    /// A thread, a descriptor table, an epoll or a ring could not be made.
    #[error("shard {shard} cannot {operation}: {source}{hint}")]
    Shard {
        /// Which shard.
        shard: u32,
        /// What it tried.
        operation: &'static str,
        /// The kernel's answer.
        source: io::Error,
        /// The likely cause and the next step, with its own punctuation.
        hint: &'static str,
    },
    /// A shard ended without an answer.
    #[error(
        "shard {0} ended without an answer: this is a fault of throng, please report it with the plan"
    )]
    ShardLost(u32),
}

impl LoadError {
    pub(crate) fn shard(shard: u32, operation: &'static str, source: io::Error) -> Self {
        Self::Shard {
            shard,
            operation,
            hint: hint(&source),
            source,
        }
    }
}

fn hint(error: &io::Error) -> &'static str {
    match number_name(error) {
        "EMFILE" | "ENFILE" => {
            "; the limit of open files is reached: raise it (`ulimit -n`) or use more `--shards`"
        }
        "ENOSYS" | "EPERM" => {
            "; io_uring is not allowed here (`sysctl kernel.io_uring_disabled`): use `--backend epoll`, see `throng doctor`"
        }
        "EINVAL" => {
            "; the kernel is older than io_uring needs here (Linux 6.1): use `--backend epoll`"
        }
        "EAGAIN" | "ENOMEM" => {
            "; threads or memory are exhausted: use fewer `--shards`, see `throng doctor`"
        }
        _ => "",
    }
}

/// The few error numbers that have a hint; the numbers are those of every Linux architecture.
fn number_name(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(1) => "EPERM",
        Some(11) => "EAGAIN",
        Some(12) => "ENOMEM",
        Some(22) => "EINVAL",
        Some(23) => "ENFILE",
        Some(24) => "EMFILE",
        Some(38) => "ENOSYS",
        _ => "",
    }
}
