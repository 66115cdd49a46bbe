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
    /// A multiplexer could not be timed.
    #[error("the timed multiplexer cannot {operation}: {source}{hint}")]
    Multiplexer {
        /// What was tried.
        operation: &'static str,
        /// The kernel's answer.
        source: io::Error,
        /// The likely cause and the next step, with its own punctuation.
        hint: &'static str,
    },
    /// There is nothing to make TLS handshakes with.
    #[error("no TLS handshake can be made: {0}")]
    Tls(String),
    /// A shard ended without an answer.
    #[error(
        "shard {0} ended without an answer: this is a fault of throng, please report it with the plan"
    )]
    ShardLost(u32),
}

/// The operations whose failures have hints of their own.
pub(crate) const MAKE_RING: &str = "make an io_uring";
pub(crate) const PIN: &str = "be pinned to its CPU";

// The numbers are those of every Linux architecture.
const EPERM: i32 = 1;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const EINVAL: i32 = 22;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const ENOSYS: i32 = 38;

impl LoadError {
    pub(crate) fn shard(shard: u32, operation: &'static str, source: io::Error) -> Self {
        Self::Shard {
            shard,
            operation,
            hint: hint(operation, &source),
            source,
        }
    }

    /// Neither shards nor a back end are anything that could be chosen differently here.
    pub(crate) fn multiplexer(operation: &'static str, source: io::Error) -> Self {
        let is_ring = operation == MAKE_RING;
        let hint = match source.raw_os_error() {
            Some(ENOSYS | EPERM) if is_ring => {
                "; io_uring is not allowed here (`sysctl kernel.io_uring_disabled`): time another one, see `throng doctor`"
            }
            Some(EINVAL) if is_ring => {
                "; the kernel is older than io_uring needs here (Linux 6.1): time another one"
            }
            Some(EMFILE | ENFILE) => "; the limit of open files is reached: raise it (`ulimit -n`)",
            Some(EAGAIN | ENOMEM) => "; threads or memory are exhausted: see `throng doctor`",
            _ => "",
        };
        Self::Multiplexer {
            operation,
            source,
            hint,
        }
    }
}

/// What an error number means depends on what was tried: EINVAL and EPERM say one thing of a ring, another of a CPU.
fn hint(operation: &str, error: &io::Error) -> &'static str {
    match (operation, error.raw_os_error()) {
        (_, Some(EMFILE | ENFILE)) => {
            "; the limit of open files is reached: raise it (`ulimit -n`) or use more `--shards`"
        }
        (_, Some(EAGAIN | ENOMEM)) => {
            "; threads or memory are exhausted: use fewer `--shards`, see `throng doctor`"
        }
        (MAKE_RING, Some(ENOSYS | EPERM)) => {
            "; io_uring is not allowed here (`sysctl kernel.io_uring_disabled`): use `--backend epoll`, see `throng doctor`"
        }
        (MAKE_RING, Some(EINVAL)) => {
            "; the kernel is older than io_uring needs here (Linux 6.1): use `--backend epoll`"
        }
        (PIN, Some(EINVAL | EPERM)) => "; name CPUs that this process may use, or `--cpus any`",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_fits_what_was_tried() {
        let invalid = || io::Error::from_raw_os_error(22);
        assert!(
            LoadError::shard(0, MAKE_RING, invalid())
                .to_string()
                .contains("--backend epoll")
        );
        assert!(
            LoadError::shard(0, PIN, invalid())
                .to_string()
                .contains("--cpus")
        );
        assert!(
            !LoadError::shard(0, "wait for replies", invalid())
                .to_string()
                .contains("io_uring")
        );
    }

    #[test]
    fn a_timed_multiplexer_has_no_back_end_to_choose() {
        for number in [EPERM, ENOSYS, EINVAL] {
            let error = LoadError::multiplexer(MAKE_RING, io::Error::from_raw_os_error(number));
            let words = error.to_string();
            assert!(words.contains("time another one"), "{words}");
            assert!(!words.contains("--backend"), "{words}");
        }
    }
}
