//! What rows of the experiments with many connections have in common: how many opened, what stopped them, and what went wrong with which.

pub(crate) mod notes;

use throng_record::Trial;

use crate::format::{self, exact};
use crate::outcome::figure_or_reason;
use crate::row::Row;
use crate::summary::Standing;

/// Connections that completed ÷ the time until the last of them did: those that time out afterwards say nothing of the rate. Absent of an
/// instant.
pub(crate) fn connects_per_second(trial: &Trial) -> Option<f64> {
    let phase = trial.phases.connect()?;
    let per_ns = f64::from(phase.connected) / phase.opened_ns as f64;
    Some(per_ns * 1e9).filter(|rate| rate.is_finite())
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

/// `28,000`, or `14,116 of 28,000`; what is wrong stands before it.
pub(crate) fn outcome(row: &Row) -> String {
    let mark = mark(row);
    let connected = connected(row).map(|connected| {
        if connected < row.connections {
            format::of(connected, row.connections)
        } else {
            exact(connected.into())
        }
    });
    match (row.standing, connected) {
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

/// `1,000,000`, and what else is swept below it.
pub(crate) fn asked(row: &Row) -> String {
    let heading = row.heading.replace(" · ", "\n");
    heading.replacen(" connections", "", 1)
}

/// All that went wrong, of all its trials.
pub(crate) fn errors_total(row: &Row) -> u64 {
    row.errors.values().map(|failed| failed.count).sum()
}
