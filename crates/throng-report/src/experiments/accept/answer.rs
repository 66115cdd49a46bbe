//! The answer: what one accept costs who with all the others idle.

use crate::format::{self, exact, time_ns};
use crate::row::Row;

/// The cheapest and the dearest.
pub(super) fn sentence(rows: &[Row]) -> Option<String> {
    let cost = |row: &Row| {
        let idle = row.value("accept_idle_last")? as u32;
        Some((idle, row.value("accept_cost_ns_last")?))
    };
    let mut rows: Vec<(&Row, u32, f64)> = rows
        .iter()
        .filter_map(|row| cost(row).map(|(idle, cost_ns)| (row, idle, cost_ns)))
        .collect();
    let most = rows.iter().map(|(_, idle, _)| *idle).max()?;
    // One that ends early is not compared with those that go on.
    rows.retain(|(_, idle, _)| u64::from(*idle) * 10 >= u64::from(most) * 9);
    rows.sort_by(|one, other| one.2.total_cmp(&other.2));
    let (cheapest, _, least_ns) = rows.first()?;
    let (dearest, _, most_ns) = rows.last()?;
    let idle = exact(most.into());
    Some(match rows.len() {
        1 => format!(
            "With {idle} idle connections one accept costs {} {}.",
            cheapest.target,
            time_ns(*least_ns)
        ),
        _ => format!(
            "With {idle} idle connections one accept costs {} {} and {} {}, {} times as much.",
            cheapest.target,
            time_ns(*least_ns),
            dearest.target,
            time_ns(*most_ns),
            format::ratio(most_ns / least_ns)
        ),
    })
}
