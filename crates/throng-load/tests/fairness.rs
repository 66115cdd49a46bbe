//! How the replies of a closed loop's window fell on the connections: counted to the unit, and uneven where the server is.

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use support::{BACKENDS, OfExchange as _, echo, exchanged, job, run, serve};
use throng_record::{Amount, ExchangePhase, Pacing, RepliesPerConnection, Stop};

const MILLISECOND_NS: u64 = 1_000_000;

fn shares(exchange: &ExchangePhase) -> RepliesPerConnection {
    assert_eq!(exchange.errors.total(), 0, "{:?}", exchange.errors);
    let steady = exchange.steady.expect("a closed loop");
    steady.replies_per_connection.expect("there were replies")
}

/// All together.
fn sum(shares: &RepliesPerConnection) -> f64 {
    (shares.mean * f64::from(shares.connections)).round()
}

#[test]
fn the_replies_of_all_connections_are_those_of_the_window() {
    for backend in BACKENDS {
        for outstanding in [1, 3] {
            let mut job = job(&serve(echo()), backend);
            job.exchange_spec().pacing = Pacing::Closed { outstanding };
            job.exchange_spec().warmup = Amount::DurationNs(20 * MILLISECOND_NS);
            job.exchange_spec().stop = Stop::DurationNs(100 * MILLISECOND_NS);
            let exchange = exchanged(&run(&job)).clone();
            let shares = shares(&exchange);
            assert_eq!(shares.connections, 10);
            // The rate is that of the replies within the window, counted apart.
            let arrived = exchange.replies_per_second * exchange.duration_ns as f64 / 1e9;
            assert_eq!(sum(&shares), arrived.round(), "{shares:?}");
            let quantiles = [shares.min, shares.p10, shares.median, shares.p90];
            assert!(quantiles.is_sorted() && shares.p90 <= shares.max);
        }
    }
}

/// Where a count ends the window, what is under way when the last message is sent comes after it.
#[test]
fn a_window_of_a_count_ends_with_the_last_send() {
    for backend in BACKENDS {
        for warmup in [0, 101] {
            let mut job = job(&serve(echo()), backend);
            job.exchange_spec().warmup = Amount::Messages(warmup);
            let shares = shares(exchanged(&run(&job)));
            let sum = sum(&shares);
            assert!((1009.0 - 20.0..=1009.0 + 10.0).contains(&sum), "{sum}");
        }
    }
}

#[test]
fn each_thread_of_the_generator_has_a_mean() {
    for backend in BACKENDS {
        let mut job = job(&serve(echo()), backend);
        job.fleet.shards = 2;
        job.exchange_spec().stop = Stop::DurationNs(100 * MILLISECOND_NS);
        let shares = shares(exchanged(&run(&job)));
        let (low, high) = (shares.shard_mean_min, shares.shard_mean_max);
        assert!(low <= shares.mean && shares.mean <= high, "{shares:?}");
        // Five connections each.
        assert!(
            ((low + high) / 2.0 - shares.mean).abs() < 1e-9,
            "{shares:?}"
        );
    }
}

/// Nine of ten share all of it: the index of Jain is nine tenths, or less where these are uneven too.
#[test]
fn a_connection_that_gets_nothing_is_the_fewest() {
    let accepted = Arc::new(AtomicU32::new(0));
    let one_pauses = move |mut stream: TcpStream| {
        let mut message = [0; 6];
        if accepted.fetch_add(1, Ordering::Relaxed) % 10 == 3
            && stream.read_exact(&mut message).is_ok()
            && stream.write_all(&message).is_ok()
        {
            std::thread::sleep(Duration::from_millis(900));
        }
        echo()(stream);
    };
    let address = serve(one_pauses);
    for backend in BACKENDS {
        let mut job = job(&address, backend);
        job.exchange_spec().warmup = Amount::DurationNs(50 * MILLISECOND_NS);
        job.exchange_spec().stop = Stop::DurationNs(300 * MILLISECOND_NS);
        let shares = shares(exchanged(&run(&job)));
        assert_eq!((shares.connections, shares.min), (10, 0));
        assert!(shares.median > 0, "{shares:?}");
        assert!(shares.fairness_jain <= 0.9 + 1e-9, "{shares:?}");
    }
}

#[test]
fn only_a_closed_loop_lets_the_server_choose() {
    for backend in BACKENDS {
        let mut job = job(&serve(echo()), backend);
        job.exchange_spec().pacing = Pacing::Lockstep { group: 5 };
        assert_eq!(exchanged(&run(&job)).steady, None);
    }
}
