//! Fan-out: known servers, and counts that must match exactly; then servers that greet or deliver wrongly, each in one way.

mod faults;
mod interrupted;
mod server;
#[path = "../support/mod.rs"]
mod support;
mod sustain;

use server::{Server, deliver, greet, silent};
use std::io::Write as _;
use support::BACKENDS;
use throng_load::{Interrupt, run_job};
use throng_record::{
    Arrivals, Backend, ErrorCounts, ErrorKind, FanoutPhases, FanoutSpec, LinePhase, LoadEvent,
    LoadJob, LoadRecord, PhaseName, Sustain, Work,
};

pub(crate) const CONNECTIONS: u32 = 40;

/// Forty connections, of which the fourteenth speaks.
pub(crate) fn job(address: &str, backend: Backend, change: impl Fn(&mut FanoutSpec)) -> LoadJob {
    let mut spec = FanoutSpec {
        greeting: Some(b"connected\n".to_vec()),
        line: b"hello\n".to_vec(),
        speaker: 13,
        sustain: None,
    };
    change(&mut spec);
    let mut job = support::job(address, backend);
    job.fleet.connections = CONNECTIONS;
    job.work = Work::Fanout(spec);
    job
}

/// Five milliseconds apart, exactly fifty.
pub(crate) fn fifty_lines(spec: &mut FanoutSpec) {
    spec.sustain = Some(Sustain {
        rate_per_second: 200.0,
        arrivals: Arrivals::Constant,
        duration_ns: 250_000_000,
    });
}

pub(crate) fn phases(record: &LoadRecord) -> &FanoutPhases {
    record.fanout.as_ref().expect("a fan-out")
}

/// So many of this kind, of these connections where few, and no others.
pub(crate) fn assert_only(errors: &ErrorCounts, kind: ErrorKind, connections: &[u32]) {
    assert_eq!(errors.of(kind), connections.len() as u64, "{errors:?}");
    assert_eq!(errors.total(), connections.len() as u64, "{errors:?}");
    let first = connections.len().min(16);
    assert_eq!(errors.connections[&kind], connections[..first]);
}

pub(crate) fn assert_none(errors: &ErrorCounts) {
    assert_eq!(errors.total(), 0, "{errors:?}");
}

fn assert_whole(phase: &LinePhase) {
    assert_none(&phase.errors);
    assert_eq!((phase.due, phase.received), (CONNECTIONS, CONNECTIONS));
    assert_eq!(phase.latency.count, u64::from(CONNECTIONS));
    let slices = &phase.by_index;
    let in_slices: u32 = slices.iter().map(|slice| slice.connections).sum();
    assert_eq!(in_slices, CONNECTIONS);
    let slowest_ns: Vec<u64> = phase.slowest.iter().map(|slow| slow.latency_ns).collect();
    assert_eq!(slowest_ns.len(), 10);
    assert!(slowest_ns.is_sorted_by(|a, b| a >= b));
    let slowest = slices.iter().map(|slice| slice.latency_ns_max).max();
    assert_eq!(Some(slowest_ns[0]), slowest);
}

