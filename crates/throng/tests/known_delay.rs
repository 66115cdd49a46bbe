//! A server whose delay is known is measured to have it: the instrument reads what is there.

mod support;

use support::{Bench, peer};
use throng_record::ExchangePhase;

const CONNECTIONS: u64 = 4;

fn measure(flags: &[&str]) -> ExchangePhase {
    let bench = Bench::new();
    let size = peer::SIZE.to_string();
    let address = peer::start(peer::slow);
    let mut arguments = vec![
        "echo",
        &address,
        "--connections",
        "4",
        "--size",
        &size,
        "--repeats",
        "1",
    ];
    arguments.extend(flags);
    let outcome = bench.throng(&arguments);
    let trial = bench.record().trials.remove(0);
    assert_eq!(
        support::failed_checks(&trial),
        Vec::<String>::new(),
        "{}",
        outcome.stderr
    );
    trial.phases.exchange().expect("measured").clone()
}

/// Between the delay and twice the delay, which leaves room for a busy machine.
fn assert_delayed(exchange: &ExchangePhase) {
    let delay_ns = peer::DELAY.as_nanos() as u64;
    assert!(
        exchange.latency.min_ns >= delay_ns * 999 / 1000,
        "{}",
        exchange.latency.min_ns
    );
    let p50_ns = exchange.latency.p50_ns;
    assert!((delay_ns..2 * delay_ns).contains(&p50_ns), "{p50_ns}");
}

#[test]
fn in_a_closed_loop_the_delay_bounds_the_throughput() {
    for backend in ["epoll", "io-uring"] {
        let exchange = measure(&[
            "--backend",
            backend,
            "--duration",
            "1s",
            "--warmup",
            "100ms",
        ]);
        assert_delayed(&exchange);
        let most_per_second = CONNECTIONS as f64 / peer::DELAY.as_secs_f64();
        let found = exchange.replies_per_second;
        assert!(
            found <= most_per_second * 1.05 && found > most_per_second / 2.0,
            "{found}"
        );
    }
}

#[test]
fn a_message_that_waits_for_its_turn_is_as_late_as_it_is() {
    // Two outstanding on each connection, which serves one after the other: each waits for the one before.
    let exchange = measure(&[
        "--outstanding",
        "2",
        "--messages",
        "200",
        "--warmup",
        "20 messages",
    ]);
    let two_delays_ns = 2 * peer::DELAY.as_nanos() as u64;
    assert!(
        exchange.latency.p50_ns >= two_delays_ns * 95 / 100,
        "{}",
        exchange.latency.p50_ns
    );
}

#[test]
fn an_open_loop_that_the_server_can_keep_up_with_sees_the_delay_alone() {
    let exchange = measure(&["--rate", "50", "--duration", "1s", "--warmup", "0s"]);
    assert_delayed(&exchange);
    assert!(
        (40.0..=51.0).contains(&exchange.replies_per_second),
        "{}",
        exchange.replies_per_second
    );
}

#[test]
fn an_open_loop_counts_from_the_due_time_when_the_server_cannot() {
    // Twice what four connections can carry: the wait for a free connection is part of the latency, and grows.
    let exchange = measure(&["--rate", "400", "--duration", "1s", "--warmup", "0s"]);
    assert!(exchange.waited_for_connection > 0);
    let delay_ns = peer::DELAY.as_nanos() as u64;
    assert!(
        exchange.latency.max_ns > 5 * delay_ns,
        "{}",
        exchange.latency.max_ns
    );
}
