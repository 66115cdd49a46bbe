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
    /// The probe of the curve after which latency grows faster than the rate: the greatest ratio of rate to mean latency; absent where that is the last one, or there is no
    /// curve.
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
/// communications", ICC 1979). Where that is the last point, it lies beyond the curve.
fn knee(probes: &[Probed]) -> Option<f64> {
    let curve = probes
        .iter()
        .filter(|probe| probe.purpose == Purpose::Curve && probe.latency_ns_mean > 0.0);
    let power = |probe: &&Probed| probe.kept_per_second / probe.latency_ns_mean;
    let knee = curve
        .clone()
        .max_by(|one, other| power(one).total_cmp(&power(other)))?;
    let mut beyond = curve.filter(|probe| probe.offered_per_second > knee.offered_per_second);
    beyond.next().map(|_| knee.offered_per_second)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn probed(offered_per_second: f64, latency_ns_mean: f64) -> Probed {
        Probed {
            purpose: Purpose::Curve,
            repeat: 0,
            offered_per_second,
            kept_per_second: offered_per_second,
            decision: Decision::Met,
            because: String::new(),
            latency_ns_mean,
            latency_ns_p50: 0.0,
            latency_ns_p90: 0.0,
            latency_ns_p99: 0.0,
            latency_ns_p99_9: 0.0,
            is_disturbed: false,
        }
    }

    /// Of an M/M/1 queue it is at half the rate that it serves.
    #[test]
    fn the_knee_is_where_the_ratio_of_rate_to_latency_is_greatest_and_not_at_the_end() {
        let of_queue = |rate: f64| probed(rate, 1e9 / (1_000.0 - rate));
        let curve = [100.0, 300.0, 500.0, 700.0, 900.0].map(of_queue);
        assert_eq!(knee(&curve), Some(500.0));
        assert_eq!(knee(&curve[..3]), None);
        assert_eq!(knee(&[]), None);
    }
}
