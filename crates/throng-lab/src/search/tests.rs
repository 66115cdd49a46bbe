use std::collections::VecDeque;

use throng_record::{Decision, Limit, Purpose, SearchEnd, SearchSpec};

use super::decide::length_ns;
use super::{Search, Seen, State, Wanted, middle};
use crate::order::SplitMix64;

const SERVICE_NS: f64 = 1e6;
const BOUND_NS: f64 = 5e6;
const REPLIES: u64 = 5_000;

fn spec() -> SearchSpec {
    SearchSpec {
        bounds: vec!["p99 < 5ms".to_owned()],
        within: 0.05,
        time_limit_ns: 1_000_000_000_000,
        curve_points: 0,
        duration_max_ns: 10_000_000_000,
    }
}

/// The interval of the median, as the report has it: by the ranks of the sign test, in their normal approximation.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let beyond = (count / 2.0 - 0.98 * count.sqrt()).max(0.0) as usize;
    (values.len() > 1).then(|| (sorted[beyond], sorted[sorted.len() - 1 - beyond]))
}

/// What a server does at a rate: a decision, and why.
type Server<'a> = &'a mut dyn FnMut(f64, u64) -> Decision;

/// Carries a search out; the probes, and what was found.
fn searched(
    search: &Search<'_>,
    seed: u64,
    saturated: f64,
    server: Server<'_>,
) -> (Vec<Wanted>, State) {
    let mut state = State::new(seed);
    let mut probes = Vec::new();
    while let Some(wanted) = search.next(&state) {
        assert!(probes.len() < 1_000, "it does not end: {probes:?}");
        let (decision, took_ns) = match wanted.rate_per_second {
            None => (Decision::NotAsked, 1_000_000_000),
            Some(rate) => {
                let length = length_ns(search.spec, 1_000_000_000, REPLIES, rate);
                (server(rate, length), length)
            }
        };
        let seen = Seen {
            decision,
            because: "p99".to_owned(),
            replies_per_second: wanted.rate_per_second.unwrap_or(saturated).min(saturated),
            limit: Limit::Server,
            failure: None,
            took_ns,
        };
        probes.push(wanted);
        search.learn(&mut state, &seen);
    }
    (probes, state)
}

fn asked<'a>(spec: &'a SearchSpec, is_running: bool) -> Search<'a> {
    Search {
        spec,
        repeats: 6,
        is_running,
        spread: &interval,
    }
}

fn ended(state: &State) -> &SearchEnd {
    state.found().2.expect("it has ended")
}

/// The 99th percentile of latency of a single server that takes a millisecond for each of the requests that come at random in so long a time: Lindley's
/// recursion.
fn simulated_p99_ns(rate: f64, length_ns: u64, random: &mut SplitMix64) -> f64 {
    let (mut at, mut free_at) = (0.0, 0.0_f64);
    let mut latencies = Vec::new();
    while at < length_ns as f64 {
        at += -(1.0 - random.unit()).ln() / rate * 1e9;
        free_at = free_at.max(at) + SERVICE_NS;
        latencies.push(free_at - at);
    }
    latencies.sort_by(f64::total_cmp);
    latencies[(latencies.len() * 99 / 100).min(latencies.len() - 1)]
}

/// The share of requests that wait for longer than `waited_ns` at such a server: Crommelin's formula (Telephone Traffic, 1932).
fn waiting_longer(rate: f64, waited_ns: f64) -> f64 {
    let busy = rate * SERVICE_NS / 1e9;
    let (mut within, mut factorial) = (0.0, 1.0);
    for k in 0..=(waited_ns / SERVICE_NS) as u32 {
        factorial *= f64::from(k.max(1));
        let left = rate * (waited_ns - f64::from(k) * SERVICE_NS) / 1e9;
        within += (-left).powi(k as i32) * left.exp() / factorial;
    }
    1.0 - (1.0 - busy) * within
}

/// The rate at which one in a hundred takes longer than the bound.
fn capacity_in_closed_form() -> f64 {
    let (mut low, mut high) = (1.0, 999.0);
    for _ in 0..60 {
        let rate = f64::midpoint(low, high);
        match waiting_longer(rate, BOUND_NS - SERVICE_NS) > 0.01 {
            true => high = rate,
            false => low = rate,
        }
    }
    low
}

/// With an interval of rank errors, as the report judges a quantile.
fn judged(p99_ns: f64, length_ns: u64, rate: f64) -> Decision {
    let beyond = rate * length_ns as f64 / 1e9 * 0.01;
    let off = 0.2 / beyond.sqrt();
    match p99_ns {
        p99 if p99 * (1.0 + off) < BOUND_NS => Decision::Met,
        p99 if p99 * (1.0 - off) >= BOUND_NS => Decision::NotMet,
        _ => Decision::Undecided,
    }
}

