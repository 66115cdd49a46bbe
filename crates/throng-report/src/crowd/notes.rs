//! What stands below the tables of both experiments: what stopped the connecting, what went wrong with which connections, and how to read the marks.

use throng_record::ErrorKind;

use super::{Crowd, Failed, crowds};
use crate::format::{exact, plural};
use crate::summary::Summary;

/// Why there are fewer connections than were asked for.
pub(crate) fn stopped(summary: &Summary<'_>) -> Vec<String> {
    let line = |crowd: &Crowd| {
        let reasons = crowd.stopped_by.join("; ");
        (!reasons.is_empty()).then(|| format!("{} at {}: {reasons}.", crowd.target, crowd.heading))
    };
    crowds(summary).filter_map(line).collect()
}

/// Connections that a line names of each kind.
const INDICES_MAX: usize = 8;

/// What went wrong, and with which connections.
pub(crate) fn errors_by_connection(summary: &Summary<'_>) -> Vec<String> {
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
    let line = |crowd: &Crowd| {
        let kinds: Vec<String> = crowd.errors.iter().map(of_kind).collect();
        (!kinds.is_empty()).then(|| {
            format!(
                "{} at {}: {}.",
                crowd.target,
                crowd.heading,
                kinds.join("; ")
            )
        })
    };
    crowds(summary).filter_map(line).collect()
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
    let lines = |crowd: &Crowd| {
        let at = format!("{} at {}", crowd.target, crowd.heading);
        let unreadable = crowd.unreadable.iter();
        let mut lines: Vec<String> = unreadable
            .map(|why| format!("{at}: not readable in the record: {why}"))
            .collect();
        let partial = crowd.partial_because.iter();
        lines.extend(partial.map(|why| format!("{at}: {}.", why.trim_end_matches('.'))));
        if (1..crowd.trials.planned).contains(&crowd.trials_behind) {
            let planned = plural(crowd.trials.planned.into(), "trial");
            lines.push(format!(
                "{at} stands on {} of {planned}.",
                crowd.trials_behind
            ));
        }
        lines
    };
    crowds(summary).flat_map(lines).collect()
}

/// How to read what both experiments have: the errors, and the marks that occur.
pub(crate) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let any = |is_so: fn(&Crowd) -> bool| crowds(summary).any(is_so);
    let has_figures = |mark: &str| {
        let mut crowds = crowds(summary).filter(|crowd| crowd.connected.is_some());
        crowds.any(|crowd| crowd.mark().trim() == mark)
    };
    let lines = [
        (
            any(|crowd| crowd.errors_total() > 0),
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
