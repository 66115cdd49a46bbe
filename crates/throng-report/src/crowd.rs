//! What rows of the experiments with many connections have in common: how many opened, how fast, what stopped them, and what went wrong with which.
//!
//! **Which trials a row stands on.** Its valid ones (with the qualified ones where these are more, see [`crate::summary`]); without either its
//! partial ones, else its invalid ones, else those that failed or were interrupted, with what they had measured until then. Where a server
//! runs into its real limit is what these experiments ask; but such figures carry a mark, and are never compared.

pub(crate) mod notes;

use std::collections::BTreeMap;

use serde::Serialize;
use throng_record::{
    Check, CheckKind, CheckResult, ErrorCounts, ErrorKind, Histogram, RunRecord, Trial,
};

use crate::columns::figure_or_reason;
use crate::format::{self, exact};
use crate::median::{self, Estimate};
use crate::merge::merged;
use crate::row::latency_summary;
use crate::setting;
use crate::summary::{Latency, Standing, Summary, TrialCounts, target_name};
use crate::worth::{Sorted, Worth};

/// One target at one setting, as far as its connections opened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crowd {
    /// Name of the target.
    pub target: String,
    /// Index into the plan's settings.
    pub setting: u32,
    /// The setting in words: `10,000 connections`.
    pub heading: String,
    /// What the figures are worth. There are figures whatever it is, where any were measured.
    pub standing: Standing,
    /// How many trials ended how.
    pub trials: TrialCounts,
    /// Trials that its figures stand on.
    pub trials_behind: u32,
    /// Checks that invalid trials failed, the most frequent first.
    pub failed_checks: Vec<CheckKind>,
    /// Why partial trials are no more than that, each reason once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial_because: Vec<String>,
    /// Connections that were served, the fewest of its trials; absent where its trials are not partial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served: Option<u32>,
    /// Connections asked for.
    pub connections: u32,
    /// Connections that opened, the fewest of its trials; absent where none was begun.
    pub connected: Option<u32>,
    /// Connections that opened ÷ the time from the first connect to the end of the last.
    pub connects_per_second: Option<Estimate>,
    /// From the `connect` call to the established connection.
    pub connect_latency: Option<Latency>,
    /// What stopped the connecting, each reason once, of all trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped_by: Vec<String>,
    /// What went wrong, by kind, summed over all trials of the row.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<ErrorKind, Failed>,
    /// Histograms of the record that could not be read back, and are therefore missing from the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// Connections to which the same happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// How often.
    pub count: u64,
    /// Indices of the first connections, where they were told.
    pub connections: Vec<u32>,
    /// The first of them in words.
    pub example: String,
}

/// The trials of a row, and what could not be read of them.
pub(crate) struct Behind<'a> {
    pub(crate) sorted: Sorted<'a>,
    /// Those that the figures stand on.
    pub(crate) shown: Vec<&'a Trial>,
    unreadable: Vec<String>,
}

impl<'a> Behind<'a> {
    pub(crate) fn new(record: &'a RunRecord, target: u32, setting: u32) -> Self {
        let sorted = Sorted::new(record, target, setting);
        let of_worth = |worth| sorted.of_worth(worth).collect();
        let shown = match sorted.standing {
            Standing::Ranked | Standing::Qualified => sorted.basis.clone(),
            Standing::Partial => of_worth(Worth::Partial),
            Standing::Invalid => of_worth(Worth::Invalid),
            Standing::Failed => of_worth(Worth::Failed),
            Standing::Spared => vec![],
            Standing::NotMeasured => of_worth(Worth::Interrupted),
        };
        Self {
            sorted,
            shown,
            unreadable: Vec::new(),
        }
    }

    /// The latencies of all its trials in one.
    pub(crate) fn latency(
        &mut self,
        what: &str,
        pick: fn(&Trial) -> Option<&Histogram>,
    ) -> Option<Latency> {
        let found = merged(&self.shown, pick).unwrap_or_else(|error| {
            self.unreadable.push(format!("{what}: {error}"));
            None
        });
        found.as_ref().map(latency_summary)
    }

    /// The median over the trials that have the figure.
    pub(crate) fn estimate(&self, figure: impl Fn(&Trial) -> Option<f64>) -> Option<Estimate> {
        let figures = self.shown.iter().filter_map(|trial| figure(trial));
        median::estimate(&figures.collect::<Vec<f64>>())
    }

    /// The same without its spread.
    pub(crate) fn median(&self, figure: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
        self.estimate(figure).map(|found| found.median)
    }

