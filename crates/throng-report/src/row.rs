//! A row: one target at one setting, of whichever experiment, with its figures over the trials that it stands on.

use std::collections::BTreeMap;

use serde::Serialize;
use throng_record::{
    Check, CheckKind, CheckResult, ErrorCounts, ErrorKind, ExchangePhase, Limit, RunRecord,
    SweptValue, TargetRecord, Trial,
};

use crate::detail::Detail;
use crate::figure::{Figure, Found, OneTrial};
use crate::format;
use crate::leading::Leading;
use crate::listener;
use crate::measured::{CellShown, Measured};
use crate::median::{self, Estimate};
use crate::merge::Merges;
use crate::published::Published;
use crate::rate::Rate;
use crate::ratio::{self, Bound, Ratio};
use crate::setting::{self, distinct};
use crate::standing::{Standing, TrialCounts};
use crate::stop;
use crate::target;
use crate::worth::{Sorted, Worth};

/// One target at one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// Name of the target.
    pub target: String,
    /// Index into the plan's settings.
    pub setting: u32,
    /// The setting in words: `100 connections · size 1024`.
    pub heading: String,
    /// Connections, or clients, asked for.
    pub connections: u32,
    /// Values of the swept keys.
    #[cfg_attr(test, schemars(with = "Vec<crate::schema::SweptValue>"))]
    pub swept: Vec<SweptValue>,
    /// Whether the others are compared with this one.
    pub is_baseline: bool,
    /// What the figures are worth.
    pub standing: Standing,
    /// Place among the ranked rows of the setting, from 1, where rows are ranked: an order of medians. Rows whose interval overlaps that of the first of them
    /// share its place: no difference was seen.
    pub rank: Option<u32>,
    /// How many trials ended how.
    pub trials: TrialCounts,
    /// Trials that the figures stand on.
    pub trials_behind: u32,
    /// Checks that invalid trials failed, the most frequent first.
    #[cfg_attr(test, schemars(with = "Vec<crate::schema::CheckKind>"))]
    pub failed_checks: Vec<CheckKind>,
    /// Where figures of a part stand, or would stand: which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Why partial trials are no more than that, each reason once.
    pub partial_because: Vec<String>,
    /// What stopped the connecting, each reason once, of all trials.
    pub stopped_by: Vec<String>,
    /// What went wrong, by kind, summed over all trials of the row.
    #[cfg_attr(test, schemars(with = "BTreeMap<String, Failed>"))]
    pub errors: BTreeMap<ErrorKind, Failed>,
    /// Every figure that the row has, by its key.
    pub figures: BTreeMap<String, Found>,
    /// For a row without figures: the leading one, median of its invalid trials, for diagnosis and never for comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_invalid_trials: Option<f64>,
    /// The leading figure against the baseline's; absent for the baseline itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_to_baseline: Option<Ratio>,
    /// Where a rate was asked for: how much of it was kept. Where that was not all, latencies are lower bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// What bounded the throughput in most trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "crate::schema::Limit"))]
    pub limit: Option<Limit>,
    /// The backlog in force, as found: of which worth the trial is does not matter for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_in_force: Option<u32>,
    /// What is published of it, asked the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// What is no single figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// What TLS handshakes came to, each version and cipher suite once; empty where all is plain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub tls_agreed: Vec<String>,
    /// Histograms of the record that could not be read back, and are therefore missing from the figures.
    pub unreadable: Vec<String>,
}

/// A part of what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Part {
    /// What was done with it.
    pub done: PartKind,
    /// How many.
    pub number: u64,
    /// Of how many.
    pub of: u64,
}

/// What was done with a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// Connections that a server serves which serves fewer at once than there are.
    Served,
    /// Requests that were answered, the others having failed as the kernel's account explains.
    Answered,
}

/// Connections to which the same happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failed {
    /// How often.
    pub count: u64,
    /// Indices of the first connections, where they were told.
    pub connections: Vec<u32>,
    /// The first of them in words.
    pub example: String,
}

impl Row {
    /// A figure by its key.
    #[must_use]
    pub fn found(&self, key: &str) -> Option<&Found> {
        self.figures.get(key)
    }

