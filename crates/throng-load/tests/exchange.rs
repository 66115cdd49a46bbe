//! Known work, and counts that must match exactly.

mod support;

use std::io::{Read as _, Write as _};
use std::time::Duration;

use support::{
    BACKENDS, OfExchange as _, echo, echo_after, exchanged, job, run, run_telling, serve,
};
use throng_record::{Amount, Arrivals, Expect, LoadEvent, Pacing, PhaseName, Protocol, Stop};

#[test]
fn a_prime_number_of_messages_is_exchanged_exactly() {
    let address = serve(echo());
    for backend in BACKENDS {
        for (shards, outstanding) in [(1, 1), (3, 1), (1, 13), (2, 5)] {
            let mut job = job(&address, backend);
            job.fleet.shards = shards;
            job.exchange_spec().pacing = Pacing::Closed { outstanding };
            job.exchange_spec().warmup = Amount::Messages(101);
            let record = run(&job);
            let exchange = exchanged(&record);
            assert_eq!(
                (exchange.sent, exchange.replies),
                (1009, 1009),
                "{backend:?} {shards} {outstanding}"
            );
            assert_eq!(
                (exchange.warmup_replies, exchange.latency.count),
                (101, 1009)
            );
            assert_eq!(exchange.warmup_latency.count, 101);
            assert_eq!(
                (exchange.sent_bytes, exchange.received_bytes),
                (1110 * 6, 1110 * 6)
            );
            assert_eq!(exchange.timeline.replies.iter().sum::<u64>(), 1009);
            assert_eq!(
                (exchange.errors.total(), exchange.connections_served),
                (0, 10)
            );
            let connect = record.phases.connect().expect("the connects");
            let close = record.phases.close().expect("the close");
            assert_eq!((connect.connected, close.closed_in_order), (10, 10));
            assert_eq!(close.errors.total(), 0, "{:?}", close.errors);
        }
    }
}

#[test]
fn every_size_comes_back_verified() {
    let address = serve(echo());
    for backend in BACKENDS {
        for (size_bytes, outstanding) in [
            (1, 7),
            (2, 1),
            (4096, 3),
            (65_537, 2),
            (1 << 20, 1),
            (1 << 20, 3),
        ] {
            let mut job = job(&address, backend);
            job.exchange_spec().protocol = Protocol::Echo { size_bytes };
            job.exchange_spec().pacing = Pacing::Closed { outstanding };
            job.exchange_spec().stop = Stop::Messages(43);
            let exchange = exchanged(&run(&job)).clone();
            assert_eq!(
                exchange.replies, 43,
                "{backend:?} {size_bytes}: {:?}",
                exchange.errors
            );
            assert_eq!(exchange.received_bytes, 43 * u64::from(size_bytes));
        }
    }
}

#[test]
fn a_server_of_known_delay_is_measured_to_be_so() {
    let address = serve(echo_after(Duration::from_millis(20)));
    for backend in BACKENDS {
        let mut job = job(&address, backend);
        job.exchange_spec().stop = Stop::Messages(101);
        let exchange = exchanged(&run(&job)).clone();
        assert!(
            exchange.latency.min_ns >= 20_000_000,
            "{}",
            exchange.latency.min_ns
        );
        assert!(
            exchange.latency.p50_ns < 30_000_000,
            "{}",
            exchange.latency.p50_ns
        );
        let steady = exchange.steady.expect("a closed loop");
        assert_eq!(steady.outstanding_by_construction, 10.0);
        assert!(
            (steady.outstanding_by_law / 10.0 - 1.0).abs() < 0.05,
            "{steady:?}"
        );
    }
}

#[test]
fn a_duration_ends_the_window_and_awaits_what_is_under_way() {
    let address = serve(echo_after(Duration::from_millis(5)));
    for backend in BACKENDS {
        let mut job = job(&address, backend);
        job.exchange_spec().warmup = Amount::DurationNs(50_000_000);
        job.exchange_spec().stop = Stop::DurationNs(300_000_000);
        let (record, mut events) = run_telling(&job);
        let exchange = exchanged(&record);
        assert_eq!(exchange.sent, exchange.replies, "nothing is left behind");
        assert!(
            (300_000_000..400_000_000).contains(&exchange.duration_ns),
            "{}",
            exchange.duration_ns
        );
        assert!(exchange.warmup_replies > 0);
        let phase = |phase| LoadEvent::Phase { phase };
        events.retain(|event| !matches!(event, LoadEvent::Progress { .. }));
        assert_eq!(
            events,
            [
                phase(PhaseName::Connect),
                phase(PhaseName::Exchange),
                LoadEvent::Measuring,
                LoadEvent::Measured,
                phase(PhaseName::Close),
            ]
        );
    }
}

