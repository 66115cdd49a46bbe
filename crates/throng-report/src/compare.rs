//! Runs beside each other, or targets of one run: the ratio of each figure with its interval, and whether the two are comparable at all.
//!
//! *Method.* Within a run trials are interleaved, so that a ratio is taken of each repeat and the same repeat of the other ([`ratio::of_pairs`]). Two runs met the machine
//! at different times: their repeats have no partners, and the ratio is that of Hodges and Lehmann ([`ratio::of_samples`]). "Faster" and "slower" are said where the
//! interval does not hold 1. Fewer repeats than an interval needs, and figures that are bounds, decide nothing.

mod cautions;
pub(crate) mod charts;
mod error;
mod words;

pub use error::CompareError;
use serde::Serialize;
use throng_record::{Plan, RunRecord, Trial};

use crate::figure::{Figure, OneTrial};
use crate::figures;
use crate::median::{self, Estimate, Spread};
use crate::ratio;
use crate::setting::heading;
use crate::standing::Standing;
use crate::target;
use crate::unit::{Better, Unit};
use crate::worth::Sorted;

/// What is compared where nothing else is asked for, as far as a run has it.
const USUAL: [&str; 9] = [
    "messages_per_second",
    "latency_ns_p50",
    "latency_ns_p99",
    "completion_ns_mean",
    "duration_ns",
    "opened_ns",
    "server_cpu_per_message_ns",
    "server_memory_per_connection_bytes",
    "errors",
];

/// A run, under the name by which it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// As the user wrote it.
    pub name: &'a str,
    /// What it measured.
    pub record: &'a RunRecord,
}

/// What stands beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What the others are divided by.
    pub first: String,
    /// Differences of machine, kernel, network and plan, each in a sentence: what else may explain a ratio.
    pub cautions: Vec<String>,
    /// A line for each figure of each target and setting that both have.
    pub lines: Vec<Line>,
    /// Rows that only one has.
    pub unmatched: Vec<String>,
}

/// A figure of one row, twice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The other run, or the other target.
    pub other: String,
    /// Name of the target, of two runs the same in both.
    pub target: String,
    /// The setting in words.
    pub setting: String,
    /// Key of the figure.
    pub figure: String,
    /// The figure as tables head it.
    pub heading: String,
    /// In the first, in words.
    pub before: String,
    /// In the other, in words.
    pub after: String,
    /// Both as numbers, medians over repeats.
    pub values: [Estimate; 2],
    /// What they count.
    pub unit: Unit,
    /// The other ÷ the first, with its interval; absent where the first is 0.
    pub ratio: Option<Estimate>,
    /// What that says.
    pub verdict: Verdict,
}

/// What a ratio says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// More events in the same time, or less time for the same.
    Faster,
    /// The contrary.
    Slower,
    /// More of what is neither a time nor a rate.
    More,
    /// Less of it.
    Less,
    /// The interval holds 1, or the two are equal.
    NoDifferenceSeen,
    /// Too few repeats for an interval.
    TooFewRepeats,
    /// One of the two is a bound.
    OnlyABound,
    /// The first is 0, and the other is not.
    NoRatio,
}

/// Compares runs with the first of them, in these figures or the usual ones.
///
/// # Errors
/// [`CompareError`] where they are no runs of one experiment, or have nothing in common.
pub fn runs(
    first: Named<'_>,
    others: &[Named<'_>],
    keys: &[String],
) -> Result<Comparison, CompareError> {
    let figures = wanted(&first.record.plan, keys)?;
    let mut comparison = Comparison {
        first: first.name.to_owned(),
        cautions: vec![],
        lines: vec![],
        unmatched: vec![],
    };
    for other in others {
        let (one, another) = (first.record.plan.experiment, other.record.plan.experiment);
        if one != another {
            let told =
                |run: &Named<'_>| (run.name.to_owned(), run.record.plan.experiment.in_prose());
            return Err(CompareError::Experiments([told(&first), told(other)]));
        }
        let before = comparison.lines.len();
        comparison.cautions.extend(cautions::between(&first, other));
        for cell in first.record.plan.cells() {
            let row = row_of(&first.record.plan, cell);
            let same = other.record.plan.cells();
            let same = same
                .into_iter()
                .find(|&cell| row_of(&other.record.plan, cell) == row);
            let Some(same) = same else {
                let only = format!("{} at {}: only in {}", row.0, row.1, first.name);
                comparison.unmatched.push(only);
                continue;
            };
            let sides = [(first.record, cell), (other.record, same)].map(Side::of);
            let line = |figure: &Figure| line(other.name, &row, figure, &sides, of_runs);
            comparison.lines.extend(figures.iter().filter_map(line));
        }
        for cell in other.record.plan.cells() {
            let row = row_of(&other.record.plan, cell);
            if !first
                .record
                .plan
                .cells()
                .any(|cell| row_of(&first.record.plan, cell) == row)
            {
                let only = format!("{} at {}: only in {}", row.0, row.1, other.name);
                comparison.unmatched.push(only);
            }
        }
        if comparison.lines.len() == before {
            let rows = |run: &Named<'_>| {
                let plan = &run.record.plan;
                let rows = plan.cells().map(|cell| row_of(plan, cell)).take(3);
                let rows = rows.map(|(target, setting)| format!("{target} at {setting}"));
                (run.name.to_owned(), rows.collect())
            };
            return Err(CompareError::NothingInCommon([rows(&first), rows(other)]));
        }
    }
    comparison.lines.retain(|line| is_told(line, keys));
    Ok(comparison)
}