#[test]
fn all_are_greeted_and_all_hear_the_line() {
    for backend in BACKENDS {
        for shards in [1, 3] {
            let server = Server::start(greet, deliver);
            let mut job = job(&server.address, backend, |_| {});
            job.fleet.shards = shards;
            let (record, events) = support::run_telling(&job);
            let phases = phases(&record);
            assert_whole(phases.acknowledge.as_ref().expect("greetings"));
            let get = phases.get.as_ref().expect("a line");
            assert_whole(get);
            assert_eq!(get.duration_ns, get.slowest[0].latency_ns);
            assert_eq!(phases.speaker, Some(13));
            assert!(phases.put_ns.is_some() && phases.sustained.is_none());
            assert_none(&record.errors());
            assert_eq!(record.close.closed_in_order, CONNECTIONS);
            let is_acknowledging = |event: &LoadEvent| {
                let phase = PhaseName::Acknowledge;
                *event == LoadEvent::Phase { phase }
            };
            let is_open = |event: &LoadEvent| matches!(event, LoadEvent::Connected { .. });
            let at = events.iter().position(is_acknowledging);
            assert!(
                at < events.iter().position(is_open),
                "greetings wait for nobody"
            );
            let waits: Vec<LoadEvent> = events
                .into_iter()
                .filter(LoadEvent::awaits_answer)
                .collect();
            assert_eq!(
                waits,
                [
                    LoadEvent::Phase {
                        phase: PhaseName::Connect
                    },
                    LoadEvent::Connected {
                        connected: CONNECTIONS
                    },
                    LoadEvent::Phase {
                        phase: PhaseName::Get
                    },
                    LoadEvent::Phase {
                        phase: PhaseName::Close
                    },
                ]
            );
        }
    }
}

#[test]
fn lines_may_come_byte_by_byte() {
    for backend in BACKENDS {
        let cut: server::Manner = |_, stream, line| {
            let line = if line.is_empty() {
                b"connected\n"
            } else {
                line
            };
            for byte in line {
                let _ = stream.write_all(&[*byte]);
            }
        };
        let server = Server::start(cut, cut);
        let record = support::run(&job(&server.address, backend, fifty_lines));
        let phases = phases(&record);
        assert_whole(phases.acknowledge.as_ref().expect("greetings"));
        assert_whole(phases.get.as_ref().expect("a line"));
        let sustained = phases.sustained.as_ref().expect("lines");
        assert_eq!((sustained.sent, sustained.deliveries), (50, 2000));
        assert_none(&record.errors());
    }
}

#[test]
fn without_a_greeting_there_is_no_such_phase() {
    for backend in BACKENDS {
        let server = Server::start(silent, deliver);
        let (record, events) = run_when_accepted(
            &server,
            &job(&server.address, backend, |spec| spec.greeting = None),
        );
        assert!(phases(&record).acknowledge.is_none());
        assert_whole(phases(&record).get.as_ref().expect("a line"));
        let phase = PhaseName::Acknowledge;
        assert!(!events.contains(&LoadEvent::Phase { phase }));
    }
}

/// The line is put when the server knows all connections.
pub(crate) fn run_when_accepted(server: &Server, job: &LoadJob) -> (LoadRecord, Vec<LoadEvent>) {
    let mut events = Vec::new();
    let record = run_job(job, &Interrupt::default(), &mut |event| {
        if let LoadEvent::Connected { connected } = event {
            server.await_accepted(connected);
        }
        events.push(event);
    });
    (record.expect("a job that can be done"), events)
}

fn refusal(change: impl Fn(&mut FanoutSpec)) -> String {
    let job = job("tcp://127.0.0.1:1", BACKENDS[0], change);
    run_job(&job, &Interrupt::default(), &mut |_| {})
        .expect_err("refused")
        .to_string()
}

#[test]
fn jobs_that_contradict_themselves_are_refused_in_words() {
    assert!(refusal(|spec| spec.speaker = CONNECTIONS).contains("speaks"));
    for line in ["", "hello", "he\nllo\n", "\n\n"] {
        let line = || line.as_bytes().to_vec();
        assert!(refusal(|spec| spec.line = line()).contains("newline"));
        assert!(refusal(|spec| spec.greeting = Some(line())).contains("newline"));
    }
    assert!(refusal(|spec| spec.line = b"connected\n".to_vec()).contains("another line"));
    for (rate_per_second, words) in [(0.0, "above 0"), (f64::NAN, "above 0"), (1e9, "lower rate")] {
        let sustain = Sustain {
            rate_per_second,
            arrivals: Arrivals::Constant,
            duration_ns: 1_000_000_000,
        };
        assert!(refusal(|spec| spec.sustain = Some(sustain)).contains(words));
    }
}
