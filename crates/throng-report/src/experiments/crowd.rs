//! What rows of the experiments with many connections have in common: how many opened, what stopped them, and what went wrong with which.

pub(crate) mod notes;

use throng_record::Trial;

use crate::circumstances::Circumstances;
use crate::format::{self, exact, rate};
use crate::outcome::figure_or_reason;
use crate::row::Row;
use crate::standing::Standing;
use crate::table::Column;
use crate::worth::{Sorted, Worth};

/// Where a server runs into its real limit is the question, so that there are figures of whatever there is: without valid trials of the partial ones, else of
/// the invalid, failed or interrupted ones, as far as they came. Such figures carry a mark, and are never compared.
pub(crate) fn shown<'a>(sorted: &Sorted<'a>) -> Vec<&'a Trial> {
    let of_worth = |worth| sorted.of_worth(worth).collect();
    match sorted.standing {
        Standing::Ranked | Standing::Qualified => sorted.basis.clone(),
        Standing::Partial => of_worth(Worth::Partial),
        Standing::Invalid => of_worth(Worth::Invalid),
        Standing::Failed => came_to_something(sorted),
        Standing::Spared => Vec::new(),
        Standing::NotMeasured => of_worth(Worth::Interrupted),
    }
}

/// Of those that failed the ones that had begun to measure.
fn came_to_something<'a>(sorted: &Sorted<'a>) -> Vec<&'a Trial> {
    let failed = sorted.of_worth(Worth::Failed);
    failed.filter(|trial| !trial.phases.0.is_empty()).collect()
}

/// What it is when a trial is partial.
pub(crate) const PARTIAL: &str = "fewer connections were opened or served than asked for";

/// `connected one after another`, `connected 64 at a time by each thread, 1.00 k/s`.
pub(crate) fn connects(asked: &Circumstances<'_>) -> String {
    let how = match (
        asked.swept("connect-concurrency"),
        asked.setting.connect_concurrency,
    ) {
        (Some(numbers), _) => format!("connected {numbers} at a time"),
        (None, 1) => "connected one after another".to_owned(),
        (None, number) => format!("connected {number} at a time by each thread"),
    };
    let own = asked.setting.connect_rate_per_second;
    match (asked.swept("connect-rate"), own) {
        (Some(rates), _) => format!("{how}, {rates} a second"),
        (None, Some(per_second)) => format!("{how}, {}", rate(per_second)),
        (None, None) => how,
    }
}

/// What figures carry that must not be compared.
pub(crate) fn mark(row: &Row) -> &'static str {
    match row.standing {
        Standing::Ranked => row.trials.mark(),
        Standing::Spared => "",
        Standing::Partial => "† ",
        Standing::Qualified => "* ",
        Standing::Invalid | Standing::Failed | Standing::NotMeasured => "✗ ",
    }
}

/// Connections that opened, the fewest of its trials; absent where none was begun.
pub(crate) fn connected(row: &Row) -> Option<u32> {
    row.value("connected").map(|connected| connected as u32)
}

/// `28,000`, or `14,116 of 28,000`.
pub(crate) fn connected_of_asked(row: &Row) -> Option<String> {
    let connected = connected(row)?;
    Some(match connected < row.connections {
        true => format::of(connected, row.connections),
        false => exact(connected.into()),
    })
}

/// The same; what is wrong stands before it.
fn outcome(row: &Row) -> String {
    let mark = mark(row);
    match (row.standing, connected_of_asked(row)) {
        (Standing::Partial, Some(connected)) => {
            let part = row.part_in_words();
            format!("{mark}{}", part.unwrap_or(connected))
        }
        (Standing::Ranked | Standing::Qualified, Some(connected)) => format!("{mark}{connected}"),
        (Standing::NotMeasured, Some(connected)) => format!("✗ interrupted\n{connected}"),
        (standing, connected) => {
            let why = figure_or_reason(None, standing, &row.failed_checks, None);
            let connected = connected.map(|connected| format!("\n{connected}"));
            why + &connected.unwrap_or_default()
        }
    }
}

/// How far the connecting came; where that is nowhere, why.
pub(crate) fn opened() -> Column<Row> {
    Column::words("connections\nopened", outcome)
        .that_says_why()
        .of_number(|row| row.value("connected"))
}

/// All that went wrong.
pub(crate) fn errors() -> Column<Row> {
    Column::words("errors", |row: &Row| exact(errors_total(row))).aligned_right()
}

/// `1,000,000`, and what else is swept below it.
pub(crate) fn asked(row: &Row) -> String {
    let heading = row.heading.replace(" · ", "\n");
    heading.replacen(" connections", "", 1)
}

/// All that went wrong, of all its trials.
pub(crate) fn errors_total(row: &Row) -> u64 {
    row.errors.values().map(|failed| failed.count).sum()
}
