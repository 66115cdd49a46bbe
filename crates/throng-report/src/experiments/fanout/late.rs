//! Who hears late, in words.

use throng_record::SlowConnection;

use super::order::{Order, Part};
use crate::detail::Detail;
use crate::format::times;
use crate::format::{self, exact};
use crate::row::Row;
use crate::summary::Summary;

/// Slowest connections that a line names.
const NAMED: usize = 3;

/// A line for each target and phase, at the most connections of which there is something to tell.
pub(crate) fn lines(summary: &Summary<'_>) -> Vec<String> {
    let targets = summary.plan.targets.iter();
    let last_told = |name: &String| {
        let mut rows = summary.rows.iter().rev();
        rows.find(|row| row.target == *name && !orders(row).is_empty())
    };
    let told = targets.filter_map(|target| last_told(&target.name));
    told.flat_map(|row| orders(row).iter().map(|order| line(order, row)))
        .collect()
}

fn orders(row: &Row) -> &[Order] {
    match &row.detail {
        Some(Detail::Fanout { order }) => order,
        _ => &[],
    }
}

/// `epoll-edge at 7,000 connections, get: first tenth 1.20 ms, last tenth 8.00 ms; slowest connection 6,999 (12.3 ms), 6,998 (12.1 ms).`
fn line(order: &Order, row: &Row) -> String {
    let mut told = Vec::new();
    if let [first, .., last] = &order.parts[..] {
        told.push(format!(
            "first tenth {}, last tenth {}",
            mean(first),
            mean(last)
        ));
        let latest = order
            .parts
            .iter()
            .max_by(|one, other| one.latency_ns_mean.total_cmp(&other.latency_ns_mean));
        if let Some(latest) = latest.filter(|latest| *latest != first && *latest != last) {
            told.push(format!(
                "latest connections {} to {} ({})",
                exact(latest.first.into()),
                exact(latest.last.into()),
                mean(latest)
            ));
        }
    }
    let slowest: Vec<String> = order.slowest.iter().take(NAMED).map(slow).collect();
    told.push(format!("slowest connection {}", slowest.join(", ")));
    format!(
        "{} at {}, {}: {}.",
        row.target,
        row.heading,
        order.phase.word(),
        told.join("; ")
    )
}

fn mean(part: &Part) -> String {
    format::time_ns(part.latency_ns_mean)
}

fn slow(one: &SlowConnection) -> String {
    let again = match one.syn_retransmissions {
        0 => String::new(),
        more => format!(", its SYN sent again {}", times(more.into())),
    };
    format!(
        "{} ({}{again})",
        exact(one.connection.into()),
        format::time_ns(one.latency_ns as f64)
    )
}
