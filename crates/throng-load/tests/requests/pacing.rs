//! Warm-up, arrivals by a schedule, and how and from where connections come and go.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use throng_record::{
    Amount, Arrivals, Closing, ExchangePhase, LoadJob, Pacing, SourceAddresses, Stop,
};

use super::support::{OfExchange as _, exchanged, serve};
use super::{REPLY, answer, at, request};

/// Answered at once.
fn quick() -> String {
    serve(answer(&[REPLY]))
}

pub(super) fn open(rate_per_second: f64) -> Pacing {
    Pacing::Open {
        rate_per_second,
        arrivals: Arrivals::Constant,
        outstanding: 1,
        spin: false,
    }
}

#[test]
fn a_warmup_is_answered_and_kept_apart() {
    let address = quick();
    for shards in [1, 2] {
        let warmed = |job: &mut LoadJob| {
            job.fleet.shards = shards;
            job.exchange_spec().warmup = Amount::Messages(31);
            job.exchange_spec().stop = Stop::Messages(101);
        };
        at(&address, warmed, |record, connections| {
            let exchange = exchanged(record);
            assert_eq!((exchange.warmup_replies, exchange.replies), (31, 101));
            assert_eq!(
                (exchange.warmup_latency.count, exchange.latency.count),
                (31, 101)
            );
            assert_eq!(
                (connections.warmup_connected, connections.connected),
                (31, 101)
            );
            assert_eq!((connections.begun, connections.answered), (101, 101));
            assert_eq!(connections.request_latency.count, 101);
            assert_eq!(connections.requests.len(), 101);
            assert_eq!(record.phases.connected(), 132);
            assert_eq!(exchange.received_bytes, 132 * REPLY.len() as u64);
        });
    }
}

#[test]
fn a_warmup_by_the_clock_lasts_as_long() {
    let warmed = |job: &mut LoadJob| {
        job.exchange_spec().warmup = Amount::DurationNs(50_000_000);
        job.exchange_spec().stop = Stop::DurationNs(100_000_000);
    };
    at(&quick(), warmed, |record, connections| {
        let exchange = exchanged(record);
        assert!(exchange.warmup_duration_ns >= 50_000_000);
        assert!(exchange.warmup_replies > 0 && exchange.replies > 0);
        assert_eq!(connections.answered, connections.begun);
        assert_eq!(connections.answered, exchange.replies);
    });
}

/// Of a schedule that began with the window, what was due in it was begun, or is counted as never sent. A busy machine may end the window late.
fn assert_all_due_is_told(rate_per_second: f64, begun: u64, exchange: &ExchangePhase) {
    let due = (rate_per_second * exchange.duration_ns as f64 / 1e9) as u64;
    let told = begun + exchange.due_unsent;
    assert!(told.abs_diff(due) <= 1, "{told} of {due}");
}

#[test]
fn a_schedule_sends_what_is_due_and_no_more() {
    let scheduled = |job: &mut LoadJob| {
        job.exchange_spec().pacing = open(500.0);
        job.exchange_spec().stop = Stop::DurationNs(600_000_000);
    };
    at(&quick(), scheduled, |record, connections| {
        let exchange = exchanged(record);
        assert!(exchange.duration_ns >= 600_000_000);
        assert_all_due_is_told(500.0, connections.begun, exchange);
        let scheduling = exchange.scheduling_error.as_ref().expect("a schedule");
        assert_eq!(scheduling.count, connections.begun);
        assert_agreed(exchange);
        assert_eq!(exchange.latency.count, connections.request_latency.count);
    });
}

