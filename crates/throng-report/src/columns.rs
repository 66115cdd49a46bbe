//! The one list of columns, and what stands in each: every table is made from it.

use throng_record::Limit;

use crate::checks;
use crate::format::{self, ABSENT};
use crate::ratio::{Bound, Compared, Ratio};
use crate::summary::{Latency, Row, Standing};

/// A column of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Target,
    Throughput,
    Ratio,
    P50,
    P90,
    P99,
    P999,
    Max,
    ServerCpu,
    ServerMemory,
    Limit,
}

impl Column {
    /// Every column, in the order of the report.
    pub(crate) const ALL: [Self; 11] = [
        Self::Target,
        Self::Throughput,
        Self::Ratio,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::Max,
        Self::ServerCpu,
        Self::ServerMemory,
        Self::Limit,
    ];

    /// The heading, in one or two lines.
    pub(crate) fn heading(self, compared: Compared) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Throughput => "messages/s",
            Self::Ratio => match compared {
                Compared::MessagesPerSecond => "vs baseline",
                Compared::LatencyP99 => "p99 vs baseline",
            },
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Max => "max",
            Self::ServerCpu => "server CPU\n/message",
            Self::ServerMemory => "server memory\n/connection",
            Self::Limit => "limit",
        }
    }

    /// Whether the cells are figures, which line up on the right.
    pub(crate) fn is_figure(self) -> bool {
        !matches!(
            self,
            Self::Target | Self::Throughput | Self::Ratio | Self::Limit
        )
    }

    /// The cell of a row, in one or two lines.
    pub(crate) fn cell(self, row: &Row, compared: Compared) -> String {
        match self {
            Self::Target => row.target.clone(),
            Self::Throughput => throughput(row, compared),
            Self::Ratio if row.is_baseline => "baseline".to_owned(),
            Self::Ratio => row.ratio_to_baseline.as_ref().map_or_else(absent, ratio),
            Self::P50 => latency(row, |found| found.latency_ns_p50),
            Self::P90 => latency(row, |found| found.latency_ns_p90),
            Self::P99 => latency(row, |found| found.latency_ns_p99),
            Self::P999 => latency(row, |found| found.latency_ns_p99_9),
            Self::Max => latency(row, |found| found.latency_ns_max),
            Self::ServerCpu => row
                .server_cpu_per_message_ns
                .map_or_else(absent, format::time_ns),
            Self::ServerMemory => row
                .server_memory_per_connection_bytes
                .map_or_else(absent, format::bytes),
            Self::Limit => row
                .limit
                .map_or_else(absent, |limit| limit_word(limit).to_owned()),
        }
    }
}

/// The mark of a bound. An open loop's throughput is no bound, being given: there a qualified row has a mark of its own.
fn mark(row: &Row, compared: Compared) -> &'static str {
    match (row.standing, compared) {
        (Standing::Qualified, Compared::MessagesPerSecond) => "≥ ",
        (Standing::Qualified, Compared::LatencyP99) => "* ",
        (Standing::Invalid | Standing::Failed, _) => "✗ ",
        (Standing::Ranked | Standing::Partial | Standing::NotMeasured, _) => "",
    }
}

/// The throughput in short, where a table has one column for each setting.
pub(crate) fn short_throughput(row: &Row, compared: Compared) -> String {
    let mark = mark(row, compared);
    match (&row.messages_per_second, row.standing) {
        (Some(found), _) => format!("{mark}{}", format::rate(found.median)),
        (None, Standing::Partial) => serves(row),
        (None, Standing::Invalid) => format!("{mark}invalid"),
        (None, Standing::Failed) => format!("{mark}failed"),
        (None, _) => absent(),
    }
}

/// What bounded the throughput, as the tables name it.
pub(crate) fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::Server => "server",
        Limit::Generator => "generator",
        Limit::Both => "both",
        Limit::Rate => "rate",
        Limit::Waiting => "waiting",
        Limit::Unknown => "unknown",
    }
}

fn absent() -> String {
    ABSENT.to_owned()
}

fn throughput(row: &Row, compared: Compared) -> String {
    let mark = mark(row, compared);
    match (row.standing, &row.messages_per_second) {
        (Standing::Ranked | Standing::Qualified, Some(found)) => {
            let spread = format::spread(found, format::count);
            format!("{mark}{}{spread}", format::rate(found.median))
        }
        (Standing::Ranked | Standing::Qualified, None) => absent(),
        (Standing::Partial, _) => format!("serves {}", serves(row)),
        (Standing::Invalid, _) => format!("{mark}invalid: {}", reasons(row)),
        (Standing::Failed, _) => format!("{mark}failed"),
        (Standing::NotMeasured, _) => "not measured".to_owned(),
    }
}

/// `120 of 1000`: the connections that got replies.
fn serves(row: &Row) -> String {
    row.serves_of.map_or_else(absent, |(served, of)| {
        format!(
            "{} of {}",
            format::exact(served.into()),
            format::exact(of.into())
        )
    })
}

/// The most frequent reason in full, the others as a number: the remarks under the table name them all.
fn reasons(row: &Row) -> String {
    let Some((&first, others)) = row.failed_checks.split_first() else {
        return "no reason recorded".to_owned();
    };
    match others.len() {
        0 => checks::words(first).to_owned(),
        more => format!("{}, {more} more", checks::words(first)),
    }
}

fn ratio(ratio: &Ratio) -> String {
    let mark = match ratio.bound {
        Bound::Exact => "",
        Bound::AtLeast => "≥ ",
        Bound::AtMost => "≤ ",
    };
    let spread = format::spread(&ratio.estimate, format::ratio);
    format!("{mark}{}×{spread}", format::ratio(ratio.estimate.median))
}

fn latency(row: &Row, pick: impl Fn(&Latency) -> u64) -> String {
    row.latency
        .as_ref()
        .map_or_else(absent, |found| format::time_ns(pick(found) as f64))
}
