//! Fan-out: known servers, and counts that must match exactly; then servers that greet or deliver wrongly, each in one way.

mod faults;
mod interrupted;
mod server;
#[expect(dead_code, reason = "shared with tests that use all of it")]
#[path = "../support/mod.rs"]
mod support;
mod sustain;

use server::{Server, deliver, greet, silent};
use std::io::Write as _;
use support::BACKENDS;
use throng_load::{Interrupt, run_job};
use throng_record::{
    Arrivals, Backend, ErrorCounts, ErrorKind, LinePhase, LoadEvent, LoadJob, LoadRecord,
    PhaseName, PhaseSpec, PutPhase, PutSpec, Sequence, SustainSpec, SustainedPhase,
};

pub(crate) const CONNECTIONS: u32 = 40;

/// What the phases of a fan-out are made of.
pub(crate) struct FanoutSpec {
    /// Absent where nobody is greeted.
    pub(crate) greeting: Option<Vec<u8>>,
    pub(crate) line: Vec<u8>,
    pub(crate) speaker: u32,
    /// Lines at a rate: how many per second, how they are spaced, and for how many nanoseconds.
    pub(crate) sustain: Option<(f64, Arrivals, u64)>,
}

impl FanoutSpec {
    fn phases(self) -> Sequence {
        let put = PutSpec {
            line: self.line,
            speaker: self.speaker,
        };
        let greeting = self.greeting;
        let acknowledge = greeting.map(|greeting| PhaseSpec::Acknowledge { greeting });
        let get = [PhaseSpec::Get(put.clone())];
        let sustain = self
            .sustain
            .map(|(rate_per_second, arrivals, duration_ns)| {
                PhaseSpec::Sustain(SustainSpec {
                    put,
                    rate_per_second,
                    arrivals,
                    duration_ns,
                })
            });
        Sequence::on_open_connections(acknowledge.into_iter().chain(get).chain(sustain))
    }
}

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
    job.phases = spec.phases();
    job
}

/// Five milliseconds apart, exactly fifty.
pub(crate) fn fifty_lines(spec: &mut FanoutSpec) {
    spec.sustain = Some((200.0, Arrivals::Constant, 250_000_000));
}

pub(crate) fn greetings(record: &LoadRecord) -> &LinePhase {
    record.phases.greeting().expect("greetings")
}

pub(crate) fn put(record: &LoadRecord) -> &PutPhase {
    record.phases.put().expect("a line")
}

pub(crate) fn sustained(record: &LoadRecord) -> &SustainedPhase {
    record.phases.sustained().expect("lines")
}

/// So many connections closed in order.
pub(crate) fn assert_closed(record: &LoadRecord, connections: u32) {
    let close = record.phases.close().expect("the close");
    assert_eq!(close.closed_in_order, connections);
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
            assert_whole(greetings(&record));
            let put = put(&record);
            assert_whole(&put.line);
            assert_eq!(put.line.duration_ns, put.line.slowest[0].latency_ns);
            assert_eq!(put.speaker, Some(13));
            assert!(put.put_ns.is_some() && record.phases.sustained().is_none());
            assert_none(&record.phases.errors());
            let connect = record.phases.connect().expect("the connects");
            assert_eq!(connect.connected, CONNECTIONS);
            assert_closed(&record, CONNECTIONS);
            assert_told_in_order(events);
        }
    }
}

/// Each phase but the greetings, which come of the server's own accord, waits for an answer.
fn assert_told_in_order(mut events: Vec<LoadEvent>) {
    use PhaseName::{Acknowledge, Close, Connect, Get};
    let phase = |phase| LoadEvent::Phase { phase };
    events.retain(|event| !matches!(event, LoadEvent::Progress { .. }));
    assert_eq!(events, [Connect, Acknowledge, Get, Close].map(phase));
    events.retain(LoadEvent::awaits_answer);
    assert_eq!(events, [Connect, Get, Close].map(phase));
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
        assert_whole(greetings(&record));
        assert_whole(&put(&record).line);
        let sustained = sustained(&record);
        assert_eq!((sustained.sent, sustained.deliveries), (50, 2000));
        assert_none(&record.phases.errors());
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
        assert!(record.phases.greeting().is_none());
        assert_whole(&put(&record).line);
        let phase = PhaseName::Acknowledge;
        assert!(!events.contains(&LoadEvent::Phase { phase }));
    }
}

/// The line is put when the server knows all connections.
pub(crate) fn run_when_accepted(server: &Server, job: &LoadJob) -> (LoadRecord, Vec<LoadEvent>) {
    let mut events = Vec::new();
    let record = run_job(job, &Interrupt::default(), &mut |event| {
        let phase = PhaseName::Get;
        if event == (LoadEvent::Phase { phase }) {
            server.await_accepted(CONNECTIONS);
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
        let sustain = (rate_per_second, Arrivals::Constant, 1_000_000_000);
        assert!(refusal(|spec| spec.sustain = Some(sustain)).contains(words));
    }
}
