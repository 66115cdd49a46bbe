//! *On one thread:* tokio's current-thread runtime. It is an event loop whose state machines the compiler writes: a message
//! costs a push to a queue and a poll of the task's state machine beside its two system calls.

use std::os::fd::BorrowedFd;

use tokio::runtime::Builder;

use crate::declaration::{Count, Declaration, ServesAtOnce, Workers};
use crate::model::Family;
use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: Declaration = Declaration {
    name: "tokio-current-thread",
    family: Family::Tasks,
    summary: "a task for each connection, tokio on one thread",
    workers: Workers::One,
    serves_at_once: ServesAtOnce::Unbounded,
    // The main thread runs all of it; the blocking pool stays empty.
    threads: Count::ONE,
    processes: Count::ONE,
    serves_unix: true,
    takes_accept_threads: false,
    broadcasts: true,
};

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    super::run::<S>(runtime, opening, settings, stop)
}
