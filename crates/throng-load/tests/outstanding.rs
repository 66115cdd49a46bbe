//! The number outstanding by the clock and by the records: the same for any server, and what is known of a server whose delay is.

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use support::{BACKENDS, OfExchange as _, echo, echo_after, exchanged, job, run, serve};
use throng_record::phase::Outstanding;
use throng_record::{Amount, Arrivals, ExchangePhase, LoadJob, Pacing, Stop};

const MILLISECOND_NS: u64 = 1_000_000;

fn open(rate_per_second: f64, arrivals: Arrivals) -> Pacing {
    Pacing::Open {
        rate_per_second,
        arrivals,
        outstanding: 1,
        spin: false,
    }
}

/// Fifty connections, a warm-up of 50 ms and a window of 400.
fn measured(address: &str, pacing: &Pacing, change: fn(&mut LoadJob)) -> Vec<ExchangePhase> {
    let exchange = |backend| {
        let mut job = job(address, backend);
        job.fleet.connections = 50;
        job.exchange_spec().pacing = pacing.clone();
        job.exchange_spec().warmup = Amount::DurationNs(50 * MILLISECOND_NS);
        job.exchange_spec().stop = Stop::DurationNs(400 * MILLISECOND_NS);
        change(&mut job);
        exchanged(&run(&job)).clone()
    };
    BACKENDS.map(exchange).to_vec()
}

/// Both accounts, which agree but for the digits of the histogram.
fn agreed(exchange: &ExchangePhase) -> Outstanding {
    let found = exchange.outstanding.expect("it is measured");
    let difference = (found.by_time - found.by_records).abs();
    let waiting = exchange.replies_per_second * exchange.latency.mean_ns / 1e9;
    let bound = 0.002 * (found.by_time + waiting) + 0.01;
    assert!(difference <= bound, "{found:?}");
    found
}

#[test]
fn it_is_the_rate_times_the_delay_of_the_server() {
    let address = serve(echo_after(Duration::from_millis(10)));
    for arrivals in [Arrivals::Constant, Arrivals::Exponential] {
        for exchange in measured(&address, &open(1_000.0, arrivals), |_| ()) {
            let found = agreed(&exchange);
            // No message takes less than the server's sleep, and none longer than its latency says.
            let least = exchange.replies_per_second * 0.010;
            let most = exchange.replies_per_second * exchange.latency.mean_ns / 1e9;
            assert!(
                (0.95 * least..=1.05 * most + 0.5).contains(&found.by_time),
                "{found:?} {least} {most}"
            );
        }
    }
}

#[test]
fn a_window_that_a_count_ends_is_cut_as_exactly() {
    let address = serve(echo_after(Duration::from_millis(10)));
    let counted = |job: &mut LoadJob| {
        job.exchange_spec().warmup = Amount::Messages(31);
        job.exchange_spec().stop = Stop::Messages(101);
    };
    for exchange in measured(&address, &open(1_000.0, Arrivals::Constant), counted) {
        assert_eq!(exchange.replies, 101);
        assert!(agreed(&exchange).by_time > 5.0);
    }
}

#[test]
fn what_a_server_never_answers_is_outstanding_to_the_end() {
    let silent = |mut stream: TcpStream| {
        let mut buffer = [0; 64];
        while let Ok(1..) = stream.read(&mut buffer) {}
    };
    let address = serve(silent);
    let impatient = |job: &mut LoadJob| {
        job.fleet.connections = 10;
        job.fleet.reply_timeout_ns = 1_500 * MILLISECOND_NS;
    };
    for exchange in measured(&address, &open(1_000.0, Arrivals::Constant), impatient) {
        let found = agreed(&exchange);
        assert!((9.9..=10.0).contains(&found.by_time), "{found:?}");
        assert_eq!(exchange.replies, 0);
    }
}

#[test]
fn connections_that_fail_take_what_they_owe_with_them() {
    let falling_silent = |mut stream: TcpStream| {
        let mut message = [0; 6];
        for _ in 0..3 {
            if stream.read_exact(&mut message).is_err() || stream.write_all(&message).is_err() {
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let address = serve(falling_silent);
    let pacing = open(1_000.0, Arrivals::Constant);
    for exchange in measured(&address, &pacing, |_| ()) {
        assert!(exchange.errors.total() > 0);
        agreed(&exchange);
    }
}

#[test]
fn groups_in_lockstep_are_counted_likewise() {
    for (address, least) in [
        (serve(echo()), 0.0),
        (serve(echo_after(Duration::from_millis(5))), 40.0),
    ] {
        for exchange in measured(&address, &Pacing::Lockstep { group: 5 }, |_| ()) {
            let found = agreed(&exchange);
            assert!((least..=50.0).contains(&found.by_time), "{found:?}");
        }
    }
}
