//! Every trial with every figure, for spreadsheets and data frames: a line for each trial, or a line for each figure of each trial.
//!
//! What no trial of the run has is left out of neither form: the columns of an experiment are always the same. Absent figures are empty fields, or have no
//! line. Failed and interrupted trials are there too, with what was measured. Beside the facts stands one column for each swept key, as in the plan, but for
//! those that are facts already.

use throng_record::{RunRecord, Trial};

use crate::fact::FACTS;
use crate::figure::{Figure, OneTrial};
use crate::figures;
use crate::unit::Unit;

/// Swept keys that are facts of every trial.
const TOLD: [&str; 3] = ["connections", "clients", "requests"];

/// A line for each trial: facts, swept keys, figures.
pub(crate) fn wide(record: &RunRecord) -> String {
    let figures = figures::of_plan(&record.plan);
    let mut header = headings(record);
    header.extend(figures.iter().map(|figure| figure.key.to_string()));
    let lines = record.trials.iter().map(|trial| {
        let one = OneTrial {
            plan: &record.plan,
            trial,
        };
        let mut line = facts(record, trial);
        let values = figures.iter().map(|figure| figure.of_trial(&one));
        line.extend(values.map(|value| value.map_or_else(String::new, plain)));
        line
    });
    written(header, lines)
}

/// A line for each figure that a trial has: facts, swept keys, the figure's name, its unit and its value.
pub(crate) fn tidy(record: &RunRecord) -> String {
    let figures = figures::of_plan(&record.plan);
    let mut header = headings(record);
    header.extend(["figure", "unit", "value"].map(str::to_owned));
    let lines = record.trials.iter().flat_map(|trial| {
        let one = OneTrial {
            plan: &record.plan,
            trial,
        };
        let facts = facts(record, trial);
        let line = move |figure: &Figure| {
            let value = figure.of_trial(&one)?;
            let mut line = facts.clone();
            line.extend([
                figure.key.to_string(),
                figure.unit.word().to_owned(),
                plain(value),
            ]);
            Some(line)
        };
        figures.iter().filter_map(line).collect::<Vec<_>>()
    });
    written(header, lines)
}

/// Of facts and swept keys.
fn headings(record: &RunRecord) -> Vec<String> {
    let facts = FACTS.iter().map(|fact| fact.key.to_owned());
    let swept = swept(record).map(|key| format!("swept_{}", key.replace(['-', '.'], "_")));
    facts.chain(swept).collect()
}

fn facts(record: &RunRecord, trial: &Trial) -> Vec<String> {
    let one = OneTrial {
        plan: &record.plan,
        trial,
    };
    let facts = FACTS.iter().map(|fact| (fact.of)(record, &one));
    let value = |key: &String| {
        let mut swept = one.setting().into_iter().flat_map(|setting| &setting.swept);
        let found = swept.find(|swept| swept.key == *key);
        found.map_or_else(String::new, |swept| swept.value.clone())
    };
    facts.chain(swept(record).map(value)).collect()
}

fn swept(record: &RunRecord) -> impl Iterator<Item = &String> {
    let keys = record.plan.swept.iter();
    keys.filter(|key| !TOLD.contains(&key.as_str()))
}

/// Whole numbers without a point, others with as many digits as they need.
fn plain(value: f64) -> String {
    value.to_string()
}

fn written(header: Vec<String>, lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in std::iter::once(header).chain(lines) {
        writer
            .write_record(&line)
            .expect("lines of equal length, written to memory");
    }
    let bytes = writer.into_inner().expect("memory can be flushed");
    String::from_utf8(bytes).expect("made of strings")
}

impl Unit {
    /// As it ends names.
    fn word(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::PerSecond => "per_second",
            Self::Share => "share",
            Self::Times => "times",
            Self::Count => "count",
            Self::Index => "index",
        }
    }
}
