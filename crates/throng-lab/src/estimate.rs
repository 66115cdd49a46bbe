//! How long a plan will take, told before it starts.
//!
//! The lengths that the plan states, plus what launching, connecting and ending a server usually take. A stop by count
//! is guessed at a modest server's rate, and a stop by confidence at its bound: an estimate, better too long than too short.

use std::time::Duration;

use throng_record::{Amount, Pacing, Plan, Stop};

/// Launching a server and a generator, and ending both.
const PER_TRIAL: Duration = Duration::from_millis(250);
/// Opening and closing one connection over loopback, at the slower end.
const PER_CONNECTION: Duration = Duration::from_micros(100);
/// Messages per second of a modest server, where nothing better is known.
const MODEST_RATE: f64 = 50_000.0;

/// The expected length of the whole plan.
#[must_use]
pub fn estimate(plan: &Plan) -> Duration {
    let exchange = exchange(plan);
    let each = plan
        .connections
        .iter()
        .map(|&connections| PER_TRIAL + PER_CONNECTION * connections)
        .fold(Duration::ZERO, |sum, overhead| {
            sum.saturating_add(overhead).saturating_add(exchange)
        });
    each.saturating_mul(plan.targets.len() as u32)
        .saturating_mul(plan.repeats)
}

/// Warm-up and measurement of one trial.
fn exchange(plan: &Plan) -> Duration {
    let rate = match plan.pacing {
        Pacing::Open {
            rate_per_second, ..
        } => rate_per_second,
        Pacing::Closed { .. } | Pacing::Lockstep { .. } => MODEST_RATE,
    };
    // A day is "too long" as well as any longer time, and cannot overflow a sum.
    let by_count = |messages: u64| Duration::from_secs_f64((messages as f64 / rate).min(86_400.0));
    let warmup = match plan.warmup {
        Amount::Messages(messages) => by_count(messages),
        Amount::DurationNs(length_ns) => Duration::from_nanos(length_ns),
    };
    let measured = match plan.stop {
        Stop::Messages(messages) => by_count(messages),
        Stop::DurationNs(length_ns) => Duration::from_nanos(length_ns),
        Stop::Confidence {
            max_duration_ns, ..
        } => Duration::from_nanos(max_duration_ns),
    };
    warmup.saturating_add(measured)
}
