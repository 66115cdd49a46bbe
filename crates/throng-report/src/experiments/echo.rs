//! How many messages a second, at what latency? The echo experiment: for each setting a row for each target, ranked by throughput, in an open loop by the
//! 99th percentile of latency.

pub mod published;

use throng_record::{Plan, Setting, TargetRecord, Trial};

use crate::circumstances::Circumstances;
use crate::experiments::messages::{OfMessages, limit, pages, rate, ratio};
use crate::experiments::tls;
use crate::format;
use crate::leading::{Leading, by_pacing};
use crate::measured::Measured;
use crate::published::Published;
use crate::ratio::Compared;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, absent, figure};

/// The experiment.
pub(crate) struct Echo;

impl Measured for Echo {
    fn leading(&self, plan: &Plan) -> Leading {
        Leading::Compared(by_pacing(plan))
    }

    fn published(&self, of: &TargetRecord, asked: &Setting, _: &[&Trial]) -> Option<Published> {
        published::beside(&of.name, asked).map(Published::Echo)
    }
}

impl OfMessages for Echo {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        let mut phrases: Vec<String> = asked.protocol().into_iter().collect();
        phrases.push(asked.connections());
        phrases.extend(asked.paced());
        phrases
    }

    fn unit(&self) -> &'static str {
        "messages/s"
    }

    fn themes(&self, summary: &Summary<'_>) -> Vec<Vec<Column<Row>>> {
        let figures = &summary.figures;
        let of = |key| figure(figures, key);
        vec![
            vec![rate(summary), ratio(summary), published(), limit()],
            [
                "latency_ns_p50",
                "latency_ns_p90",
                "latency_ns_p99",
                "latency_ns_p99_9",
                "latency_ns_max",
            ]
            .map(of)
            .to_vec(),
            vec![
                of("server_cpu_per_message_ns"),
                of("server_memory_per_connection_bytes"),
            ],
            tls::columns(figures),
            pages::columns(summary),
        ]
    }

    fn brief(&self, summary: &Summary<'_>) -> Vec<Column<Row>> {
        let of = |key| figure(&summary.figures, key);
        vec![
            rate(summary),
            of("latency_ns_p50"),
            of("latency_ns_p99"),
            of("server_cpu_per_message_ns"),
            limit(),
            ratio(summary),
            of("server_memory_per_connection_bytes"),
        ]
    }

    fn costs(&self, summary: &Summary<'_>) -> Vec<Column<Row>> {
        let keys: &[&'static str] = match summary.compared() {
            Compared::MessagesPerSecond | Compared::CapacityPerSecond => &[
                "latency_ns_p99",
                "server_cpu_per_message_ns",
                "server_memory_per_connection_bytes",
            ],
            // The overview has the latency already.
            Compared::LatencyP99 => &[
                "server_cpu_per_message_ns",
                "server_memory_per_connection_bytes",
            ],
        };
        keys.iter()
            .map(|key| figure(&summary.figures, *key))
            .collect()
    }

    fn published_rate(&self, row: &Row) -> Option<f64> {
        match &row.published {
            Some(Published::Echo(beside)) => Some(beside.published_messages_per_second),
            _ => None,
        }
    }

    fn sources(&self, summary: &Summary<'_>) -> Vec<String> {
        sources(summary)
    }
}

fn published() -> Column<Row> {
    let words = |row: &Row| Echo.published_rate(row).map_or_else(absent, format::rate);
    Column::words("published", words).aligned_right()
}

/// Whence the published figures of the run's rows are, what each measured, and what is different there.
fn sources(summary: &Summary<'_>) -> Vec<String> {
    let mut shown: Vec<&published::Published> = Vec::new();
    let beside = |row: &Row| match &row.published {
        Some(Published::Echo(beside)) => Some(*beside),
        _ => None,
    };
    for beside in summary.rows.iter().filter_map(beside) {
        if !shown.contains(&beside.published) {
            shown.push(beside.published);
        }
    }
    if shown.is_empty() {
        return Vec::new();
    }
    let reference = published::reference();
    let mut lines = reference.origin.lines();
    let named = |one: &&published::Published| format!("{} ({})", one.server, one.name);
    let named: Vec<String> = shown.iter().map(named).collect();
    lines.push(format!("What ran there: {}.", named.join(", ")));
    lines.extend(reference.origin.remarks.iter().cloned());
    lines
}