#[test]
fn the_capacity_of_a_single_server_is_that_of_the_closed_form() {
    let exact = capacity_in_closed_form();
    assert!((500.0..620.0).contains(&exact), "{exact}");
    let spec = spec();
    let mut answers = Vec::new();
    for seed in 1..=10 {
        let mut random = SplitMix64::new(1_000 + seed);
        let mut server =
            |rate, length| judged(simulated_p99_ns(rate, length, &mut random), length, rate);
        let (_, state) = searched(&asked(&spec, false), seed, 1_000.0, &mut server);
        assert_eq!(ended(&state), &SearchEnd::Width);
        let found = middle(&state.capacities());
        assert!((found / exact - 1.0).abs() < 0.05, "{found} and {exact}");
        answers.push(found);
    }
    answers.sort_by(f64::total_cmp);
    let (low, high) = (answers[0], answers[9]);
    assert!(high - low <= spec.within * low, "{answers:?}");
}

/// Bounds hold up to this rate.
fn up_to(most: f64) -> impl FnMut(f64, u64) -> Decision {
    move |rate, _| match rate <= most {
        true => Decision::Met,
        false => Decision::NotMet,
    }
}

#[test]
fn each_repeat_brackets_the_answer_and_begins_elsewhere() {
    let spec = spec();
    let (probes, state) = searched(&asked(&spec, false), 1, 1_000.0, &mut up_to(613.0));
    let (saturated, brackets, _) = state.found();
    assert_eq!(saturated, Some(1_000.0));
    assert_eq!(brackets.len(), 6);
    for bracket in brackets {
        let (met, missed) = (
            bracket.met_per_second.expect("met"),
            bracket.missed_per_second.expect("missed"),
        );
        assert!(met <= 613.0 && 613.0 < missed, "{bracket:?}");
        assert!(missed <= met * 1.025, "{bracket:?}");
        assert!(!bracket.is_generators);
    }
    let mut rates = state.capacities();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    assert_eq!(rates.len(), 6, "a grid of its own each");
    assert_eq!(probes[0].purpose, Purpose::Saturate);
    assert_eq!(probes[1].rate_per_second, Some(50.0));
}

#[test]
fn a_capacity_beyond_the_closed_loop_is_found_too() {
    let spec = spec();
    let (_, state) = searched(&asked(&spec, false), 1, 1_000.0, &mut up_to(2_500.0));
    let found = middle(&state.capacities());
    assert!((2_437.0..=2_500.0).contains(&found), "{found}");
}

#[test]
fn a_bound_that_no_rate_meets_is_told_with_the_lowest_rate() {
    let spec = spec();
    let (probes, state) = searched(&asked(&spec, false), 1, 1_000.0, &mut |_, _| {
        Decision::NotMet
    });
    let SearchEnd::NoRateMeets {
        lowest_per_second, ..
    } = ended(&state)
    else {
        panic!("{state:?}");
    };
    assert!(
        (lowest_per_second - 5.0).abs() < 1e-9,
        "{lowest_per_second}"
    );
    // Below that the longest probe would have five replies.
    assert_eq!(probes.len(), 3);
}

#[test]
fn a_generator_that_comes_late_makes_the_answer_a_lower_bound() {
    let spec = spec();
    let mut server = |rate, _| match rate <= 700.0 {
        true => Decision::Met,
        false => Decision::GeneratorLate,
    };
    let (_, state) = searched(&asked(&spec, false), 1, 1_000.0, &mut server);
    assert!(state.found().1.iter().all(|bracket| bracket.is_generators));
}

#[test]
fn a_running_server_that_an_overload_has_spoilt_is_told_as_such() {
    let spec = spec();
    let mut is_spoilt = false;
    let mut server = |rate: f64, _| {
        is_spoilt |= rate > 600.0;
        match is_spoilt {
            true => Decision::NotMet,
            false => Decision::Met,
        }
    };
    let (_, state) = searched(&asked(&spec, true), 1, 1_000.0, &mut server);
    let SearchEnd::Collapsed {
        held_per_second,
        now_per_second,
        ..
    } = ended(&state)
    else {
        panic!("{state:?}");
    };
    assert_eq!((*held_per_second, *now_per_second), (50.0, 50.0));
}

