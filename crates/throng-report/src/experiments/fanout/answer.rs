//! The answer: how long until one line has come out of every connection, the phase of the question.

use crate::format::{exact, time_ns};
use crate::row::Row;
use crate::standing::Standing;

/// Who is first at this setting, and who is last.
pub(super) fn sentence(heading: &str, rows: &[Row]) -> Option<String> {
    let ranked = rows.iter().filter(|row| row.standing == Standing::Ranked);
    let mut known: Vec<(&str, f64)> = ranked
        .filter_map(|row| Some((row.target.as_str(), row.value("get_duration_ns")?)))
        .collect();
    known.sort_by(|one, other| one.1.total_cmp(&other.1));
    let others = match rows.len() - known.len() {
        0 => String::new(),
        some => format!(" ({} not compared)", exact(some as u64)),
    };
    let (first, first_ns) = *known.first()?;
    let slowest = match known.as_slice() {
        [_, .., (last, last_ns)] => format!(", {last} in {}", time_ns(*last_ns)),
        _ => String::new(),
    };
    Some(format!(
        "{heading}: {first} delivers one line to all in {}{slowest}{others}.",
        time_ns(first_ns)
    ))
}
