//! Parts that add up to what one generator would have told.

use proptest::prelude::*;

use super::*;
use crate::{RepliesPerConnection, Silence};

fn histogram_of(values: &[u64]) -> Histogram {
    let mut live = empty();
    for &value in values {
        live.record(value).expect("within the bounds");
    }
    Histogram::from(&live)
}

/// A window of a microsecond in which these were answered.
fn exchange(started_at_monotonic_ns: u64, latencies: &[u64]) -> ExchangePhase {
    let replies = latencies.len() as u64;
    ExchangePhase {
        started_at_monotonic_ns,
        duration_ns: 1_000,
        sent: replies,
        replies,
        latency: histogram_of(latencies),
        ..ExchangePhase::default()
    }
}

fn part(measured: Measured, clock_offset_ns: i64) -> Part {
    let mut phases = Phases::default();
    phases.push(measured);
    Part {
        record: LoadRecord {
            phases,
            ..LoadRecord::default()
        },
        clock_offset_ns,
    }
}

fn merged_exchange(parts: impl IntoIterator<Item = (ExchangePhase, i64)>) -> ExchangePhase {
    let parts = parts.into_iter();
    let parts = parts.map(|(exchange, offset)| part(Measured::Exchange(exchange), offset));
    let record = merge(parts.collect()).expect("parts of one job");
    record.phases.exchange().expect("an exchange").clone()
}

proptest! {
    #[test]
    fn counts_and_histograms_are_those_of_all_messages(
        parts in prop::collection::vec(prop::collection::vec(1_u64..10_000_000_000, 0..50), 1..8),
    ) {
        let all = parts.concat();
        let whole = merged_exchange(parts.iter().map(|latencies| (exchange(0, latencies), 0)));
        prop_assert_eq!((whole.sent, whole.replies), (all.len() as u64, all.len() as u64));
        let (ours, expected) = (whole.latency, histogram_of(&all));
        prop_assert_eq!(ours.hdr_v2_base64, expected.hdr_v2_base64);
        prop_assert_eq!((ours.count, ours.p99_ns, ours.max_ns), (expected.count, expected.p99_ns, expected.max_ns));
    }
}

#[test]
fn windows_reach_from_the_first_begin_to_the_last_end_by_one_clock() {
    // The second clock is 10 µs behind: its window began at 5,500 by the clock here.
    let second = exchange(15_500, &[1]);
    let whole = merged_exchange([(exchange(5_000, &[1]), 0), (second, -10_000)]);
    assert_eq!(
        (whole.started_at_monotonic_ns, whole.duration_ns),
        (5_000, 1_500)
    );
}

#[test]
fn timelines_lie_over_each_other_as_they_were() {
    let with_timeline = |started_at_ns, replies: &[u64]| ExchangePhase {
        timeline: Timeline {
            slice_ns: 100,
            replies: replies.to_vec(),
            latency_sum_ns: replies.to_vec(),
        },
        ..exchange(started_at_ns, &[1])
    };
    let later = with_timeline(5_200, &[1, 1]);
    for parts in [
        [with_timeline(5_000, &[3, 3]), later.clone()],
        [later, with_timeline(5_000, &[3, 3])],
    ] {
        let whole = merged_exchange(parts.map(|exchange| (exchange, 0)));
        assert_eq!(whole.timeline.replies, [3, 3, 1, 1]);
    }
}

#[test]
fn a_server_is_silent_where_it_is_to_all() {
    let ms = |ms: u64| ms * 1_000_000;
    let silent = |started_at_ns, from_ms, length_ms| ExchangePhase {
        silences: vec![Silence {
            at_ns: ms(from_ms),
            duration_ns: ms(length_ms),
            generator_late_ns: 0,
            waiting: 3,
        }],
        ..exchange(started_at_ns, &[1])
    };
    // By the clock of both from 100 to 300 ms, and from 150 to 400 ms.
    let whole = merged_exchange([(silent(0, 100, 200), 0), (silent(ms(50), 100, 250), 0)]);
    let told: Vec<_> = whole
        .silences
        .iter()
        .map(|silence| (silence.at_ns, silence.duration_ns, silence.waiting))
        .collect();
    assert_eq!(told, [(ms(150), ms(150), 6)]);
    // A stop that one of them did not see is the other's network.
    let whole = merged_exchange([(silent(0, 100, 200), 0), (exchange(0, &[1]), 0)]);
    assert_eq!(whole.silences, []);
}

#[test]
fn the_slowest_connections_of_all_are_kept() {
    let connect = |latencies: std::ops::Range<u64>| {
        let slow = latencies.clone().map(|latency_ns| SlowConnection {
            latency_ns,
            ..SlowConnection::default()
        });
        Measured::Connect(ConnectPhase {
            connected: 20,
            duration_ns: 500,
            latency: histogram_of(&latencies.clone().collect::<Vec<_>>()),
            slowest: slow.collect(),
            ..ConnectPhase::default()
        })
    };
    let parts = vec![part(connect(1..8), 0), part(connect(4..14), 0)];
    let record = merge(parts).expect("parts of one job");
    let whole = record.phases.connect().expect("a connect phase");
    assert_eq!((whole.connected, whole.latency.count), (40, 17));
    let slowest: Vec<u64> = whole.slowest.iter().map(|slow| slow.latency_ns).collect();
    assert_eq!(slowest, [13, 12, 11, 10, 9, 8, 7, 7, 6, 6]);
}

#[test]
fn a_phase_that_some_did_not_come_to_is_that_of_the_others() {
    let mut first = part(Measured::Exchange(exchange(0, &[5])), 0);
    let second = part(Measured::Exchange(exchange(0, &[7])), 0);
    first.record.phases.push(Measured::Close(ClosePhase {
        closed_in_order: 9,
        ..ClosePhase::default()
    }));
    for parts in [vec![first.clone(), second.clone()], vec![second, first]] {
        let record = merge(parts).expect("parts of one job");
        let names: Vec<PhaseName> = record
            .phases
            .0
            .iter()
            .map(|phase| phase.measured.name())
            .collect();
        assert_eq!(names, [PhaseName::Exchange, PhaseName::Close]);
        assert_eq!(record.phases.exchange().map(|whole| whole.replies), Some(2));
    }
}

#[test]
fn generators_that_did_not_do_one_job_are_refused() {
    let close = part(Measured::Close(ClosePhase::default()), 0);
    let exchange = part(Measured::Exchange(exchange(0, &[1])), 0);
    assert!(matches!(
        merge(vec![close, exchange]),
        Err(MergeError::Phases)
    ));
}

#[test]
fn extremes_of_connections_are_those_of_all_and_quantiles_the_lower() {
    let replies = |mean: f64, min, max| RepliesPerConnection {
        connections: 10,
        min,
        p10: min,
        median: mean as u32,
        p90: max,
        max,
        mean,
        fairness_jain: 1.0,
        ..RepliesPerConnection::default()
    };
    let both = per_connection(replies(10.0, 8, 12), replies(30.0, 28, 33));
    assert_eq!((both.connections, both.min, both.max), (20, 8, 33));
    assert!((both.mean - 20.0).abs() < 1e-9);
    // Ten with 10 and ten with 30: (200 + … )² ÷ (n · Σx²) = 400² ÷ (20 · 10,000).
    assert!(
        (both.fairness_jain - 0.8).abs() < 1e-9,
        "{}",
        both.fairness_jain
    );
}
