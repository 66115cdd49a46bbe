//! What a probe says of its rate.
//!
//! It is met where the rate was kept and the bounds hold. A probe that is not met says nothing of the server where the generator was late itself, or where
//! others took its CPUs; one that is met does in any case, since whatever delays a request is in its latency.

use std::fmt;

use throng_findings::checks::kind;
use throng_record::{
    Check, CheckKind, CheckResult, Decision, Outcome, Plan, SearchSpec, Trial, Verdict,
};

/// What is to hold, by whoever knows the figures.
pub trait Bounds: fmt::Debug {
    /// Replies that a probe needs for its quantiles to be worth something.
    fn replies_needed(&self) -> u64;

    /// Whether the bounds hold in these trials, all of them at one rate.
    fn hold(&self, plan: &Plan, trials: &[&Trial]) -> Held;

    /// Low and high end of the interval of the median of these values, or of their range where they are few; `None` of fewer than two.
    fn spread(&self, values: &[f64]) -> Option<(f64, f64)>;
}

/// Whether bounds hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// `None`: one of them lies within the interval of its figure.
    pub is_held: Option<bool>,
    /// By the figures themselves, whatever their intervals.
    pub is_held_by_value: bool,
    /// The figure that decides: `p99 4.21 ms`.
    pub words: String,
}

/// Of a latency that is this much the generator's own lateness, the generator is the cause.
const LATENESS_MAX: f64 = 0.5;

/// What the last of these trials says of their rate, in words.
pub(crate) fn decide(
    bounds: &dyn Bounds,
    plan: &Plan,
    trials: &[&Trial],
    is_last_attempt: bool,
) -> (Decision, String) {
    let Some(trial) = trials.last() else {
        return (Decision::NotAsked, String::new());
    };
    if let Some(wrong) = wrong_with_server(trial) {
        return (Decision::NotMet, wrong.detail.clone());
    }
    if let Some(wrong) = failed(trial) {
        return (Decision::Undecided, wrong.detail.clone());
    }
    let because = match rate_missed(trial) {
        Some(share) => format!("{:.1} % of the rate was kept", share * 100.0),
        None => {
            let held = bounds.hold(plan, trials);
            match held.is_held {
                Some(true) => return (Decision::Met, held.words),
                None if is_last_attempt && held.is_held_by_value => {
                    return (Decision::Met, held.words);
                }
                None if !is_last_attempt => return (Decision::Undecided, held.words),
                None | Some(false) => held.words,
            }
        }
    };
    if was_late(trial) {
        return (Decision::GeneratorLate, because);
    }
    match trial.is_disturbed() && !is_last_attempt {
        true => (
            Decision::Undecided,
            format!("{because}, on a disturbed machine"),
        ),
        false => (Decision::NotMet, because),
    }
}

/// Why nothing more can be asked of this server.
pub(crate) fn failure(trial: &Trial) -> Option<String> {
    match &trial.outcome {
        Outcome::Failed { message } => Some(message.clone()),
        Outcome::Spared { because } => Some(because.clone()),
        Outcome::Interrupted => None,
        Outcome::Completed if trial.verdict == Verdict::Partial => {
            let mut partial = trial.checks.iter();
            let partial = partial.find(|check| check.result == CheckResult::Partial);
            partial.map(|check| check.detail.clone())
        }
        Outcome::Completed => None,
    }
}

/// How long a probe at this rate lasts.
pub(crate) fn length_ns(
    spec: &SearchSpec,
    least_ns: u64,
    replies: u64,
    rate_per_second: f64,
) -> u64 {
    let needed = replies as f64 / rate_per_second * 1e9;
    // A float that is too great becomes the greatest number.
    (needed as u64).min(spec.duration_max_ns).max(least_ns)
}

/// A check that failed by the server's own fault in this trial. What it is known to do wrong it does at any rate.
fn wrong_with_server(trial: &Trial) -> Option<&Check> {
    let mut failed = trial.checks.iter();
    failed.find(|check| {
        check.result == CheckResult::Failed
            && check.kind != CheckKind::Contract
            && kind(check.kind).is_the_servers_fault
    })
}

fn failed(trial: &Trial) -> Option<&Check> {
    let mut checks = trial.checks.iter();
    checks.find(|check| check.result == CheckResult::Failed && check.kind != CheckKind::Contract)
}

fn rate_missed(trial: &Trial) -> Option<f64> {
    let mut checks = trial.checks.iter();
    let missed = checks
        .find(|check| check.kind == CheckKind::RateKept && check.result == CheckResult::Qualified);
    missed.map(|check| check.measured.unwrap_or_default())
}

/// Whether it was for the most part the generator itself that a message waited for.
fn was_late(trial: &Trial) -> bool {
    let Some(exchange) = trial.phases.exchange() else {
        return false;
    };
    let lateness = exchange.scheduling_error.as_ref();
    let lateness = lateness.filter(|error| error.count > 0);
    lateness.is_some_and(|error| {
        let latency_ns = exchange.latency.p99_ns as f64;
        error.p99_ns as f64 > LATENESS_MAX * latency_ns
    })
}
