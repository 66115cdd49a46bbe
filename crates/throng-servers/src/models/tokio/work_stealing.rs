//! *On several threads* (M:N): as many worker threads as CPUs take turns at the tasks that are ready; an idle worker steals
//! from a busy one's queue. One worker at a time polls epoll for all of them, so a task may wake on another core than it slept
//! on. A wake-up costs a push to a queue, and now and then that of a parked worker.

use std::os::fd::BorrowedFd;

use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use tokio::runtime::Builder;

use crate::opening::Opening;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "tokio",
    family: Family::Tasks,
    summary: "a task for each connection, tokio's work-stealing threads",
    workers: Workers::OnePerCpu,
    // The main thread, which only waits for the end; the blocking pool stays empty.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    ..BuiltInModel::ONE_THREAD
};

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(opening.workers())
        .enable_all()
        .build()?;
    super::run::<S>(runtime, opening, settings, stop)
}
