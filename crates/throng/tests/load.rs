//! The generator process: a job in, events out.

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Child;

use rustix::process::Signal;
use support::{Bench, exit_code, peer, signal};
use throng_record::{
    Amount, ExchangeSpec, FleetSpec, LoadEvent, LoadJob, PhaseName, Protocol, Sequence, Stop,
};

fn job(stop: Stop) -> LoadJob {
    LoadJob {
        fleet: FleetSpec {
            addresses: vec![peer::start(peer::faultless)],
            connections: 3,
            ..FleetSpec::default()
        },
        phases: Sequence::of_exchange(ExchangeSpec {
            protocol: Protocol::Echo {
                size_bytes: peer::SIZE as u32,
            },
            warmup: Amount::Messages(10),
            stop,
            ..ExchangeSpec::default()
        }),
    }
}

fn start(bench: &Bench, job: &LoadJob) -> Child {
    let mut child = bench.start(&["load"]);
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(&serde_json::to_vec(job).expect("JSON"))
        .expect("written");
    child
}

fn events(child: &mut Child) -> impl Iterator<Item = LoadEvent> + use<> {
    let output = BufReader::new(child.stdout.take().expect("piped"));
    output
        .lines()
        .map(|line| serde_json::from_str(&line.expect("read")).expect("an event"))
}

#[test]
fn a_job_is_done_and_its_stages_told_in_order() {
    let bench = Bench::new();
    let mut child = start(&bench, &job(Stop::Messages(1009)));
    let mut events: Vec<LoadEvent> = events(&mut child).collect();
    assert_eq!(exit_code(&mut child), Some(0));
    let Some(LoadEvent::Finished { record }) = events.pop() else {
        panic!("not finished: {events:?}");
    };
    assert_eq!(record.phases.connected(), 3);
    let exchange = record.phases.exchange().expect("exchanged");
    assert_eq!((exchange.sent, exchange.replies), (1009, 1009));
    assert!(!record.interrupted);
    events.retain(|event| !matches!(event, LoadEvent::Progress { .. }));
    let begin = |phase| LoadEvent::Phase { phase };
    let stages = [
        begin(PhaseName::Connect),
        begin(PhaseName::Exchange),
        LoadEvent::Measuring,
        LoadEvent::Measured,
        begin(PhaseName::Close),
    ];
    assert_eq!(events, stages);
}

#[test]
fn told_to_end_it_still_hands_its_record_over() {
    for end in [Signal::TERM, Signal::INT] {
        let bench = Bench::new();
        let mut child = start(&bench, &job(Stop::DurationNs(600_000_000_000)));
        let mut last = None;
        let events = events(&mut child);
        for event in events {
            if event == LoadEvent::Measuring {
                signal(&child, end);
            }
            last = Some(event);
        }
        assert_eq!(exit_code(&mut child), Some(0));
        let Some(LoadEvent::Finished { record }) = last else {
            panic!("not finished");
        };
        assert!(record.interrupted);
        let exchange = record.phases.exchange().expect("exchanged");
        assert!(exchange.replies + exchange.warmup_replies > 0);
    }
}

#[test]
fn it_ends_when_nobody_listens_any_more() {
    let bench = Bench::new();
    let mut child = start(&bench, &job(Stop::DurationNs(600_000_000_000)));
    drop(child.stdout.take());
    assert_eq!(exit_code(&mut child), Some(1));
    bench.assert_no_process_left();
}

#[test]
fn what_is_no_job_is_refused_as_an_event() {
    let bench = Bench::new();
    let outcome = bench.throng(&["load"]);
    assert_eq!(outcome.code, Some(1));
    let event: LoadEvent = serde_json::from_str(outcome.stdout.trim()).expect("an event");
    assert!(matches!(event, LoadEvent::Failed { message } if message.contains("load job")));
}

#[test]
fn a_job_that_contradicts_itself_is_refused_as_an_event() {
    let bench = Bench::new();
    let mut wrong = job(Stop::Messages(1));
    wrong.fleet.shards = 4;
    let mut child = start(&bench, &wrong);
    let events: Vec<LoadEvent> = events(&mut child).collect();
    assert!(
        matches!(events.as_slice(), [LoadEvent::Failed { .. }]),
        "{events:?}"
    );
    assert_eq!(exit_code(&mut child), Some(1));
}
