//! The search behind a row, out of the record: its probes, the curve with its knee, and the queue beside it.

use serde::Serialize;
use throng_record::{Decision, Histogram, Probe, Purpose, SearchRecord, Trial};

use super::queue::Queue;
use crate::measured::CellShown;
use crate::rate::kept_share;

/// What a search was, and what it saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Searched {
    /// As it stands in the record.
    #[cfg_attr(test, schemars(with = "crate::schema::SearchRecord"))]
    pub search: SearchRecord,
    /// Every probe with a rate, in the order in which they were made.
    pub probes: Vec<Probed>,
    /// The probe of the curve after which latency grows faster than the rate: the greatest ratio of rate to mean latency; absent where there is no curve.
    pub knee_per_second: Option<f64>,
    /// What a single queue would do; absent where the calm was not measured.
    pub queue: Option<Queue>,
}

/// What a probe measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Probed {
    /// Why it was made.
    #[cfg_attr(test, schemars(with = "crate::schema::Purpose"))]
    pub purpose: Purpose,
    /// Which repeat of the search, from 0.
    pub repeat: u32,
    /// Messages offered per second.
    pub offered_per_second: f64,
    /// Replies per second.
    pub kept_per_second: f64,
    /// What it says of the rate.
    #[cfg_attr(test, schemars(with = "crate::schema::Decision"))]
    pub decision: Decision,
    /// By which figure.
    pub because: String,
    /// Mean latency.
    pub latency_ns_mean: f64,
    /// Median latency.
    pub latency_ns_p50: f64,
    /// 90th percentile.
    pub latency_ns_p90: f64,
    /// 99th percentile.
    pub latency_ns_p99: f64,
    /// 99.9th percentile.
    pub latency_ns_p99_9: f64,
    /// Whether the machine was disturbed.
    pub is_disturbed: bool,
}

/// `None` where nothing was searched for.
pub(super) fn of(cell: &CellShown<'_>) -> Option<Searched> {
    let is_of_cell = |target, setting| (target, setting) == (cell.target, cell.setting);
    let mut searches = cell.record.searches.iter();
    let search = searches.find(|search| is_of_cell(search.target, search.setting))?;
    let trials = cell.record.trials.iter();
    let trials: Vec<&Trial> = trials
        .filter(|trial| is_of_cell(trial.target, trial.setting))
        .collect();
    let probes: Vec<Probed> = trials.iter().filter_map(|trial| probed(trial)).collect();
    Some(Searched {
        search: search.clone(),
        knee_per_second: knee(&probes),
        queue: queue(search, &trials),
        probes,
    })
}

fn probed(trial: &Trial) -> Option<Probed> {
    let probe = trial.probe.as_ref()?;
    let offered_per_second = probe.offered_per_second?;
    let latency = &trial.phases.exchange()?.latency;
    Some(Probed {
        purpose: probe.purpose,
        repeat: trial.repeat,
        offered_per_second,
        kept_per_second: kept_share(trial)? * offered_per_second,
        decision: probe.decision,
        because: probe.because.clone(),
        latency_ns_mean: latency.mean_ns,
        latency_ns_p50: latency.p50_ns as f64,
        latency_ns_p90: latency.p90_ns as f64,
        latency_ns_p99: latency.p99_ns as f64,
        latency_ns_p99_9: latency.p99_9_ns as f64,
        is_disturbed: trial.is_disturbed(),
    })
}

/// Kleinrock's power, rate ÷ mean latency, is greatest at the knee (L. Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer
/// communications", ICC 1979).
fn knee(probes: &[Probed]) -> Option<f64> {
    let curve = probes
        .iter()
        .filter(|probe| probe.purpose == Purpose::Curve);
    let power = |probe: &&Probed| probe.kept_per_second / probe.latency_ns_mean;
    let curve = curve.filter(|probe| probe.latency_ns_mean > 0.0);
    let knee = curve.max_by(|one, other| power(one).total_cmp(&power(other)));
    knee.map(|probe| probe.offered_per_second)
}

fn queue(search: &SearchRecord, trials: &[&Trial]) -> Option<Queue> {
    let is_calm = |probe: &Probe| probe.purpose == Purpose::Calm;
    let calm = trials
        .iter()
        .rev()
        .find(|trial| trial.probe.as_ref().is_some_and(is_calm))?;
    let latency = &calm.phases.exchange()?.latency;
    let calm_ns_mean = latency.mean_ns;
    let saturated = search.saturated_per_second.filter(|rate| *rate > 0.0)?;
    Some(Queue {
        service_ns: 1e9 / saturated,
        variation_squared: variation_squared(latency)?,
        calm_ns_mean,
        calm_ns_p99: latency.p99_ns as f64,
    })
}

/// Variance ÷ mean².
fn variation_squared(latency: &Histogram) -> Option<f64> {
    let live = latency.decode().ok().filter(|live| !live.is_empty())?;
    Some((live.stdev() / live.mean()).powi(2))
}
