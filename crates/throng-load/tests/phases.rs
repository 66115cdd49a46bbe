//! Phases in whatever order they are asked for, and those that cannot follow each other.

mod support;

use support::{BACKENDS, OfExchange as _, echo, exchanged, job, run, run_telling, serve};
use throng_load::{Interrupt, run_job};
use throng_record::PhaseSpec::{
    Acknowledge, Close, Connect, Exchange, Get, Hold, Multiplex, Ping, Sustain,
};
use throng_record::{
    AcceptSpec, Amount, Arrivals, ConnectionUse, ErrorCounts, ExchangeSpec, LoadEvent, LoadJob,
    Measured, Multiplexer, Pacing, PhaseRecord, PhaseSpec, PingSpec, Protocol, PutSpec, Sequence,
    Stop, SustainSpec,
};

const HOLD_NS: u64 = 50_000_000;
const HOLD: PhaseSpec = Hold {
    duration_ns: HOLD_NS,
};

/// Kept connections, echoes of 6 bytes.
fn spec() -> ExchangeSpec {
    let mut job = job("tcp://127.0.0.1:1", BACKENDS[0]);
    job.exchange_spec().clone()
}

/// So many messages, of which each connection has so many outstanding.
fn messages(count: u64, outstanding: u32) -> PhaseSpec {
    Exchange(ExchangeSpec {
        pacing: Pacing::Closed { outstanding },
        stop: Stop::Messages(count),
        ..spec()
    })
}

/// Five pings of so many bytes.
fn pings(size_bytes: u32) -> PhaseSpec {
    Ping(PingSpec {
        protocol: Protocol::Echo { size_bytes },
        verify: true,
        pings: 5,
        at_once: 2,
    })
}

fn put(line: &str) -> PutSpec {
    PutSpec {
        line: line.as_bytes().to_vec(),
        speaker: 0,
    }
}

fn numbered(line: &str) -> PhaseSpec {
    Sustain(SustainSpec {
        put: put(line),
        rate_per_second: 100.0,
        arrivals: Arrivals::Constant,
        duration_ns: HOLD_NS,
    })
}

fn assert_none(errors: &ErrorCounts) {
    assert_eq!(errors.total(), 0, "{errors:?}");
}

#[test]
fn phases_are_done_told_and_recorded_in_the_order_asked_for() {
    let address = serve(echo());
    for backend in BACKENDS {
        for shards in [1, 3] {
            let mut job = job(&address, backend);
            job.fleet.shards = shards;
            let phases = [HOLD, messages(101, 1), pings(6), messages(43, 3)];
            job.phases = Sequence::on_open_connections(phases);
            assert_done(&job);
        }
    }
}

/// Ten connections, echoes of 6 bytes.
fn assert_done(job: &LoadJob) {
    let (record, mut events) = run_telling(job);
    let measured: Vec<_> = record.phases.0.iter().map(|one| &one.measured).collect();
    let [
        Measured::Connect(connect),
        Measured::Hold(hold),
        Measured::Exchange(first),
        Measured::Ping(ping),
        Measured::Exchange(second),
        Measured::Close(close),
    ] = measured[..]
    else {
        panic!("{measured:?}");
    };
    assert_none(&record.phases.errors());
    assert_eq!((connect.connected, close.closed_in_order), (10, 10));
    assert!(hold.duration_ns >= HOLD_NS);
    assert_eq!((ping.pinged, ping.answered, ping.latency.count), (5, 5, 5));
    for (exchange, count) in [(first, 101), (second, 43)] {
        assert_eq!((exchange.sent, exchange.replies), (count, count));
        assert_eq!(exchange.latency.count, count);
        let bytes = (exchange.sent_bytes, exchange.received_bytes);
        assert_eq!(bytes, (count * 6, count * 6));
    }
    assert_eq!(exchanged(&record), first, "the first is looked up");
    let phase = |spec: &PhaseSpec| LoadEvent::Phase { phase: spec.name() };
    let asked: Vec<_> = job.phases.0.iter().map(phase).collect();
    events.retain(LoadEvent::awaits_answer);
    assert_eq!(events, asked);
}

#[test]
fn an_exchange_begins_anew_whatever_was_sent_before() {
    let address = serve(echo());
    for backend in BACKENDS {
        let warmed = Exchange(ExchangeSpec {
            warmup: Amount::DurationNs(20_000_000),
            stop: Stop::DurationNs(HOLD_NS),
            ..spec()
        });
        let mut job = job(&address, backend);
        job.phases = Sequence::on_open_connections([pings(6), warmed, messages(7, 1)]);
        let record = run(&job);
        // A warm-up that waited for connections without a first reply would last a second longer.
        assert!(exchanged(&record).warmup_duration_ns < 1_000_000_000);
        let served: Vec<_> = record.phases.0.iter().filter_map(served).collect();
        assert_eq!(served, [10, 7]);
        assert_none(&record.phases.errors());
    }
}

