//! Servers that answer wrongly: each fault is named, ends in bounded time, costs exit code 1, and spoils nothing measured before.

mod support;

use std::net::TcpStream;
use std::time::Duration;

use support::{Bench, Outcome, errors_of, peer};
use throng_record::{ErrorKind, Outcome as TrialOutcome, Trial, Verdict};

/// Measures a running server briefly, and a faultless built-in one beside it; the runs' trials of the former.
fn measure(bench: &Bench, address: &str) -> (Outcome, Vec<Trial>) {
    let size = peer::SIZE.to_string();
    let outcome = bench.throng(&[
        "echo",
        "poll",
        address,
        "--connections",
        "3",
        "--size",
        &size,
        "--repeats",
        "1",
        "--duration",
        "300ms",
        "--warmup",
        "0s",
        "--timeout",
        "700ms",
        "--connect-timeout",
        "2s",
    ]);
    let record = bench.record();
    assert_eq!(record.trials.len(), 2);
    let (poll, peer): (Vec<Trial>, _) = record
        .trials
        .into_iter()
        .partition(|trial| trial.target == 0);
    assert_eq!(poll[0].outcome, TrialOutcome::Completed);
    let exchange = poll[0].phases.exchange().expect("measured");
    assert!(exchange.replies > 0, "the good server is in the record");
    (outcome, peer)
}

/// The fault is counted under its kind, said in words, and never ranked.
fn assert_caught(treat: fn(TcpStream), kinds: &[ErrorKind]) {
    let bench = Bench::new();
    let address = peer::start(treat);
    let (outcome, trials) = measure(&bench, &address);
    let trial = &trials[0];
    let counted: u64 = kinds.iter().map(|&kind| errors_of(trial, kind)).sum();
    assert!(counted > 0, "{kinds:?} in {:?}", trial.phases.errors());
    assert_eq!(trial.verdict, Verdict::Invalid);
    assert_told(&outcome, &address, kinds);
}

fn assert_told(outcome: &Outcome, address: &str, kinds: &[ErrorKind]) {
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let errors = outcome
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "));
    let errors: Vec<&str> = errors.filter(|line| line.contains(address)).collect();
    assert_eq!(errors.len(), 1, "one message: {}", outcome.stderr);
    assert!(
        kinds.iter().any(|kind| errors[0].contains(kind.words())),
        "{kinds:?} in {}",
        errors[0]
    );
    assert!(outcome.stderr.contains("\nhint: "), "{}", outcome.stderr);
    assert!(outcome.took < Duration::from_secs(30), "{:?}", outcome.took);
}

#[test]
fn a_faultless_server_is_not_accused() {
    let bench = Bench::new();
    let (_, trials) = measure(&bench, &peer::start(peer::faultless));
    assert_eq!(support::failed_checks(&trials[0]), Vec::<String>::new());
}

#[test]
fn wrong_bytes() {
    assert_caught(peer::wrong_byte, &[ErrorKind::WrongBytes]);
}

#[test]
fn bytes_in_another_order() {
    assert_caught(peer::reordered, &[ErrorKind::WrongBytes]);
}

#[test]
fn half_a_reply() {
    assert_caught(peer::truncating, &[ErrorKind::Truncated]);
}

#[test]
fn a_connection_closed_half_way() {
    // The kernel resets instead of closing where the next message had already come.
    assert_caught(
        peer::closing_half_way,
        &[ErrorKind::ClosedEarly, ErrorKind::Reset],
    );
}

#[test]
fn more_than_was_asked_for() {
    // The second half may come with the first, or meet the next message's reply.
    assert_caught(
        peer::too_much,
        &[ErrorKind::ExcessBytes, ErrorKind::WrongBytes],
    );
}

#[test]
fn no_answer_any_more() {
    assert_caught(peer::falling_silent, &[ErrorKind::ReplyTimedOut]);
}

#[test]
fn a_reply_without_its_last_byte_is_told_as_far_as_it_came() {
    let bench = Bench::new();
    let address = peer::start(peer::stopping_short);
    let (outcome, trials) = measure(&bench, &address);
    assert_told(&outcome, &address, &[ErrorKind::ReplyStalled]);
    assert!(
        outcome
            .stderr
            .contains("63 of 64 bytes of the reply came, then nothing for "),
        "{}",
        outcome.stderr
    );
    assert_eq!(errors_of(&trials[0], ErrorKind::ReplyTimedOut), 0);
}

#[test]
fn a_reset() {
    assert_caught(peer::resetting, &[ErrorKind::Reset]);
}

#[test]
fn nobody_listening() {
    let bench = Bench::new();
    let address = peer::nobody();
    let (outcome, trials) = measure(&bench, &address);
    assert!(matches!(trials[0].outcome, TrialOutcome::Failed { .. }));
    assert_told(&outcome, &address, &[ErrorKind::ConnectRefused]);
}

#[test]
fn wrong_bytes_pass_where_nobody_looks() {
    let bench = Bench::new();
    let size = peer::SIZE.to_string();
    let address = peer::start(peer::reordered);
    bench.throng(&[
        "echo",
        &address,
        "--no-verify",
        "--messages",
        "1009",
        "--size",
        &size,
        "--connections",
        "3",
        "--repeats",
        "1",
    ]);
    let record = bench.record();
    assert_eq!(
        support::failed_checks(&record.trials[0]),
        Vec::<String>::new()
    );
    let exchange = record.trials[0].phases.exchange().expect("measured");
    assert_eq!(exchange.replies, 1009);
}