    /// Its value.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<f64> {
        Some(self.found(key)?.value)
    }

    /// With its spread, of figures that are medians.
    #[must_use]
    pub fn estimate(&self, key: &str) -> Option<Estimate> {
        self.found(key)?.estimate()
    }

    /// The value of a key that is swept.
    pub(crate) fn swept_value(&self, key: &str) -> Option<&str> {
        let found = self.swept.iter().find(|swept| swept.key == key)?;
        Some(&found.value)
    }

    /// What a server did with a part of what was asked, in words: `serves 4 of 10`.
    pub(crate) fn part_in_words(&self) -> Option<String> {
        let part = self.part?;
        let verb = match part.done {
            PartKind::Served => "serves",
            PartKind::Answered => "answered",
        };
        Some(format!("{verb} {}", part.numbers()))
    }
}

impl Part {
    /// `4 of 10`.
    pub(crate) fn numbers(self) -> String {
        format!(
            "{} of {}",
            format::exact(self.number),
            format::exact(self.of)
        )
    }
}

impl Found {
    /// Of a median.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        Some(Estimate {
            median: self.value,
            spread: self.spread?,
            values: self.trials,
        })
    }
}

/// The row of a target at a setting; not yet ranked.
pub(crate) fn row(
    record: &RunRecord,
    figures: &[Figure],
    experiment: &dyn Measured,
    (target, setting): (u32, u32),
) -> Row {
    let plan = &record.plan;
    let asked = &plan.settings[setting as usize];
    let sorted = Sorted::new(record, target, setting);
    let leading = experiment.leading(plan);
    let shown = experiment.shown(&sorted);
    let mut found = BTreeMap::new();
    let mut merges = Merges::default();
    let mut unreadable: Vec<String> = Vec::new();
    for figure in figures {
        match figure.of_row(plan, &shown, &mut merges) {
            Ok(Some(value)) => {
                found.insert(figure.key.to_string(), value);
            }
            Ok(None) => {}
            Err(error) => {
                let what = figure.distribution();
                let line = format!("{}: {error}", what.replace('_', " "));
                if !unreadable.contains(&line) {
                    unreadable.push(line);
                }
            }
        }
    }
    let is_baseline = target == plan.baseline;
    let against_baseline = || {
        let baseline = Sorted::new(record, plan.baseline, setting);
        compare(record, &sorted, &baseline, leading)
    };
    let published = |of: &TargetRecord| experiment.published(of, asked, &sorted.all);
    Row {
        target: target::name(plan, target).to_owned(),
        setting,
        heading: setting::heading(asked),
        connections: asked.connections,
        swept: asked.swept.clone(),
        is_baseline,
        standing: sorted.standing,
        rank: None,
        trials: sorted.counts(plan.repeats),
        trials_behind: behind(&shown),
        failed_checks: sorted.failed_checks(),
        part: part(&sorted, &shown, asked.connections),
        partial_because: partial_because(&shown),
        stopped_by: stopped_by(&sorted.all),
        errors: errors(&sorted.all),
        of_invalid_trials: of_invalid_trials(record, &sorted, leading),
        ratio_to_baseline: (!is_baseline).then(against_baseline).flatten(),
        rate: Rate::of(&shown),
        limit: most_frequent_limit(&shown),
        backlog_in_force: sorted
            .all
            .iter()
            .find_map(|trial| listener::backlog_in_force(trial)),
        published: plan.targets.get(target as usize).and_then(published),
        detail: experiment.detail(&CellShown {
            record,
            target,
            setting,
            asked,
            shown: &shown,
        }),
        figures: found,
        tls_agreed: tls_agreed(&shown),
        unreadable,
    }
}

fn tls_agreed(trials: &[&Trial]) -> Vec<String> {
    let phases = trials.iter().filter_map(|trial| trial.phases.tls());
    distinct(phases.flat_map(|phase| phase.handshakes.agreed.keys().cloned()))
}

/// Those of them that measured anything.
fn behind(shown: &[&Trial]) -> u32 {
    let measured = shown.iter().filter(|trial| !trial.phases.0.is_empty());
    u32::try_from(measured.count()).unwrap_or(u32::MAX)
}

