//! Whether a server is what it says that it is: its threads and processes while connections come.

use std::thread::sleep;
use std::time::Instant;

use throng_record::DeclaredModel;

use super::clause::{Clause, Outcome, Verdict};
use super::listening::is_served;
use super::server::{POLL, Server};
use super::stage::{Failure, Stage};

pub(super) const CLAUSES: [Clause; 1] = [Clause::core(
    "model",
    model,
    "its threads and processes become more with connections as the vocabulary says of its model",
)];

const CONNECTIONS: usize = 100;
/// Threads that a runtime may begin or end meanwhile for itself.
const OWN_THREADS: u64 = 12;

/// Threads and processes.
type Found = (u64, u64);

fn model(stage: &Stage<'_>) -> Outcome {
    if !stage.connections_last() {
        let because = "its connections do not last: it serves no other workload";
        return Ok(Verdict::Moot(because.to_owned()));
    }
    let server = stage.start()?;
    let connections = server.at_most(CONNECTIONS);
    // What a runtime begins with its first connection is no connection's.
    let mut first = stage.connect(&server)?;
    is_served(&mut first, stage.workload)?;
    drop(first);
    let before = settled(&server, stage)?;
    let mut clients = Vec::new();
    for _ in 0..connections {
        let mut client = stage.connect(&server)?;
        is_served(&mut client, stage.workload)?;
        // In a broadcast the others have heard it too, which is left unread.
        clients.push(client);
    }
    let model = stage.subject.model;
    let deadline = Instant::now() + stage.patience;
    loop {
        let with = found(&server)?;
        match compare(model, before, with, connections as u64) {
            Ok(()) => return Ok(Verdict::Holds),
            Err(seen) if Instant::now() >= deadline => return Err(seen),
            Err(_) => sleep(POLL),
        }
    }
}

/// Once the first connection's thread or process is gone: the fewest seen in a while.
fn settled(server: &Server<'_>, stage: &Stage<'_>) -> Result<Found, Failure> {
    const LOOKS: u32 = 20;
    let mut least = found(server)?;
    for _ in 0..LOOKS {
        sleep(POLL);
        if Instant::now() >= stage.deadline {
            break;
        }
        let now = found(server)?;
        least = (least.0.min(now.0), least.1.min(now.1));
    }
    Ok(least)
}

fn found(server: &Server<'_>) -> Result<Found, Failure> {
    let sample = server.sample()?;
    Ok((sample.threads, sample.processes))
}

/// What the vocabulary says, with some room for what a runtime does for itself.
fn compare(
    model: DeclaredModel,
    before: Found,
    with: Found,
    connections: u64,
) -> Result<(), Failure> {
    let (threads_more, processes_more) = (
        with.0.saturating_sub(before.0),
        with.1.saturating_sub(before.1),
    );
    let own = OWN_THREADS;
    // A few may be used again that were there for the first connection.
    let least = |each: u64| (each * connections).saturating_sub(own.min(connections / 2));
    let (threads_least, threads_most, processes_least, processes_most) = match model {
        DeclaredModel::EventLoop
        | DeclaredModel::EventLoops
        | DeclaredModel::EventLoopProcesses
        | DeclaredModel::ThreadPool
        | DeclaredModel::ProcessPool
        | DeclaredModel::Tasks => (0, own, 0, 0),
        DeclaredModel::TasksOnThreads => (0, own.max(connections / 2), 0, 0),
        DeclaredModel::ThreadPerConnection => (least(1), connections + own, 0, 0),
        DeclaredModel::TwoThreadsPerConnection => (least(2), 2 * connections + own, 0, 0),
        DeclaredModel::ProcessPerConnection => (0, u64::MAX, least(1), connections + own),
    };
    let is_within = (threads_least..=threads_most).contains(&threads_more)
        && (processes_least..=processes_most).contains(&processes_more);
    if is_within {
        return Ok(());
    }
    Failure::of(format!(
        "{} threads and {} processes became {} and {} with {connections} connections, which is not {}",
        before.0,
        before.1,
        with.0,
        with.1,
        model.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(model: DeclaredModel, threads_more: u64, processes_more: u64) -> bool {
        compare(model, (5, 2), (5 + threads_more, 2 + processes_more), 100).is_ok()
    }

    #[test]
    fn each_model_is_told_from_its_neighbours() {
        use DeclaredModel::{
            EventLoop, ProcessPerConnection, Tasks, TasksOnThreads, ThreadPerConnection,
            ThreadPool, TwoThreadsPerConnection,
        };
        for model in [EventLoop, Tasks, ThreadPool] {
            assert!(is(model, 0, 0) && is(model, 4, 0));
            assert!(!is(model, 100, 0) && !is(model, 0, 1) && !is(model, 49, 0));
        }
        assert!(is(TasksOnThreads, 40, 0) && !is(TasksOnThreads, 100, 0));
        assert!(is(ThreadPerConnection, 100, 0) && is(ThreadPerConnection, 99, 0));
        assert!(!is(ThreadPerConnection, 4, 0) && !is(ThreadPerConnection, 200, 0));
        assert!(is(TwoThreadsPerConnection, 200, 0) && !is(TwoThreadsPerConnection, 100, 0));
        assert!(is(ProcessPerConnection, 100, 100) && !is(ProcessPerConnection, 100, 0));
        assert!(!is(ThreadPerConnection, 100, 100));
    }
}
