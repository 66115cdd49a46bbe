//! How much of an open loop's rate was kept: by the check of that name, and in figures.

use serde::Serialize;
use throng_record::{CheckKind, CheckResult, Pacing, Trial};

use crate::format;

/// What was asked for, and how much of it came.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rate {
    /// Messages per second, of a fan-out deliveries.
    pub asked_per_second: f64,
    /// Replies per second ÷ that, in the trial in which it was least. By chance it may be above 1.
    pub kept_share: f64,
    /// Messages that were due by the window's end and were never sent, in that trial.
    pub due_unsent: u64,
    /// Whether it was kept in every trial that the row stands on. Where it was not, latencies are lower bounds: what was never sent has
    /// waited too.
    pub is_kept: bool,
}

impl Rate {
    /// Over these trials; `None` where they have no rate.
    pub(crate) fn of(trials: &[&Trial]) -> Option<Self> {
        let shares = trials
            .iter()
            .filter_map(|trial| Some((kept_share(trial)?, trial)));
        let (share, trial) = shares.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
        let exchange = trial.phases.exchange();
        Some(Self {
            asked_per_second: asked_per_second(trial)?,
            kept_share: share,
            due_unsent: exchange.map_or(0, |exchange| exchange.due_unsent),
            is_kept: !trials.iter().any(|trial| is_missed(trial)),
        })
    }

    /// `rate not kept: 91.0 k/s of 300 k/s, 418 k due and never sent`, in one or two lines.
    pub(crate) fn not_kept(&self) -> String {
        let kept = format::rate(self.kept_share * self.asked_per_second);
        let asked = format::rate(self.asked_per_second);
        let unsent = match self.due_unsent {
            0 => String::new(),
            unsent => format!(",\n{} due and never sent", format::count(unsent as f64)),
        };
        format!("✗ rate not kept: {kept} of {asked}{unsent}")
    }
}

/// Whether the trial's check says that the rate was not kept.
pub(crate) fn is_missed(trial: &Trial) -> bool {
    let mut checks = trial.checks.iter();
    checks.any(|check| check.kind == CheckKind::RateKept && check.result == CheckResult::Qualified)
}

/// Of one trial.
pub(crate) fn kept_share(trial: &Trial) -> Option<f64> {
    let exchanged = trial.phases.exchange();
    let delivered = trial.phases.sustained();
    let exchanged = exchanged.map(|phase| phase.replies_per_second);
    let found = exchanged.or(delivered.map(|phase| phase.deliveries_per_second))?;
    Some(found / asked_per_second(trial)?)
}

fn asked_per_second(trial: &Trial) -> Option<f64> {
    if let Some(asked) = trial.job.phases.sustain() {
        return Some(asked.rate_per_second * f64::from(trial.phases.connect()?.connected));
    }
    match trial.job.phases.exchange()?.pacing {
        Pacing::Open {
            rate_per_second, ..
        } => Some(rate_per_second),
        Pacing::Closed { .. } | Pacing::Lockstep { .. } | Pacing::Tasks(_) => None,
    }
}

/// A latency, as a lower bound where the rate was not kept.
fn latency(nanoseconds: f64, rate: Option<&Rate>) -> String {
    let mark = match rate {
        Some(rate) if !rate.is_kept => "≥ ",
        _ => "",
    };
    format!("{mark}{}", format::time_ns(nanoseconds))
}

/// Of the rate, and of the latency, in short.
pub(crate) fn share_and_p99(rate: &Rate, p99_ns: f64, mark: &str) -> String {
    let mark = if rate.is_kept { mark } else { "✗ " };
    let p99 = latency(p99_ns, Some(rate));
    format!("{mark}{:.1} % · {p99}", rate.kept_share * 100.0)
}
