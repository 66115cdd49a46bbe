//! The answer: how many connections each target held, and what each takes.

use super::tables::each;
use crate::answer::SETTINGS;
use crate::experiments::crowd;
use crate::format::{self, list, time_ns};
use crate::row::Row;
use crate::standing::Standing;

/// Of each target its most connections, which follow the fewer.
pub(super) fn sentences(by_target: &[Row]) -> Vec<String> {
    let of_targets = by_target.chunk_by(|one, next| one.target == next.target);
    let most = of_targets.filter_map(|rows| sentence(rows.last()?));
    most.take(SETTINGS).collect()
}

fn sentence(row: &Row) -> Option<String> {
    if matches!(row.standing, Standing::Invalid | Standing::Failed) {
        return None;
    }
    let opened = crowd::connected_of_asked(row)?;
    let bytes = each(row);
    let bytes: Vec<String> = bytes
        .map(|(of, bytes)| format!("{} in the {of}", format::bytes(bytes)))
        .collect();
    let each = match bytes.as_slice() {
        [] => String::new(),
        bytes => format!(". Each takes {}", list(bytes)),
    };
    Some(format!(
        "{} opened {opened} connections in {}{each}.",
        row.target,
        time_ns(row.value("opened_ns")?)
    ))
}