fn of_invalid_trials(record: &RunRecord, sorted: &Sorted<'_>, leading: Leading) -> Option<f64> {
    if sorted.standing != Standing::Invalid {
        return None;
    }
    let plan = &record.plan;
    let values = sorted
        .of_worth(Worth::Invalid)
        .filter_map(|trial| leading.of_trial(&OneTrial { plan, trial }));
    median::median_of(values)
}

/// Pairs repeat i of the target with repeat i of the baseline.
fn compare(
    record: &RunRecord,
    target: &Sorted<'_>,
    baseline: &Sorted<'_>,
    leading: Leading,
) -> Option<Ratio> {
    let compared = leading.compared()?;
    let bound = Bound::of_ratio(target.bound(compared)?, baseline.bound(compared)?)?;
    let plan = &record.plan;
    let pairs = target.pairs(baseline, |trial| {
        leading.of_trial(&OneTrial { plan, trial })
    });
    let estimate = ratio::of_pairs(&pairs)?;
    Some(Ratio {
        compared,
        bound,
        estimate,
    })
}

/// The limit of most trials; of equals the one that says more.
fn most_frequent_limit(trials: &[&Trial]) -> Option<Limit> {
    let order = [
        Limit::Unknown,
        Limit::ReadLate,
        Limit::Waiting,
        Limit::OtherPrograms,
        Limit::Rate,
        Limit::Both,
        Limit::Generator,
        Limit::Server,
    ];
    let number = |limit: &Limit| trials.iter().filter(|trial| trial.limit == *limit).count();
    // Of equals `max_by_key` gives the last.
    order
        .into_iter()
        .max_by_key(number)
        .filter(|limit| number(limit) > 0)
}

/// The checks that say that a part was served.
fn partial<'a>(trials: &'a [&Trial]) -> impl Iterator<Item = &'a Check> {
    let checks = trials.iter().flat_map(|trial| &trial.checks);
    checks.filter(|check| check.result == CheckResult::Partial)
}

fn partial_because(trials: &[&Trial]) -> Vec<String> {
    let reasons = partial(trials).map(|check| check.detail.clone());
    distinct(reasons)
}

/// Of requests how many were answered, in all partial trials; of an exchange how many connections the first of them served; of a crowd the fewest that
/// were served.
fn part(sorted: &Sorted<'_>, shown: &[&Trial], connections: u32) -> Option<Part> {
    let part = |done, number: u64, of: u64| Some(Part { done, number, of });
    let trials = || sorted.of_worth(Worth::Partial);
    let requests = trials().filter_map(|trial| trial.phases.connections());
    let requests = requests.map(|phase| (phase.answered, phase.begun));
    if let Some((answered, begun)) =
        requests.reduce(|one, other| (one.0 + other.0, one.1 + other.1))
    {
        return part(PartKind::Answered, answered, begun);
    }
    let mut exchanges = trials().filter_map(|trial| trial.phases.exchange());
    let served = |phase: &ExchangePhase| u64::from(phase.connections_served);
    if let Some(served) = exchanges.next().map(served) {
        return part(PartKind::Served, served, connections.into());
    }
    let missing = partial(shown).filter_map(|check| check.measured);
    let missing = missing.map(|missing| missing as u32).max()?;
    let served = connections.saturating_sub(missing);
    part(PartKind::Served, served.into(), connections.into())
}

fn stopped_by(trials: &[&Trial]) -> Vec<String> {
    distinct(trials.iter().filter_map(|trial| stop::of_trial(trial)))
}

fn errors(trials: &[&Trial]) -> BTreeMap<ErrorKind, Failed> {
    let mut all = ErrorCounts::default();
    for trial in trials {
        all.merge(&trial.phases.errors());
    }
    let failed = |(kind, count): (&ErrorKind, &u64)| {
        let failed = Failed {
            count: *count,
            connections: all.connections.get(kind).cloned().unwrap_or_default(),
            example: all.first_examples.get(kind).cloned().unwrap_or_default(),
        };
        (*kind, failed)
    };
    all.counts.iter().map(failed).collect()
}
