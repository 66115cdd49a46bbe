//! Interrupts, in each phase: what was measured until then stands, and what is still under way is nobody's fault.

use throng_load::{Interrupt, run_job};
use throng_record::{Arrivals, LoadEvent, LoadRecord, PhaseName};

use super::server::{Manner, Server, deliver, greet};
use super::support::BACKENDS;
use super::{FanoutSpec, assert_none, greetings, job, put, sustained};

/// Interrupts in the middle of this phase, when something has come in it.
fn interrupted_in(
    phase: PhaseName,
    (greet, deliver): (Manner, Manner),
    change: fn(&mut FanoutSpec),
    check: impl Fn(&LoadRecord),
) {
    for backend in BACKENDS {
        let server = Server::start(greet, deliver);
        let mut job = job(&server.address, backend, change);
        job.fleet.shards = 2;
        job.fleet.reply_timeout_ns = 60_000_000_000;
        let interrupt = Interrupt::default();
        let mut current = None;
        let record = run_job(&job, &interrupt, &mut |event| match event {
            LoadEvent::Phase { phase } => current = Some(phase),
            LoadEvent::Progress { replies: 20.. } if current == Some(phase) => interrupt.raise(),
            _ => {}
        })
        .expect("it ends in order");
        assert!(record.interrupted);
        assert_none(&record.phases.errors());
        check(&record);
    }
}

/// Every second connection is passed over.
fn half(full: Manner) -> impl Fn(u32, &mut std::net::TcpStream, &[u8]) {
    move |index, stream, line| {
        if index.is_multiple_of(2) {
            full(index, stream, line);
        }
    }
}

#[test]
fn while_greetings_are_awaited() {
    let greet_half: Manner = |index, stream, line| half(greet)(index, stream, line);
    for backend in BACKENDS {
        let server = Server::start(greet_half, deliver);
        let mut job = job(&server.address, backend, |_| {});
        job.fleet.reply_timeout_ns = 60_000_000_000;
        let interrupt = Interrupt::default();
        let mut is_acknowledging = false;
        let record = run_job(&job, &interrupt, &mut |event| match event {
            LoadEvent::Phase {
                phase: PhaseName::Acknowledge,
            } => {
                server.await_accepted(40);
                is_acknowledging = true;
            }
            LoadEvent::Progress { .. } if is_acknowledging => interrupt.raise(),
            _ => {}
        })
        .expect("it ends in order");
        assert!(record.interrupted);
        assert_none(&record.phases.errors());
        let acknowledge = greetings(&record);
        assert_eq!((acknowledge.due, acknowledge.received), (40, 20));
        assert!(record.phases.put().is_none());
    }
}

#[test]
fn while_the_line_is_awaited() {
    let deliver_half: Manner = |index, stream, line| half(deliver)(index, stream, line);
    interrupted_in(
        PhaseName::Get,
        (greet, deliver_half),
        |_| {},
        |record| {
            let put = put(record);
            assert_eq!((put.line.due, put.line.received), (40, 20));
            assert!(put.put_ns.is_some());
        },
    );
}

#[test]
fn while_lines_are_put() {
    let for_long = |spec: &mut FanoutSpec| {
        spec.sustain = Some((100.0, Arrivals::Constant, 60_000_000_000));
    };
    interrupted_in(PhaseName::Sustain, (greet, deliver), for_long, |record| {
        let sustained = sustained(record);
        assert!((1..6000).contains(&sustained.sent));
        assert!(sustained.deliveries >= 20);
        assert_eq!(
            sustained.deliveries + sustained.missing,
            sustained.sent * 40
        );
    });
}
