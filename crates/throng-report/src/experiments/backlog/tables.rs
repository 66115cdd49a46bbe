//! The tables of the backlog experiment: times, the kernel's account, and what was slow.

use throng_record::{SweptValue, TargetRecord};

use super::published::{Published, Reading};
use crate::failures;
use crate::format;
use crate::grid::{Grid, GridLine};
use crate::outcome::figure_or_reason;
use crate::row::Row;
use crate::setting::{clients_by_requests, is_of_rows, requests_each};
use crate::standing::Standing;
use crate::summary::Summary;
use crate::table::{Column, Sheet, absent, figure};
use crate::view::Block;

/// One target at one backlog, and at one value of whatever else is swept beside clients and requests.
pub(crate) struct Table<'a> {
    /// Name of the target.
    pub(crate) target: &'a str,
    /// The backlog asked of the server; absent where it takes none: a command of the user's, a server that runs already.
    pub(crate) backlog_asked: Option<u32>,
    /// Values of the swept keys but for clients and requests.
    swept: Vec<&'a SweptValue>,
    /// A row for each number of clients and requests, in the plan's order.
    pub(crate) rows: Vec<&'a Row>,
}

/// The tables of a run, by target.
pub(crate) fn tables<'a>(summary: &'a Summary<'_>) -> Vec<Table<'a>> {
    let targets = summary.plan.targets.iter();
    targets
        .flat_map(|target| tables_of(summary, target))
        .collect()
}

fn tables_of<'a>(summary: &'a Summary<'_>, target: &'a TargetRecord) -> Vec<Table<'a>> {
    let mut tables: Vec<Table<'a>> = Vec::new();
    for row in summary.rows.iter().filter(|row| row.target == target.name) {
        let swept: Vec<&SweptValue> = row
            .swept
            .iter()
            .filter(|swept| !is_of_rows(&swept.key))
            .collect();
        let asked = &summary.plan.settings[row.setting as usize];
        // Clients and requests need not be the keys that vary fastest.
        match tables.iter_mut().find(|table| table.swept == swept) {
            Some(table) => table.rows.push(row),
            None => tables.push(Table {
                target: &target.name,
                backlog_asked: target.takes_backlog().then_some(asked.backlog),
                swept,
                rows: vec![row],
            }),
        }
    }
    tables
}

impl Table<'_> {
    /// The backlog as found; of rows that differ, the first that is not as asked.
    pub(crate) fn backlog_in_force(&self) -> Option<u32> {
        let in_force = |row: &&Row| row.backlog_in_force;
        let all = || self.rows.iter().filter_map(in_force);
        let differs = |found: &u32| self.backlog_asked.is_some_and(|asked| asked != *found);
        all().find(differs).or_else(|| all().next())
    }

    /// The target and its backlog come first, whether swept or not; of a server that takes none, the backlog as found.
    pub(crate) fn heading(&self) -> String {
        let backlog = match (self.backlog_asked, self.backlog_in_force()) {
            (None, None) => None,
            (None, Some(found)) => Some(format!("backlog {found} as found")),
            (Some(asked), Some(found)) if asked != found => {
                Some(format!("backlog {asked} asked, {found} in force"))
            }
            (Some(asked), _) => Some(format!("backlog {asked}")),
        };
        let others = self.swept.iter().filter(|swept| swept.key != "backlog");
        std::iter::once(self.target.to_owned())
            .chain(backlog)
            .chain(others.map(ToString::to_string))
            .collect::<Vec<_>>()
            .join(" · ")
    }
}

pub(crate) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let groups = tables(summary).into_iter();
    let rows = |table: Table<'_>| table.rows.into_iter().cloned().collect();
    vec![Block::Rows(Sheet {
        labels: vec![clients(summary)],
        themes: vec![times_theme(summary), account(summary), slow(summary)],
        is_joined: false,
        groups: groups.map(|table| (table.heading(), rows(table))).collect(),
    })]
}

/// `32 × 5`.
fn clients(summary: &Summary<'_>) -> Column<Row> {
    let settings = summary.plan.settings.iter();
    let names: Vec<String> = settings
        .map(|setting| clients_by_requests(setting.connections, requests_each(setting)))
        .collect();
    let words = move |row: &Row| names[row.setting as usize].clone();
    Column::words("clients\n× requests", words).aligned_right()
}

/// How long it took, against the least possible and the published time.
fn times_theme(summary: &Summary<'_>) -> Vec<Column<Row>> {
    let amplified = |row: &Row| {
        row.value("amplification").map_or_else(absent, |times| {
            format!("{}{}×", compared(row), format::ratio(times))
        })
    };
    let of_published = |words: fn(&Published) -> String| {
        move |row: &Row| match &row.published {
            Some(crate::published::Published::Backlog(found)) => words(found),
            _ => absent(),
        }
    };
    vec![
        Column::words("total time", total)
            .that_says_why()
            .of_number(|row| row.value("duration_ns")),
        figure(&summary.figures, "duration_least_ns"),
        Column::words("amplified", amplified)
            .aligned_right()
            .of_number(|row| row.value("amplification")),
        Column::words("published\ntime", of_published(published)).aligned_right(),
        Column::words(
            "published\namplified",
            of_published(published_amplification),
        )
        .aligned_right(),
        Column::words("failed", |row: &Row| match failures::of_row(row) {
            none if none.total() == 0 && row.figures.is_empty() => absent(),
            failures => failures.words(),
        }),
    ]
}

