//! The overview of a fan-out: how long each phase took, of every target and of what is published, in one look.
//!
//! Along a sweep a phase has a table of its own, with a column for each setting; without one the phases are the columns.

use super::published::{self, Published, reference};
use crate::experiments::crowd;
use crate::format;
use crate::grid::{Grid, GridLine};
use crate::phases::PhaseKind;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::table::absent;

/// The rows of one setting, and what is published at as many connections.
struct Table {
    heading: String,
    rows: Vec<Row>,
    published: Vec<Published>,
}

fn tables(summary: &Summary<'_>) -> Vec<Table> {
    let settings = summary.plan.settings.iter().zip(summary.by_setting());
    settings
        .map(|(setting, (heading, rows))| Table {
            heading,
            rows,
            published: published::at(setting.connections),
        })
        .collect()
}

/// What is published beside the rows of the run.
pub(crate) fn beside(summary: &Summary<'_>) -> Vec<Published> {
    let settings = summary.plan.settings.iter();
    settings
        .flat_map(|setting| published::at(setting.connections))
        .collect()
}

/// Phases that grow with the connections.
const ALONG_THE_SWEEP: [PhaseKind; 3] =
    [PhaseKind::Connect, PhaseKind::Acknowledge, PhaseKind::Get];

/// The tables, the one of the question first.
pub(crate) fn grids(summary: &Summary<'_>) -> Vec<Grid> {
    let tables = &tables(summary)[..];
    match tables {
        [] => Vec::new(),
        [table] => vec![by_phase(table)],
        _ => {
            let grids = ALONG_THE_SWEEP.into_iter();
            grids
                .filter(|&phase| is_there(tables, phase))
                .map(|phase| along(tables, phase))
                .collect()
        }
    }
}

fn is_there(tables: &[Table], phase: PhaseKind) -> bool {
    let mut rows = tables.iter().flat_map(|table| &table.rows);
    rows.any(|row| length(row, phase).is_some())
}

fn by_phase(table: &Table) -> Grid {
    let tables = std::slice::from_ref(table);
    let phases: Vec<PhaseKind> = PhaseKind::OF_FANOUT
        .into_iter()
        .filter(|&phase| phase != PhaseKind::Sustain && is_there(tables, phase))
        .collect();
    let measured = table.rows.iter().map(|row| GridLine {
        label: row.target.clone(),
        cells: phases.iter().map(|&phase| measured(row, phase)).collect(),
    });
    let published = table.published.iter().map(|found| GridLine {
        label: label(&found.variant.name),
        cells: phases
            .iter()
            .map(|&phase| of_published(Some(found), phase))
            .collect(),
    });
    Grid {
        title: format!("real time of each phase, {}", table.heading),
        label: "target".to_owned(),
        headings: phases.iter().map(|phase| phase.word().to_owned()).collect(),
        lines: measured.chain(published).collect(),
    }
}

fn along(tables: &[Table], phase: PhaseKind) -> Grid {
    let targets = 0..tables.first().map_or(0, |table| table.rows.len());
    let measured = targets.map(|index| GridLine {
        label: tables[0].rows[index].target.clone(),
        cells: tables
            .iter()
            .map(|table| measured(&table.rows[index], phase))
            .collect(),
    });
    let of_variant = |name: &str| {
        let found = |table: &Table| {
            let mut all = table.published.iter();
            all.find(|found| found.variant.name == name).copied()
        };
        let found: Vec<Option<Published>> = tables.iter().map(found).collect();
        let cells = found
            .iter()
            .map(|found| of_published(found.as_ref(), phase));
        found.iter().any(Option::is_some).then(|| GridLine {
            label: label(name),
            cells: cells.collect(),
        })
    };
    let variants = reference().variants.iter();
    let published = variants.filter_map(|variant| of_variant(&variant.name));
    let (headings, by) = headings(tables);
    Grid {
        title: format!("real time of {}{by}", phase.word()),
        label: "target".to_owned(),
        headings,
        lines: measured.chain(published).collect(),
    }
}

/// `10,000 connections · line x` in lines; where all settings are numbers of connections, these alone, which the title then says.
fn headings(tables: &[Table]) -> (Vec<String>, &'static str) {
    const NOUN: &str = " connections";
    let headings = || tables.iter().map(|table| table.heading.as_str());
    let numbers: Option<Vec<&str>> = headings()
        .map(|heading| heading.strip_suffix(NOUN))
        .collect();
    match numbers {
        Some(numbers) if !numbers.iter().any(|number| number.contains(' ')) => (
            numbers.into_iter().map(str::to_owned).collect(),
            " by number of connections",
        ),
        _ => (
            headings()
                .map(|heading| heading.replace(" · ", "\n"))
                .collect(),
            "",
        ),
    }
}

fn label(variant: &str) -> String {
    format!("published: {variant}")
}

fn measured(row: &Row, phase: PhaseKind) -> (String, Standing) {
    let text = length(row, phase).map(|found| {
        let mark = crowd::mark(row);
        format!("{mark}{}", format::time_ns(found))
    });
    let nothing = || match row.standing {
        Standing::Failed => "✗ failed".to_owned(),
        Standing::Invalid => "✗ invalid".to_owned(),
        _ => format!("{}{}", crowd::mark(row), absent()),
    };
    (text.unwrap_or_else(nothing), row.standing)
}

fn of_published(found: Option<&Published>, phase: PhaseKind) -> (String, Standing) {
    let real = found.and_then(|found| found.real_ns(phase));
    (real.map_or_else(absent, format::time_ns), Standing::Ranked)
}

/// The length of a phase.
pub(super) fn length(row: &Row, phase: PhaseKind) -> Option<f64> {
    row.value(&format!("{}_duration_ns", phase.key()))
}