#[test]
fn a_request_that_waits_for_a_client_counts_from_its_due_time() {
    // One client takes 20 ms for each, and one is due every 5.
    let slow = |mut stream: TcpStream| {
        if request(&mut stream) {
            std::thread::sleep(Duration::from_millis(20));
            answer_now(&mut stream);
        }
    };
    let scheduled = |job: &mut LoadJob| {
        job.fleet.connections = 1;
        job.exchange_spec().pacing = open(200.0);
        job.exchange_spec().stop = Stop::DurationNs(400_000_000);
    };
    at(&serve(slow), scheduled, |record, connections| {
        let exchange = exchanged(record);
        assert!(connections.begun <= 21, "{}", connections.begun);
        assert!(exchange.waited_for_connection > 0);
        assert_all_due_is_told(200.0, connections.begun, exchange);
        let (latency, request) = (&exchange.latency, &connections.request_latency);
        assert!(latency.max_ns > 150_000_000, "{latency:?}");
        assert!(request.min_ns < latency.max_ns / 2, "{request:?}");
        let outstanding = assert_agreed(exchange);
        assert!((0.9..=1.0).contains(&outstanding), "{outstanding}");
    });
}

/// By the clock and by the records as many requests were outstanding, but for the digits of the histogram: how many.
fn assert_agreed(exchange: &ExchangePhase) -> f64 {
    let found = exchange.outstanding.expect("it is measured");
    let difference = (found.by_time - found.by_records).abs();
    let waiting = exchange.replies_per_second * exchange.latency.mean_ns / 1e9;
    let bound = 0.002 * (found.by_time + waiting) + 0.01;
    assert!(difference <= bound, "{found:?}");
    found.by_time
}

#[test]
fn requests_that_fail_were_outstanding_until_then() {
    let refusing = |mut stream: TcpStream| {
        if request(&mut stream) {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let scheduled = |job: &mut LoadJob| {
        job.exchange_spec().pacing = open(200.0);
        job.exchange_spec().warmup = Amount::DurationNs(50_000_000);
        job.exchange_spec().stop = Stop::DurationNs(400_000_000);
    };
    at(&serve(refusing), scheduled, |record, connections| {
        assert_eq!(connections.answered, 0);
        let ended = exchanged(record).errors.total() as f64;
        assert!(ended > 20.0, "{ended}");
        assert!(assert_agreed(exchanged(record)) > 1.0);
    });
}

fn answer_now(stream: &mut TcpStream) {
    use std::io::Write as _;
    let _ = stream.write_all(REPLY);
}

#[test]
fn the_peer_sees_the_end_or_a_reset_as_asked() {
    let (ends, resets) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (ends_there, resets_there) = (Arc::clone(&ends), Arc::clone(&resets));
    let told = move |mut stream: TcpStream| {
        if request(&mut stream) {
            answer_now(&mut stream);
            match stream.read(&mut [0]) {
                Ok(0) => ends_there.fetch_add(1, SeqCst),
                _ => resets_there.fetch_add(1, SeqCst),
            };
        }
    };
    let address = serve(told);
    for closing in [Closing::Fin, Closing::Reset] {
        let closed = |job: &mut LoadJob| job.fleet.closing = closing;
        at(&address, closed, |record, connections| {
            let errors = record.phases.errors();
            assert_eq!(errors.total(), 0, "{errors:?}");
            assert_eq!(connections.answered, 91);
        });
        // The peer's threads note the ends a moment later.
        let noted = || (ends.load(SeqCst), resets.load(SeqCst));
        let all = if closing == Closing::Fin {
            (182, 0)
        } else {
            (182, 182)
        };
        while noted().0 + noted().1 < all.0 + all.1 {
            std::thread::yield_now();
        }
        assert_eq!(noted(), all);
    }
}

#[test]
fn requests_come_from_the_listed_addresses_in_turn() {
    let listed = |job: &mut LoadJob| {
        let addresses = [[127, 0, 0, 2].into(), [127, 0, 0, 3].into()];
        job.fleet.source = SourceAddresses::List(addresses.to_vec());
        job.fleet.connections = 1;
    };
    at(&quick(), listed, |_, connections| {
        let from = |request: &throng_record::RequestRecord| {
            let address = request.local_address.as_ref().expect("connected");
            address.split(':').next().expect("a host").to_owned()
        };
        let all: BTreeSet<String> = connections.requests.iter().map(from).collect();
        assert_eq!(
            all.into_iter().collect::<Vec<_>>(),
            ["127.0.0.2", "127.0.0.3"]
        );
    });
}