/// Connections that had a reply, where it is an exchange.
fn served(phase: &PhaseRecord) -> Option<u32> {
    match &phase.measured {
        Measured::Exchange(exchange) => Some(exchange.connections_served),
        _ => None,
    }
}

#[test]
fn nothing_need_be_between_the_connects_and_the_close() {
    let address = serve(echo());
    for backend in BACKENDS {
        let mut job = job(&address, backend);
        job.phases = Sequence::on_open_connections([]);
        let record = run(&job);
        assert_eq!((record.phases.0.len(), record.phases.kept()), (2, 10));
        assert_none(&record.phases.errors());
    }
}

fn refusal(phases: &[PhaseSpec]) -> String {
    let mut job = job("tcp://127.0.0.1:1", BACKENDS[0]);
    job.phases = Sequence(phases.to_vec());
    refusal_of(&job)
}

fn refusal_of(job: &LoadJob) -> String {
    run_job(job, &Interrupt::default(), &mut |_| {})
        .expect_err("refused")
        .to_string()
}

#[test]
fn what_stands_alone_has_no_phase_beside_it() {
    let requests = Exchange(ExchangeSpec {
        connection: ConnectionUse::PerMessage {
            slow_first_byte_ns: 1,
            tells_every_request: true,
        },
        ..spec()
    });
    let multiplex = Multiplex(AcceptSpec {
        multiplexer: Multiplexer::EpollLevel,
        published: false,
        connections: 1,
    });
    for alone in [requests, multiplex] {
        let (one, other) = (alone.clone(), alone.clone());
        for phases in [vec![Connect, HOLD, alone, Close], vec![one, other]] {
            assert!(refusal(&phases).contains("no other phase beside them"));
        }
    }
}

#[test]
fn a_fleet_connects_first_and_closes_last() {
    for phases in [
        vec![],
        vec![Connect],
        vec![Close, Connect],
        vec![messages(1, 1), Close],
        vec![Connect, messages(1, 1)],
    ] {
        assert!(refusal(&phases).contains("its first phase is to connect, and its last to close"));
    }
}

#[test]
fn what_is_done_once_is_not_asked_for_twice() {
    let acknowledge = Acknowledge {
        greeting: b"connected\n".to_vec(),
    };
    let (get, sustain) = (Get(put("hello\n")), numbered("hello\n"));
    for phase in [Connect, acknowledge, get, sustain, Close] {
        let words = format!("the phase `{}` more than once", phase.name().name());
        assert!(refusal(&[Connect, phase.clone(), phase, Close]).contains(&words));
    }
}

#[test]
fn lines_come_in_the_order_in_which_they_are_heard() {
    let greeted = || Acknowledge {
        greeting: b"connected\n".to_vec(),
    };
    let (get, sustain) = (|| Get(put("hello\n")), || numbered("hello\n"));
    for phases in [
        vec![Connect, sustain(), Close],
        vec![Connect, greeted(), Close],
        vec![Connect, sustain(), get(), Close],
        vec![Connect, get(), greeted(), Close],
        vec![Connect, HOLD, greeted(), get(), Close],
    ] {
        assert!(refusal(&phases).contains("lines come in this order"));
    }
}

#[test]
fn a_fleet_speaks_one_protocol_or_puts_one_line() {
    for messages in [messages(1, 1), pings(6)] {
        let phases = [Connect, Get(put("hello\n")), messages, Close];
        assert!(refusal(&phases).contains("not for one fleet"));
    }
    let phases = [Connect, messages(1, 1), pings(7), Close];
    assert!(refusal(&phases).contains("a fleet speaks one protocol"));
    let (get, sustain) = (Get(put("hello\n")), numbered("hullo\n"));
    let phases = [Connect, get, sustain, Close];
    assert!(refusal(&phases).contains("are the same, but for their numbers"));
}

#[test]
fn what_a_server_leaves_unanswered_is_not_left_to_the_next_phase() {
    for next in [messages(1, 1), pings(6)] {
        let mut job = job("tcp://127.0.0.1:1", BACKENDS[0]);
        job.fleet.serves_at_once = Some(9);
        job.phases = Sequence::on_open_connections([messages(1, 1), next]);
        assert!(refusal_of(&job).contains("would come in the next"));
    }
}
