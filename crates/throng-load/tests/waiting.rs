//! Servers that keep some connections waiting: for their first reply, for a later one, or for good.

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use support::{BACKENDS, OfExchange as _, echo, exchanged, job, run, serve};
use throng_record::{Amount, Stop};

const MILLISECOND_NS: u64 = 1_000_000;

/// The n-th connection, from 0, is handled by `odd`, the others echo.
fn all_but(
    n: u32,
    odd: impl Fn(TcpStream) + Send + Sync + Clone + 'static,
) -> impl Fn(TcpStream) + Send + Sync + Clone {
    let accepted = Arc::new(AtomicU32::new(0));
    move |stream| {
        if accepted.fetch_add(1, Ordering::Relaxed) == n {
            odd(stream);
        } else {
            echo()(stream);
        }
    }
}

/// Echoes one message, and then nothing for as long.
fn pause_after_the_first(pause: Duration) -> impl Fn(TcpStream) + Send + Sync + Clone {
    move |mut stream| {
        let mut message = [0; 6];
        if stream.read_exact(&mut message).is_ok() && stream.write_all(&message).is_ok() {
            std::thread::sleep(pause);
            echo()(stream);
        }
    }
}

#[test]
fn a_starved_connection_is_counted_and_little_s_law_still_holds() {
    for backend in BACKENDS {
        let address = serve(all_but(
            3,
            pause_after_the_first(Duration::from_millis(900)),
        ));
        let mut job = job(&address, backend);
        job.exchange_spec().warmup = Amount::DurationNs(50 * MILLISECOND_NS);
        job.exchange_spec().stop = Stop::DurationNs(300 * MILLISECOND_NS);
        let exchange = exchanged(&run(&job)).clone();
        assert_eq!(exchange.errors.total(), 0, "{:?}", exchange.errors);
        let steady = exchange.steady.expect("a closed loop");
        assert_eq!(steady.connections_starved, 1, "{steady:?}");
        assert!(
            (steady.outstanding_by_law / 10.0 - 1.0).abs() < 0.05,
            "{steady:?}"
        );
    }
}

#[test]
fn the_measurement_begins_when_every_connection_has_been_answered() {
    let late = |stream: TcpStream| {
        std::thread::sleep(Duration::from_millis(250));
        echo()(stream);
    };
    for backend in BACKENDS {
        let address = serve(all_but(3, late));
        let mut job = job(&address, backend);
        job.exchange_spec().warmup = Amount::DurationNs(20 * MILLISECOND_NS);
        job.exchange_spec().stop = Stop::DurationNs(100 * MILLISECOND_NS);
        let exchange = exchanged(&run(&job)).clone();
        assert!(
            (200 * MILLISECOND_NS..1_000 * MILLISECOND_NS).contains(&exchange.warmup_duration_ns),
            "{}",
            exchange.warmup_duration_ns
        );
        assert_eq!(exchange.steady.expect("closed").connections_starved, 0);
    }
}

#[test]
fn connections_beyond_those_that_are_served_at_once_are_left_without_an_error() {
    let silent = |mut stream: TcpStream| {
        let mut buffer = [0; 64];
        while let Ok(1..) = stream.read(&mut buffer) {}
    };
    for backend in BACKENDS {
        for stop in [Stop::DurationNs(100 * MILLISECOND_NS), Stop::Messages(997)] {
            let address = serve(all_but(3, silent));
            let mut job = job(&address, backend);
            job.exchange_spec().stop = stop;
            job.fleet.serves_at_once = Some(9);
            let record = run(&job);
            let exchange = exchanged(&record);
            let close = record.phases.close().expect("the close");
            assert_eq!(exchange.connections_served, 9);
            assert_eq!(exchange.sent, exchange.replies + 1, "one is never answered");
            for errors in [&exchange.errors, &close.errors] {
                assert_eq!(errors.total(), 0, "{errors:?}");
            }
            assert_eq!(close.closed_in_order, 9);
        }
    }
}