#[test]
fn one_that_the_closed_loop_has_spoilt_is_told_too() {
    let spec = spec();
    let mut probes = 0;
    let mut server = |_, _| {
        probes += 1;
        match probes {
            1 => Decision::Met,
            _ => Decision::NotMet,
        }
    };
    let (_, state) = searched(&asked(&spec, true), 1, 10_000.0, &mut server);
    let SearchEnd::Collapsed {
        held_per_second,
        now_per_second,
        ..
    } = ended(&state)
    else {
        panic!("{state:?}");
    };
    assert_eq!((*held_per_second, *now_per_second), (50.0, 50.0));
}

#[test]
fn one_that_is_spoilt_later_is_told_by_what_it_had_held() {
    let spec = spec();
    let mut left = 13;
    let mut server = |rate: f64, _| {
        left -= 1;
        match left > 0 && rate <= 600.0 {
            true => Decision::Met,
            false => Decision::NotMet,
        }
    };
    let (_, state) = searched(&asked(&spec, true), 1, 1_000.0, &mut server);
    let SearchEnd::Collapsed {
        held_per_second,
        now_per_second,
        ..
    } = ended(&state)
    else {
        panic!("{state:?}");
    };
    assert!(
        (585.0..=600.0).contains(held_per_second),
        "{held_per_second}"
    );
    assert!(now_per_second * 1.9 <= *held_per_second, "{now_per_second}");
}

#[test]
fn what_is_undecided_is_tried_three_times_and_then_counts_as_not_met() {
    let spec = spec();
    let mut server = |rate, _| match rate {
        rate if rate <= 400.0 => Decision::Met,
        _ => Decision::Undecided,
    };
    let (probes, state) = searched(&asked(&spec, false), 1, 1_000.0, &mut server);
    assert!(middle(&state.capacities()) <= 400.0);
    let mut rates: VecDeque<_> = probes
        .iter()
        .filter_map(|probe| probe.rate_per_second)
        .collect();
    rates.pop_front();
    let first = rates[0];
    assert_eq!(rates.iter().take_while(|rate| **rate == first).count(), 3);
}

#[test]
fn the_time_limit_ends_it_with_what_it_has() {
    let limit = |seconds: u64| SearchSpec {
        time_limit_ns: seconds * 1_000_000_000,
        ..spec()
    };
    // The closed loop, the calm, and three probes of the first bracket.
    let short = limit(25);
    let (probes, state) = searched(&asked(&short, false), 1, 1_000.0, &mut up_to(800.0));
    assert_eq!(ended(&state), &SearchEnd::TimeLimit);
    assert_eq!(state.found().1.len(), 1);
    assert!(probes.len() < 8, "{probes:?}");
    let longer = limit(90);
    let (_, state) = searched(&asked(&longer, false), 1, 1_000.0, &mut up_to(800.0));
    assert_eq!(ended(&state), &SearchEnd::TimeLimit);
    let brackets = state.found().1.len();
    assert!((2..6).contains(&brackets), "{brackets}");
}

#[test]
fn the_curve_comes_last_and_goes_beyond_the_capacity() {
    let spec = SearchSpec {
        curve_points: 5,
        ..spec()
    };
    let (probes, state) = searched(&asked(&spec, false), 1, 1_000.0, &mut up_to(613.0));
    let capacity = middle(&state.capacities());
    let curve: Vec<f64> = probes
        .iter()
        .filter(|probe| probe.purpose == Purpose::Curve)
        .filter_map(|probe| probe.rate_per_second)
        .collect();
    assert_eq!(curve.len(), 5);
    assert_eq!(
        probes.len() - 5,
        probes
            .iter()
            .position(|probe| probe.purpose == Purpose::Curve)
            .expect("a curve")
    );
    assert!((curve[0] / capacity - 0.1).abs() < 1e-9);
    assert!((curve[4] / capacity - 1.25).abs() < 1e-9);
}

#[test]
fn a_probe_that_cannot_be_made_ends_the_search() {
    let spec = spec();
    let search = asked(&spec, false);
    let mut state = State::new(1);
    let wanted = search.next(&state).expect("the closed loop");
    assert_eq!(wanted.rate_per_second, None);
    let seen = Seen {
        decision: Decision::NotAsked,
        because: String::new(),
        replies_per_second: 0.0,
        limit: Limit::Unknown,
        failure: Some("nobody listens".to_owned()),
        took_ns: 1,
    };
    search.learn(&mut state, &seen);
    assert_eq!(
        ended(&state),
        &SearchEnd::Failed {
            message: "nobody listens".to_owned()
        }
    );
    assert_eq!(search.next(&state), None);
}
