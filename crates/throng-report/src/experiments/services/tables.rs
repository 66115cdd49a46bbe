//! The tables: when clients were done, how requests went, where the time of connecting went, and what services cost.

use super::failed::FailedService;
use crate::detail::Detail;
use crate::failures;
use crate::format;
use crate::outcome::figure_or_reason;
use crate::published::Published;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::table::{Column, Sheet, absent, figure, target};
use crate::view::{Block, Brief};

pub(super) const DONE: &str = "completion_ns_mean";

pub(super) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let of = |key| figure(&summary.figures, key);
    let themes = vec![
        vec![
            done(),
            of("completion_ns_min"),
            of("completion_ns_max"),
            published(),
        ],
        vec![
            of("messages_per_second"),
            of("latency_ns_p50"),
            of("latency_ns_p99"),
            of("service_request_ns_min"),
            of("service_request_ns_max"),
            failed(),
        ],
        vec![
            of("connecting_share"),
            of("connect_latency_ns_p50"),
            of("connect_latency_ns_p99"),
            of("queue_full_connects"),
            of("queue_full_wait_ns_mean"),
        ],
        vec![
            of("server_cpu_per_service_ns"),
            of("server_cpu_of_services_ratio"),
            of("server_cpu_per_message_ns"),
            of("server_utilisation"),
            of("server_system_share"),
            of("server_voluntary_switches"),
            of("server_involuntary_switches"),
            of("server_memory_per_service_bytes"),
            of("server_threads_max"),
        ],
    ];
    let sheet = |theme| {
        Block::Rows(Sheet {
            labels: labels(summary),
            themes: vec![theme],
            is_joined: false,
            groups: vec![(String::new(), by_target(summary))],
        })
    };
    themes.into_iter().map(sheet).collect()
}

pub(super) fn brief(summary: &Summary<'_>) -> Brief {
    let of = |key| figure(&summary.figures, key);
    let mut columns = labels(summary);
    columns.extend([
        done(),
        published(),
        of("connecting_share"),
        of("server_cpu_per_message_ns").headed("server CPU\n/request"),
        of("latency_ns_p99"),
        failed(),
        of("messages_per_second").headed("requests/s"),
        of("server_utilisation"),
        of("server_memory_per_service_bytes"),
    ]);
    Brief {
        heading: None,
        columns,
        rows: by_target(summary),
    }
}

/// The target, then the values of what is swept.
fn labels(summary: &Summary<'_>) -> Vec<Column<Row>> {
    let swept = told(summary);
    let swept = swept.into_iter().map(|key| {
        let own = key.clone();
        let words = move |row: &Row| row.swept_value(&own).map_or_else(absent, str::to_owned);
        Column::words(key, words)
    });
    std::iter::once(target()).chain(swept).collect()
}

/// The swept keys in which rows of one target differ; the others follow from the target.
pub(super) fn told(summary: &Summary<'_>) -> Vec<String> {
    let differs = |key: &&String| {
        summary.rows.iter().any(|row| {
            let mut others = summary.rows.iter();
            let has_other = |other: &Row| other.swept_value(key) != row.swept_value(key);
            others.any(|other| other.target == row.target && has_other(other))
        })
    };
    summary.plan.swept.iter().filter(differs).cloned().collect()
}

/// The settings of each target together.
pub(super) fn by_target(summary: &Summary<'_>) -> Vec<Row> {
    let row = |(target, setting): (u32, u32)| {
        let name = &summary.plan.targets.get(target as usize)?.name;
        let mut rows = summary.rows.iter();
        rows.find(|row| row.target == *name && row.setting == setting)
            .cloned()
    };
    summary.plan.cells().filter_map(row).collect()
}

/// With the mark of what the row is worth.
fn done() -> Column<Row> {
    let words = |row: &Row| {
        let mark = match row.standing {
            Standing::Qualified => "≤ ",
            Standing::Invalid | Standing::Failed => "✗ ",
            _ => row.trials.mark(),
        };
        let found = row.estimate(DONE).map(|found| {
            let spread = format::spread(&found, format::time_ns);
            format!("{mark}{}{spread}", format::time_ns(found.median))
        });
        figure_or_reason(found, row.standing, &row.failed_checks, row.part_in_words())
    };
    Column::words("client done,\nmean", words)
        .aligned_right()
        .that_says_why()
        .of_number(|row| row.value(DONE))
}

fn published() -> Column<Row> {
    let words = |row: &Row| match &row.published {
        Some(Published::Services(found)) => format::time_ns(found.seconds * 1e9),
        _ => absent(),
    };
    Column::words("published", words).aligned_right()
}

fn failed() -> Column<Row> {
    let words = |row: &Row| match failures::of_row(row).total() {
        0 => absent(),
        _ => failures::of_row(row).words(),
    };
    Column::words("failed", words)
}

pub(super) fn failed_services(row: &Row) -> &[FailedService] {
    match &row.detail {
        Some(Detail::Services { failed }) => failed,
        _ => &[],
    }
}
