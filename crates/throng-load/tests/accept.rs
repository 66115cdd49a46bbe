//! A job may time a multiplexer instead of exchanging messages.

#[expect(dead_code, reason = "shared with tests that use all of it")]
mod support;

use throng_load::{Interrupt, run_job};
use throng_record::{AcceptSpec, Backend, LoadEvent, Multiplexer, PhaseName, PhaseSpec, Sequence};

#[test]
fn accept_is_a_job_without_a_server() {
    // Nobody listens there, and nobody is to be asked.
    let mut job = support::job("127.0.0.1:1", Backend::Epoll);
    job.phases = Sequence(vec![PhaseSpec::Multiplex(AcceptSpec {
        multiplexer: Multiplexer::EpollLevel,
        published: false,
        connections: 20,
    })]);
    let mut told = Vec::new();
    let record = run_job(&job, &Interrupt::default(), &mut |event| told.push(event));
    let record = record.expect("done");
    let accept = record.phases.multiplexer().expect("one was timed");
    assert_eq!((accept.accepted, &accept.stopped_by), (20, &None));
    assert_eq!((record.phases.0.len(), record.phases.connected()), (1, 0));
    let phase = PhaseName::Multiplex;
    assert_eq!(told.first(), Some(&LoadEvent::Phase { phase }));
    assert!(!record.interrupted && told.len() > 1);
    let is_progress = |event| matches!(event, &LoadEvent::Progress { replies: 1..=20 });
    assert!(told.iter().skip(1).all(is_progress), "{told:?}");
}