/// Compares targets of one run with the first of them, setting by setting.
///
/// # Errors
/// [`CompareError`] where it has no such target or figure.
pub fn targets(
    run: Named<'_>,
    targets: &[String],
    keys: &[String],
) -> Result<Comparison, CompareError> {
    let plan = &run.record.plan;
    let figures = wanted(plan, keys)?;
    let place = |name: &String| {
        let mut all = plan.targets.iter();
        let place = all.position(|target| target.name == *name);
        place.ok_or_else(|| CompareError::Target {
            name: name.clone(),
            known: plan
                .targets
                .iter()
                .map(|target| target.name.clone())
                .collect(),
        })
    };
    let places: Vec<usize> = targets.iter().map(place).collect::<Result<_, _>>()?;
    let Some((&first, others)) = places.split_first() else {
        return Ok(Comparison {
            first: String::new(),
            cautions: vec![],
            lines: vec![],
            unmatched: vec![],
        });
    };
    let mut lines = Vec::new();
    for (index, setting) in (0..).zip(&plan.settings) {
        for &other in others {
            let row = (plan.targets[other].name.clone(), heading(setting));
            let sides = [first, other].map(|target| Side::of((run.record, (target as u32, index))));
            let line = |figure: &Figure| line(&row.0, &row, figure, &sides, of_targets);
            lines.extend(figures.iter().filter_map(line));
        }
    }
    lines.retain(|line| is_told(line, keys));
    Ok(Comparison {
        first: plan.targets[first].name.clone(),
        cautions: vec![],
        lines,
        unmatched: vec![],
    })
}

/// A row of one of the two.
struct Side<'a> {
    plan: &'a Plan,
    sorted: Sorted<'a>,
}

impl<'a> Side<'a> {
    fn of((record, (target, setting)): (&'a RunRecord, (u32, u32))) -> Self {
        Self {
            plan: &record.plan,
            sorted: Sorted::new(record, target, setting),
        }
    }

    fn value(&self, figure: &Figure, trial: &Trial) -> Option<f64> {
        let plan = self.plan;
        figure.of_trial(&OneTrial { plan, trial })
    }

    /// Of each trial that has it.
    fn values(&self, figure: &Figure) -> Vec<f64> {
        let trials = self.sorted.basis.iter();
        trials
            .filter_map(|trial| self.value(figure, trial))
            .collect()
    }
}

/// Of two runs, whose repeats have no partners.
fn of_runs([before, after]: &[Side<'_>; 2], figure: &Figure) -> Option<Estimate> {
    ratio::of_samples(&after.values(figure), &before.values(figure))
}

/// Of two targets of one run, repeat by repeat.
fn of_targets([before, after]: &[Side<'_>; 2], figure: &Figure) -> Option<Estimate> {
    let of_trial = |trial: &Trial| after.value(figure, trial);
    ratio::of_pairs(&after.sorted.pairs(&before.sorted, of_trial))
}

fn line(
    other: &str,
    (target, setting): &(String, String),
    figure: &Figure,
    sides: &[Side<'_>; 2],
    ratio_of: fn(&[Side<'_>; 2], &Figure) -> Option<Estimate>,
) -> Option<Line> {
    let words = figure.unit.words();
    let medians = [&sides[0], &sides[1]].map(|side| median::estimate(&side.values(figure)));
    let [Some(before), Some(after)] = medians else {
        return None;
    };
    let ratio = ratio_of(sides, figure);
    let is_bound = sides
        .iter()
        .any(|side| side.sorted.standing != Standing::Ranked);
    let verdict = match (is_bound, ratio) {
        (true, _) => Verdict::OnlyABound,
        (false, Some(ratio)) => verdict(figure, &ratio),
        (false, None) => Verdict::NoRatio,
    };
    Some(Line {
        other: other.to_owned(),
        target: target.clone(),
        setting: setting.clone(),
        figure: figure.key.to_string(),
        heading: figure.heading_in_line(),
        before: words(before.median),
        after: words(after.median),
        values: [before, after],
        unit: figure.unit,
        ratio,
        verdict,
    })
}

/// What neither has, such as errors, is told only where it was asked for.
fn is_told(line: &Line, keys: &[String]) -> bool {
    !keys.is_empty() || line.values.iter().any(|value| value.median != 0.0)
}

fn verdict(figure: &Figure, ratio: &Estimate) -> Verdict {
    let Spread::Interval95 { low, high } = ratio.spread else {
        return Verdict::TooFewRepeats;
    };
    if low <= 1.0 && 1.0 <= high {
        return Verdict::NoDifferenceSeen;
    }
    let is_more = low > 1.0;
    match (figure.unit, figure.better) {
        (Unit::PerSecond | Unit::Nanoseconds, Better::More) if is_more => Verdict::Faster,
        (Unit::PerSecond | Unit::Nanoseconds, Better::Less) if !is_more => Verdict::Faster,
        (Unit::PerSecond | Unit::Nanoseconds, Better::More | Better::Less) => Verdict::Slower,
        _ if is_more => Verdict::More,
        _ => Verdict::Less,
    }
}

fn wanted(plan: &Plan, keys: &[String]) -> Result<Vec<Figure>, CompareError> {
    let figures = figures::of_plan(plan);
    let find = |key: &str| figures.iter().find(|figure| figure.key == key).cloned();
    if keys.is_empty() {
        return Ok(USUAL.into_iter().filter_map(find).collect());
    }
    let known = || {
        figures
            .iter()
            .map(|figure| figure.key.to_string())
            .collect()
    };
    let named = keys.iter().map(|key| {
        find(key).ok_or_else(|| CompareError::Figure {
            name: key.clone(),
            known: known(),
        })
    });
    named.collect()
}

/// Its target and its setting in words.
fn row_of(plan: &Plan, (target, setting): (u32, u32)) -> (String, String) {
    let setting = plan.settings.get(setting as usize);
    let setting = setting.map_or_else(String::new, heading);
    (target::name(plan, target).to_owned(), setting)
}
