//! *On one thread:* tokio's current-thread runtime. It is an event loop whose state machines the compiler writes: a message
//! costs a push to a queue and a poll of the task's state machine beside its two system calls.

use std::os::fd::BorrowedFd;

use throng_record::built_in::{BuiltInModel, Family};
use tokio::runtime::Builder;

use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "tokio-current-thread",
    family: Family::Tasks,
    summary: "a task for each connection, tokio on one thread",
    // The main thread runs all of it; the blocking pool stays empty.
    ..BuiltInModel::ONE_THREAD
};

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    super::run::<S>(runtime, opening, settings, stop)
}