    /// What is common to the rows; the last to be asked, since it tells what could not be read.
    pub(crate) fn crowd(mut self, record: &RunRecord, target: u32, index: u32) -> Crowd {
        let plan = &record.plan;
        let setting = &plan.settings[index as usize];
        let connect_latency = self.latency("connect latency", |trial| {
            Some(&trial.phases.connect()?.latency)
        });
        let opened = self.shown.iter().filter_map(|trial| trial.phases.connect());
        Crowd {
            target: target_name(plan, target).to_owned(),
            setting: index,
            heading: setting::heading(setting),
            standing: self.sorted.standing,
            trials: self.sorted.counts(plan.repeats),
            trials_behind: u32::try_from(opened.clone().count()).unwrap_or(u32::MAX),
            failed_checks: self.sorted.failed_checks(),
            partial_because: partial_because(&self.shown),
            served: served(&self.shown, setting.connections),
            connections: setting.connections,
            connected: opened.map(|phase| phase.connected).min(),
            connects_per_second: self.estimate(connects_per_second),
            connect_latency,
            stopped_by: stopped_by(&self.sorted.all),
            errors: errors(&self.sorted.all),
            unreadable: self.unreadable,
        }
    }
}

/// The checks that say that a part was served.
fn partial<'a>(trials: &'a [&Trial]) -> impl Iterator<Item = &'a Check> {
    let checks = trials.iter().flat_map(|trial| &trial.checks);
    checks.filter(|check| check.result == CheckResult::Partial)
}

fn partial_because(trials: &[&Trial]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for check in partial(trials) {
        if !reasons.contains(&check.detail) {
            reasons.push(check.detail.clone());
        }
    }
    reasons
}

fn served(trials: &[&Trial], asked: u32) -> Option<u32> {
    let missing = partial(trials).filter_map(|check| check.measured);
    let missing = missing.map(|missing| missing as u32).max()?;
    Some(asked.saturating_sub(missing))
}

/// Connects that completed ÷ the time until the last of them did: those that time out afterwards say nothing of the rate. Absent of an
/// instant.
pub(crate) fn connects_per_second(trial: &Trial) -> Option<f64> {
    let phase = trial.phases.connect()?;
    let per_ns = f64::from(phase.connected) / phase.opened_ns as f64;
    Some(per_ns * 1e9).filter(|rate| rate.is_finite())
}

fn stopped_by(trials: &[&Trial]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for trial in trials {
        let Some(reason) = trial.phases.connect().and_then(stop_words) else {
            continue;
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

/// `connection 14,116 was the first to fail, after 3.10 s and with 14,116 open: ports exhausted (EADDRNOTAVAIL)`.
pub(crate) fn stop_words(phase: &throng_record::ConnectPhase) -> Option<String> {
    let stop = phase.stop.as_ref()?;
    Some(format!(
        "connection {} was the first to fail, after {} and with {} open: {} ({})",
        exact(stop.connection.into()),
        format::time_ns(stop.at_ns as f64),
        exact(stop.open.into()),
        stop.kind.words(),
        stop.message
    ))
}

/// Failures of a trial, of whichever phase.
pub(crate) fn errors_of(trial: &Trial) -> ErrorCounts {
    trial.phases.errors()
}

fn errors(trials: &[&Trial]) -> BTreeMap<ErrorKind, Failed> {
    let mut all = ErrorCounts::default();
    for trial in trials {
        all.merge(&errors_of(trial));
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

impl Crowd {
    /// What figures carry that must not be compared.
    pub(crate) fn mark(&self) -> &'static str {
        match self.standing {
            Standing::Ranked => self.trials.mark(),
            Standing::Spared => "",
            Standing::Partial => "† ",
            Standing::Qualified => "* ",
            Standing::Invalid | Standing::Failed | Standing::NotMeasured => "✗ ",
        }
    }

    /// `28,000`, or `14,116 of 28,000`; what is wrong stands before it.
    pub(crate) fn outcome(&self) -> String {
        let connected = self.connected.map(|connected| {
            if connected < self.connections {
                format::of(connected, self.connections)
            } else {
                exact(connected.into())
            }
        });
        match (self.standing, connected) {
            (Standing::Partial, Some(_)) if self.served.is_some() => {
                let served = self.served.unwrap_or(0);
                format!(
                    "{}serves {}",
                    self.mark(),
                    format::of(served, self.connections)
                )
            }
            (Standing::Ranked | Standing::Qualified | Standing::Partial, Some(connected)) => {
                format!("{}{connected}", self.mark())
            }
            (Standing::NotMeasured, Some(connected)) => format!("✗ interrupted\n{connected}"),
            (standing, connected) => {
                let why = figure_or_reason(None, standing, &self.failed_checks, None);
                let connected = connected.map(|connected| format!("\n{connected}"));
                why + &connected.unwrap_or_default()
            }
        }
    }

    /// `1,000,000`, and what else is swept below it.
    pub(crate) fn asked(&self) -> String {
        let heading = self.heading.replace(" · ", "\n");
        heading.replacen(" connections", "", 1)
    }

    /// All that went wrong.
    pub(crate) fn errors_total(&self) -> u64 {
        self.errors.values().map(|failed| failed.count).sum()
    }
}

/// The rows of a run, whichever of the two experiments it is.
pub(crate) fn crowds<'a>(summary: &'a Summary<'_>) -> impl Iterator<Item = &'a Crowd> {
    let fanouts = summary.fanouts.iter().flat_map(|table| &table.rows);
    let holds = summary.holds.iter();
    fanouts
        .map(|row| &row.crowd)
        .chain(holds.map(|row| &row.crowd))
}
