//! What stands below the tables of both experiments: what stopped the connecting, what went wrong with which connections, and how to read the marks.

use throng_record::ErrorKind;

use super::{connected, errors_total, mark};
use crate::experiment::Section;
use crate::format::{exact, plural};
use crate::row::{Failed, Row};
use crate::summary::Summary;

/// Connections that a line names of each kind.
const INDICES_MAX: usize = 8;

/// What went wrong, and with which connections.
pub(crate) fn errors_by_connection(summary: &Summary<'_>) -> Section {
    let of_kind = |(kind, failed): (&ErrorKind, &Failed)| {
        let words = format!("{} {}", kind.words(), exact(failed.count));
        let indices = failed.connections.iter().take(INDICES_MAX);
        let mut indices: Vec<String> = indices.map(u32::to_string).collect();
        match indices.len() {
            0 if failed.example.is_empty() => words,
            0 => format!("{words} (first: {})", failed.example),
            1 => format!(
                "{words} (connection {}{})",
                indices[0],
                bytes(*kind, failed)
            ),
            known => {
                if failed.count > known as u64 {
                    indices.push("…".to_owned());
                }
                let bytes = bytes(*kind, failed);
                format!("{words} (connections {}{bytes})", indices.join(", "))
            }
        }
    };
    let line = |row: &Row| {
        let kinds: Vec<String> = row.errors.iter().map(of_kind).collect();
        (!kinds.is_empty())
            .then(|| format!("{} at {}: {}.", row.target, row.heading, kinds.join("; ")))
    };
    let lines = summary.rows.iter().filter_map(line).collect();
    ("Errors, by connection", lines)
}

/// What came on the first of them, and what was due: it tells more than the kind of the error does.
fn bytes(kind: ErrorKind, failed: &Failed) -> String {
    let tells_more = matches!(
        kind,
        ErrorKind::WrongBytes | ErrorKind::ExcessBytes | ErrorKind::HttpStatus
    );
    // The example begins with the index, which stands before it already.
    let index = failed.connections.first().filter(|_| tells_more);
    index
        .and_then(|index| {
            failed
                .example
                .strip_prefix(&format!("connection {index}: "))
        })
        .map_or_else(String::new, |words| format!("; on the first {words}"))
}

/// What a reader must know of single rows.
pub(crate) fn of_rows(summary: &Summary<'_>) -> Vec<String> {
    let lines = |row: &Row| {
        let at = format!("{} at {}", row.target, row.heading);
        let unreadable = row.unreadable.iter();
        let mut lines: Vec<String> = unreadable
            .map(|why| format!("{at}: not readable in the record: {why}"))
            .collect();
        let partial = row.partial_because.iter();
        lines.extend(partial.map(|why| format!("{at}: {}.", why.trim_end_matches('.'))));
        if (1..row.trials.planned).contains(&row.trials_behind) {
            let planned = plural(row.trials.planned.into(), "trial");
            lines.push(format!(
                "{at} stands on {} of {planned}.",
                row.trials_behind
            ));
        }
        lines
    };
    summary.rows.iter().flat_map(lines).collect()
}

/// How to read what both experiments have: the errors, and the marks that occur.
pub(crate) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let has_figures = |wanted: &str| {
        let mut rows = summary.rows.iter().filter(|row| connected(row).is_some());
        rows.any(|row| mark(row).trim() == wanted)
    };
    let lines = [
        (
            summary.rows.iter().any(|row| errors_total(row) > 0),
            "errors: of all trials of a row, whatever they are worth.",
        ),
        (
            has_figures("†"),
            "†: of fewer connections than were asked for: those that opened and were served. Not to be compared, neither with the other rows nor with what is published.",
        ),
        (has_figures("*"), "*: stands with a reservation, see above."),
        (
            has_figures("✗"),
            "✗: of trials that failed a check or did not come to their end, as far as they came: to find out why, and not to be compared.",
        ),
    ];
    let told = lines.into_iter().filter(|(is_so, _)| *is_so);
    told.map(|(_, words)| words.to_owned()).collect()
}
