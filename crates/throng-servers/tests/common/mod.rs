//! What the test programs share: the list of cases, servers as child processes, clients of every address family.
//!
//! *Method.* A server under test is a child process, as the launcher has it: it takes signals over, forks, and has
//! threads, descriptors and memory of its own. The child is the test program again, started with other arguments
//! (see `child.rs`), so the programs have no test harness of the compiler's; `libtest-mimic` gives them the same
//! command line, with one test for each behaviour, model and address family.

pub(crate) mod bystander;
pub(crate) mod case;
mod child;
pub(crate) mod client;
pub(crate) mod server;
pub(crate) mod setup;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Most trials wait for each other's ends and for drains: more of them at once than there are CPUs.
const TRIALS_AT_ONCE: usize = 12;

/// The `main` of each test program.
pub(crate) fn main(trials: impl FnOnce() -> Vec<Trial>) -> ExitCode {
    if let Some(exit) = child::serve_if_asked() {
        return exit;
    }
    throng_sys::limits::raise_open_files().expect("the soft limit rises to the hard one");
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(TRIALS_AT_ONCE);
    libtest_mimic::run(&arguments, trials()).exit_code()
}

/// Tests with their names.
macro_rules! named {
    ($($test:ident),* $(,)?) => {
        [$((stringify!($test), $test as fn(_))),*]
    };
}
pub(crate) use named;
