//! How each target behaves along a sweep, in one table: its throughput at every setting; in an open loop, where that is given, how
//! much of the rate was kept and the 99th percentile of latency.
//!
//! The key that varies fastest, mostly the connections, goes along the columns; a target has a line for each combination of the
//! others.

use std::collections::BTreeMap;

use throng_record::SweptValue;

use crate::ratio::Compared;
use crate::row::Row;
use crate::setting::{noun, shown};
use crate::summary::Summary;

/// The table, before it is drawn.
pub(crate) struct Overview<'a> {
    /// The key along the columns, as it is called in a title: "number of connections".
    pub(crate) along: String,
    /// The same as it is written in a plan.
    pub(crate) key: &'a str,
    /// The keys that have a column of their own beside the target.
    pub(crate) others: &'a [String],
    /// The values along the columns.
    pub(crate) values: Vec<String>,
    pub(crate) lines: Vec<Line<'a>>,
}

/// One line: a target at one combination of the other keys.
pub(crate) struct Line<'a> {
    /// The target, then the values of the other keys.
    pub(crate) labels: Vec<String>,
    /// One for each value along the columns; `None` where a damaged record has no such setting.
    pub(crate) rows: Vec<Option<&'a Row>>,
}

impl<'a> Overview<'a> {
    /// The overview of a sweep; `None` where there is none.
    pub(crate) fn of(summary: &'a Summary<'a>) -> Option<Self> {
        summary.leading.compared()?;
        let (key, others) = summary.plan.swept.split_last()?;
        let mut values = Vec::new();
        let mut combinations: Vec<Vec<String>> = Vec::new();
        let mut settings = BTreeMap::new();
        for (setting, index) in summary.plan.settings.iter().zip(0..) {
            let (value, combination) = parted(&setting.swept)?;
            if !values.contains(&value) {
                values.push(value.clone());
            }
            // Settings that differ in the last key alone stand together.
            if combinations.last() != Some(&combination) {
                combinations.push(combination.clone());
            }
            settings.insert((combination, value), index);
        }
        let line = |target: &str, combination: &Vec<String>| {
            let row = |value: &String| {
                let setting: &u32 = settings.get(&(combination.clone(), value.clone()))?;
                let mut rows = summary.rows.iter();
                rows.find(|row| row.setting == *setting && row.target == target)
            };
            Line {
                labels: std::iter::once(target.to_owned())
                    .chain(combination.iter().cloned())
                    .collect(),
                rows: values.iter().map(row).collect(),
            }
        };
        let targets = summary.plan.targets.iter();
        let lines = targets
            .flat_map(|target| combinations.iter().map(|one| line(&target.name, one)))
            .collect();
        Some(Self {
            along: noun(key),
            key,
            others,
            values,
            lines,
        })
    }
}

/// What the overview of a sweep shows of each row.
pub(crate) fn title(summary: &Summary<'_>) -> &'static str {
    match summary.compared() {
        Compared::MessagesPerSecond => summary.unit,
        Compared::CapacityPerSecond => "capacity",
        Compared::LatencyP99 => "share of the rate kept, and p99,",
    }
}

/// The value of the key along the columns, and those of the others.
fn parted(swept: &[SweptValue]) -> Option<(String, Vec<String>)> {
    let (last, others) = swept.split_last()?;
    Some((shown(last), others.iter().map(shown).collect()))
}