#[test]
fn confidence_ends_a_steady_run_before_its_longest_duration() {
    let address = serve(echo_after(Duration::from_millis(1)));
    let mut job = job(&address, BACKENDS[0]);
    job.exchange_spec().stop = Stop::Confidence {
        relative_half_width: 0.5,
        max_duration_ns: 20_000_000_000,
    };
    let exchange = exchanged(&run(&job)).clone();
    let reached = exchange.relative_half_width_reached.expect("an interval");
    assert!(
        reached <= 0.5 && exchange.duration_ns < 15_000_000_000,
        "{reached} {}",
        exchange.duration_ns
    );
}

#[test]
fn lockstep_sends_a_groups_messages_together() {
    let address = serve(echo());
    for backend in BACKENDS {
        let mut job = job(&address, backend);
        job.exchange_spec().pacing = Pacing::Lockstep { group: 2 };
        let exchange = exchanged(&run(&job)).clone();
        assert_eq!((exchange.replies, exchange.errors.total()), (1009, 0));
        assert!(exchange.steady.is_none(), "Little's law is no check here");
        assert!(exchange.outstanding.is_some());
    }
}

#[test]
fn an_open_loop_keeps_its_rate_whatever_the_server_does() {
    let address = serve(echo_after(Duration::from_millis(2)));
    for backend in BACKENDS {
        for arrivals in [Arrivals::Constant, Arrivals::Exponential] {
            let mut job = job(&address, backend);
            job.exchange_spec().pacing = Pacing::Open {
                rate_per_second: 500.0,
                arrivals,
                outstanding: 4,
                spin: false,
            };
            job.exchange_spec().stop = Stop::Messages(251);
            let exchange = exchanged(&run(&job)).clone();
            assert_eq!((exchange.replies, exchange.errors.total()), (251, 0));
            assert_eq!(
                exchange.scheduling_error.as_ref().map(|error| error.count),
                Some(251)
            );
            assert!(
                (300.0..700.0).contains(&exchange.replies_per_second),
                "{}",
                exchange.replies_per_second
            );
        }
    }
}

#[test]
fn an_overloaded_server_shows_in_an_open_loop_as_waiting_and_unsent_messages() {
    let address = serve(echo_after(Duration::from_millis(20)));
    let mut job = job(&address, BACKENDS[0]);
    // Ten connections answer 500 a second at most.
    job.exchange_spec().pacing = Pacing::Open {
        rate_per_second: 2000.0,
        arrivals: Arrivals::Constant,
        outstanding: 1,
        spin: true,
    };
    job.exchange_spec().stop = Stop::DurationNs(500_000_000);
    let exchange = exchanged(&run(&job)).clone();
    assert!(exchange.waited_for_connection > 0);
    assert!(exchange.due_unsent > 200, "{}", exchange.due_unsent);
    job.exchange_spec().stop = Stop::Messages(101);
    let counted = exchanged(&run(&job)).clone();
    assert!(counted.waited_for_connection > 0);
    assert_eq!(counted.due_unsent, 0, "101 were asked for and sent");
    assert!(
        exchange.latency.p99_ns > 200_000_000,
        "latency counts from the due time: {}",
        exchange.latency.p99_ns
    );
}

#[test]
fn any_request_and_reply_protocol_can_be_spoken() {
    let address = serve(|mut stream| {
        let mut buffer = [0; 6];
        // Without it the second piece waits for the first one's delayed acknowledgement: 40 ms a reply.
        stream.set_nodelay(true).expect("an option");
        while stream.read_exact(&mut buffer).is_ok() {
            assert_eq!(&buffer, b"PING\r\n");
            if stream.write_all(b"+PO").is_err() || stream.write_all(b"NG\r\n").is_err() {
                return;
            }
        }
    });
    let ping = b"PING\r\n".to_vec();
    for backend in BACKENDS {
        for expect in [
            Expect::Text(b"+PONG\r\n".to_vec()),
            Expect::Bytes(7),
            Expect::Until(b"\r\n".to_vec()),
        ] {
            for outstanding in [1, 8] {
                let mut job = job(&address, backend);
                job.exchange_spec().protocol = Protocol::Request {
                    send: ping.clone(),
                    expect: expect.clone(),
                };
                job.exchange_spec().pacing = Pacing::Closed { outstanding };
                let exchange = exchanged(&run(&job)).clone();
                assert_eq!(
                    (exchange.replies, exchange.errors.total()),
                    (1009, 0),
                    "{expect:?}"
                );
            }
        }
    }
}
