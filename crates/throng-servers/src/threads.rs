//! Room for threads, where connections have threads of their own: how large one is, how many there can be, and what is said
//! where there are no more. Who starts which thread, and when, is the model's.
//!
//! *Method.* The kernel refuses a thread (`clone(2)`, EAGAIN) where its own limits are reached, and a model closes the
//! connection that it was for. `vm.max_map_count` is another matter: the thread starts, and ends the process when its
//! alternative stack cannot be mapped. So those threads are counted here, and not started.

use std::io;

use throng_sys::sysctl;

/// The buffers are on the heap and the loops call little: they use a few KiB of their stack, also in an unoptimised build.
/// The default of 2 MiB would cost address space only, but that is counted by `ulimit -v` and by overcommit.
pub(crate) const STACK_BYTES: usize = 64 * 1024;

/// What to do where a connection had to be refused for want of a thread.
pub(crate) const REMEDY: &str = "threads are bounded by kernel.pid_max, kernel.threads-max, vm.max_map_count (four mappings each) \
                                 and the cgroup's pids.max: raise the least of them (`throng doctor`), or serve with an event loop";

/// A stack and the alternative stack that Rust's runtime gives each thread for reporting an overflow, each with its
/// guard page.
const MAPPINGS_PER_THREAD: u64 = 4;

/// Mappings left to the rest of the process.
const MAPPINGS_RESERVED: u64 = 1024;

/// Threads that `vm.max_map_count` has room for.
pub(crate) fn threads_max() -> usize {
    let mappings = sysctl::read_value("vm.max_map_count").unwrap_or(u64::MAX);
    let threads = mappings.saturating_sub(MAPPINGS_RESERVED) / MAPPINGS_PER_THREAD;
    usize::try_from(threads).unwrap_or(usize::MAX)
}

/// Refuses a server that cannot even have the threads that it begins with: so many of `what`.
pub(crate) fn refuse_more_than_fit(threads: usize, max: usize, what: &str) -> io::Result<()> {
    if threads <= max {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "vm.max_map_count has room for {max} threads, four mappings each, and {threads} {what} were asked for"
    )))
}

/// Why a connection is refused for whose thread there are no mappings left.
pub(crate) fn no_room() -> io::Error {
    io::Error::other("vm.max_map_count has no room for a further thread")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_in_numbers() {
        refuse_more_than_fit(3, 3, "workers").expect("they fit");
        let error = refuse_more_than_fit(4, 3, "workers").expect_err("one too many");
        for part in ["vm.max_map_count", "3 threads", "4 workers"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
