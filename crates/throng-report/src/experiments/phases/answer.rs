//! The answer: what each target did in each phase, at the last setting, which the others lead to.

use crate::answer::SETTINGS;
use crate::experiments::crowd;
use crate::format::{self, exact, time_ns};
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;

/// One for each of the first targets.
pub(super) fn sentences(summary: &Summary<'_>) -> Vec<String> {
    let last = summary.by_setting().pop();
    let rows = last.map(|(_, rows)| rows).unwrap_or_default();
    rows.iter().filter_map(sentence).take(SETTINGS).collect()
}

fn sentence(row: &Row) -> Option<String> {
    if matches!(row.standing, Standing::Invalid | Standing::Failed) {
        return None;
    }
    let done: Vec<String> = [connected(row), held(row), exchanged(row), pinged(row)]
        .into_iter()
        .flatten()
        .collect();
    (!done.is_empty()).then(|| format!("{} {}.", row.target, format::list(&done)))
}

fn connected(row: &Row) -> Option<String> {
    let opened = crowd::connected_of_asked(row)?;
    let length = time_ns(row.value("opened_ns")?);
    Some(format!("opened {opened} connections in {length}"))
}

fn held(row: &Row) -> Option<String> {
    let length = time_ns(row.value("hold_duration_ns")?);
    let lost = match row.value("lost").unwrap_or_default() as u64 {
        0 => "none".to_owned(),
        lost => exact(lost),
    };
    Some(format!("lost {lost} of them while held for {length}"))
}

fn exchanged(row: &Row) -> Option<String> {
    let rate = format::count(row.value("messages_per_second")?);
    let p99 = time_ns(row.value("latency_ns_p99")?);
    Some(format!("answered {rate} messages/s at a p99 of {p99}"))
}

fn pinged(row: &Row) -> Option<String> {
    let answered = exact(row.value("answered")? as u64);
    let p99 = time_ns(row.value("ping_latency_ns_p99")?);
    Some(format!("answered {answered} pings at a p99 of {p99}"))
}