/// Latencies, and what the kernel counted.
fn account(summary: &Summary<'_>) -> Vec<Column<Row>> {
    // What never came took longer than any of those that did: with failures in it the figure is a lower bound.
    let latency = |heading: &str, key: &'static str| {
        Column::words(heading, move |row: &Row| {
            let mark = if failures::of_row(row).total() > 0 {
                "≥ "
            } else {
                ""
            };
            row.value(key)
                .map_or_else(absent, |time| format!("{mark}{}", format::time_ns(time)))
        })
        .aligned_right()
        .of_number(move |row| row.value(key))
    };
    let mut columns = vec![
        latency("connect\np50", "connect_latency_ns_p50"),
        latency("connect\nmax", "connect_latency_ns_max"),
        latency("first byte\np50", "first_byte_latency_ns_p50"),
        latency("first byte\nmax", "first_byte_latency_ns_max"),
    ];
    let keys = [
        "listen_overflows",
        "listen_drops",
        "syn_cookies_sent",
        "syn_retransmissions",
        "syn_ack_retransmissions",
        "data_retransmissions",
        "accept_queue_max",
    ];
    columns.extend(keys.map(|key| figure(&summary.figures, key)));
    columns
}

/// Slow requests by cause: nothing where none was slow.
fn slow(summary: &Summary<'_>) -> Vec<Column<Row>> {
    let keys = [
        "connects_begun",
        "connects_slow",
        "connects_slow_by_syn_retransmission",
        "first_bytes_slow",
        "first_bytes_slow_by_final_ack",
        "first_bytes_slow_by_accept_queue",
        "first_bytes_slow_by_service",
        "not_explained",
    ];
    keys.map(|key| figure(&summary.figures, key).only_where(has_slow))
        .to_vec()
}

/// Whether anything failed or was slow.
pub(crate) fn has_slow(row: &Row) -> bool {
    let is_some = |key| row.value(key) > Some(0.0);
    let has_failed = !row.figures.is_empty() && failures::of_row(row).total() > 0;
    has_failed
        || ["connects_slow", "first_bytes_slow", "not_explained"]
            .into_iter()
            .any(is_some)
}

/// A trial that the generator held up took longer than the server needed.
fn bound(row: &Row) -> &'static str {
    match row.standing {
        Standing::Qualified => "≤ ",
        Standing::Partial => "† ",
        Standing::Ranked => row.trials.mark(),
        _ => "",
    }
}

/// With failed requests in it, the total is not of the work that the least possible is of.
fn compared(row: &Row) -> &'static str {
    match failures::of_row(row).total() {
        0 => bound(row),
        _ => "‡ ",
    }
}

fn total(row: &Row) -> String {
    let time = row.estimate("duration_ns").map(|found| {
        let spread = format::spread(&found, format::time_ns);
        format!("{}{}{spread}", bound(row), format::time_ns(found.median))
    });
    figure_or_reason(time.clone(), row.standing, &row.failed_checks, time)
}

/// Time of all requests: a line for each number of clients, a column for each target and backlog.
pub(crate) fn times(summary: &Summary<'_>) -> Option<Grid> {
    /// Names of targets are long, and there may be six columns.
    const HEADING_WIDTH: usize = 13;
    let tables = tables(summary);
    let heading = |table: &Table<'_>| {
        let heading = table.heading();
        let parts = heading.split(" · ");
        let parts: Vec<String> = parts
            .map(|part| textwrap::fill(part, HEADING_WIDTH))
            .collect();
        parts.join("\n")
    };
    let cell = |row: &Row| {
        let text = match (row.value("duration_ns"), row.standing) {
            (Some(time_ns), _) => format!("{}{}", row.trials.mark(), format::time_ns(time_ns)),
            (None, Standing::Failed) => "✗ failed".to_owned(),
            (None, Standing::Invalid) => "✗ invalid".to_owned(),
            (None, _) => absent(),
        };
        (text, row.standing)
    };
    let line = |(index, of_first): (usize, &&Row)| {
        let setting = &summary.plan.settings[of_first.setting as usize];
        GridLine {
            label: match requests_each(setting) {
                Some(requests) => format!("{} × {requests}", of_first.connections),
                None => of_first.connections.to_string(),
            },
            cells: tables
                .iter()
                .filter_map(|table| Some(cell(table.rows.get(index)?)))
                .collect(),
        }
    };
    Some(Grid {
        title: "time of all requests".to_owned(),
        label: "clients\n× requests".to_owned(),
        headings: tables.iter().map(heading).collect(),
        lines: tables.first()?.rows.iter().enumerate().map(line).collect(),
    })
}

/// `114 s, 8 closed`; `450 ms or 1.49 s`; `1.53 s – 7.70 s`.
pub(crate) fn published(published: &Published) -> String {
    let row = published.row;
    let times = row.times_ms.iter();
    let times: Vec<f64> = times.map(|&time| time as f64 * 1e6).collect();
    let mut text = several(&times, row.reading, format::time_ns);
    for (number, word) in [(row.closed, "closed"), (row.refused, "refused")] {
        if let Some(number) = number {
            text += &format!(", {number} {word}");
        }
    }
    text
}

fn published_amplification(published: &Published) -> String {
    let by = several(
        &published.amplifications,
        published.row.reading,
        format::ratio,
    );
    format!("{by}×")
}

fn several(values: &[f64], reading: Reading, words: impl Fn(f64) -> String) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match reading {
        Reading::Single => words(least),
        Reading::Either => format!("{} or {}", words(least), words(most)),
        Reading::Range | Reading::Runs => format!("{} – {}", words(least), words(most)),
    }
}
