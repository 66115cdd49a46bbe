//! Conditions under which a run fails.

use throng_report::Summary;
use throng_report::gate::{Decision, Gate, GateError};

use crate::fixture::{closed, nothing_valid};

/// Of each row whose target is so called, in the order of settings: the decision, and its words.
fn decided(condition: &str, target: &str) -> Vec<(Decision, String)> {
    let record = closed();
    let gate = Gate::read(condition, &record.plan).expect(condition);
    let judged = gate.judge(&record, &Summary::of(&record)).into_iter();
    let is_of_target = |words: &str| words.starts_with(&format!("{target} at"));
    judged
        .filter(|one| is_of_target(&one.words))
        .map(|one| (one.decision, one.words))
        .collect()
}

fn decisions(condition: &str, target: &str) -> Vec<Decision> {
    let decided = decided(condition, target).into_iter();
    decided.map(|(decision, _)| decision).collect()
}

#[test]
fn both_ends_of_the_interval_decide_and_an_open_end_decides_nothing() {
    use Decision::{Met, NotMet, Undecided};
    // 143 k/s, from 140.1 to 144.4.
    let of_epoll = |condition| decisions(condition, "epoll-edge");
    assert_eq!(of_epoll("throughput < 150k"), [Met, Met]);
    assert_eq!(of_epoll("throughput < 130k"), [NotMet, NotMet]);
    assert_eq!(of_epoll("throughput < 143k"), [Undecided, Undecided]);
    // At 100 connections its generator was at its limit: 171 k/s at least.
    let of_io_uring = |condition| decisions(condition, "io-uring");
    assert_eq!(of_io_uring("throughput < 200k"), [Met, Undecided]);
    assert_eq!(of_io_uring("throughput > 150k"), [Met, Met]);
    let (_, words) = &decided("throughput < 200k", "io-uring")[1];
    assert!(words.contains("≥ ") && words.contains('['), "{words}");
    // Its latencies are too great at the most, and its server's CPU time is what it is.
    assert_eq!(of_io_uring("p99 > 1us"), [Met, Undecided]);
    assert_eq!(of_io_uring("server_cpu_per_message_ns > 1us"), [Met, Met]);
}

#[test]
fn the_baseline_is_not_compared_with_itself_and_a_bound_has_no_ratio() {
    use Decision::{NotMet, Undecided};
    assert_eq!(decisions("throughput < baseline", "epoll-edge"), []);
    let condition = "throughput < 1.1 * baseline";
    assert_eq!(decisions(condition, "io-uring"), [NotMet, Undecided]);
    let (_, words) = &decided(condition, "io-uring")[0];
    assert!(words.contains("1.20× epoll-edge"), "{words}");
}

#[test]
fn a_row_without_figures_is_undecided_and_says_so() {
    let record = nothing_valid();
    let gate = Gate::read("p99 > 5ms", &record.plan).expect("a condition");
    let judged = gate.judge(&record, &Summary::of(&record));
    assert_eq!(judged.len(), 1);
    assert_eq!(judged[0].decision, Decision::Undecided);
    assert!(judged[0].words.ends_with("no such figure"), "{judged:?}");
    let only = Gate::read("p99 > baseline", &record.plan).expect_err("one target");
    assert!(matches!(only, GateError::NoOther(_)));
}
