//! The columns of the hold experiment's tables: how connections opened, what memory each takes, and how their pings were answered.

use super::Row;
use crate::columns::{Tabular, absent};
use crate::format::{self, exact};
use crate::median::Estimate;
use crate::summary::{Latency, Standing};

/// A column of the hold experiment's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Target,
    Setting,
    Connected,
    ConnectTime,
    RateFirst,
    RateLast,
    ConnectP50,
    ConnectP99,
    ConnectMax,
    ServerBytes,
    GeneratorBytes,
    KernelBytes,
    KernelGrown,
    KernelLeft,
    Answered,
    NotPinged,
    PingTime,
    PingP50,
    PingP99,
    PingMax,
    Errors,
}

/// How they opened.
pub(crate) const CONNECTS: &[Column] = {
    use Column::{
        ConnectMax, ConnectP50, ConnectP99, ConnectTime, Connected, RateFirst, RateLast, Setting,
        Target,
    };
    &[
        Target,
        Setting,
        Connected,
        ConnectTime,
        RateFirst,
        RateLast,
        ConnectP50,
        ConnectP99,
        ConnectMax,
    ]
};

/// What memory each takes.
pub(crate) const MEMORY: &[Column] = {
    use Column::{
        GeneratorBytes, KernelBytes, KernelGrown, KernelLeft, ServerBytes, Setting, Target,
    };
    &[
        Target,
        Setting,
        ServerBytes,
        GeneratorBytes,
        KernelBytes,
        KernelGrown,
        KernelLeft,
    ]
};

/// How they were answered.
pub(crate) const PINGS: &[Column] = {
    use Column::{
        Answered, Errors, NotPinged, PingMax, PingP50, PingP99, PingTime, Setting, Target,
    };
    &[
        Target, Setting, Answered, NotPinged, PingTime, PingP50, PingP99, PingMax, Errors,
    ]
};

/// These columns but for that of connections that were not pinged, where there are none.
pub(crate) fn shown(columns: &[Column], rows: &[Row]) -> Vec<Column> {
    let has_not_pinged = rows.iter().any(|row| row.not_pinged > Some(0));
    let columns = columns.iter().copied();
    columns
        .filter(|column| has_not_pinged || *column != Column::NotPinged)
        .collect()
}

impl Tabular for Column {
    type Row = Row;
    type Context = ();

    fn heading(self, (): ()) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Setting => "asked",
            Self::Connected => "connections\nopened",
            Self::ConnectTime => "opened\nin",
            Self::RateFirst => "connects/s,\nfirst 10,000",
            Self::RateLast => "connects/s,\nlast 10 %",
            Self::ConnectP50 => "connect\np50",
            Self::ConnectP99 => "connect\np99",
            Self::ConnectMax => "connect\nmax",
            Self::ServerBytes => "server's own\n/connection",
            Self::GeneratorBytes => "generator's own\n/connection",
            Self::KernelBytes => "kernel's\n/connection",
            Self::KernelGrown => "kernel,\nall open",
            Self::KernelLeft => "kernel,\nafter the end",
            Self::Answered => "pings\nanswered",
            Self::NotPinged => "not\npinged",
            Self::PingTime => "answered\nin",
            Self::PingP50 => "ping\np50",
            Self::PingP99 => "ping\np99",
            Self::PingMax => "ping\nmax",
            Self::Errors => "errors",
        }
    }

    fn is_figure(self) -> bool {
        !matches!(
            self,
            Self::Target | Self::Setting | Self::Connected | Self::Answered
        )
    }

    fn cell(self, row: &Row, (): ()) -> String {
        let crowd = &row.crowd;
        let kernel = |words: fn(&super::KernelMemory) -> String| {
            row.kernel.as_ref().map_or_else(absent, words)
        };
        match self {
            Self::Target => crowd.target.clone(),
            Self::Setting => crowd.asked(),
            Self::Connected => crowd.outcome(),
            Self::ConnectTime => estimate(row.opened_ns, format::time_ns),
            Self::RateFirst => estimate(row.connects_per_second_first, format::count),
            Self::RateLast => estimate(row.connects_per_second_last, format::count),
            Self::ConnectP50 => time(crowd.connect_latency, |all| all.latency_ns_p50),
            Self::ConnectP99 => time(crowd.connect_latency, |all| all.latency_ns_p99),
            Self::ConnectMax => time(crowd.connect_latency, |all| all.latency_ns_max),
            Self::ServerBytes => estimate(row.server_bytes_per_connection, bytes),
            Self::GeneratorBytes => estimate(row.generator_bytes_per_connection, bytes),
            Self::KernelBytes => estimate(row.kernel_bytes_per_connection, bytes),
            Self::KernelGrown => kernel(|memory| signed(memory.grown_bytes)),
            Self::KernelLeft => kernel(|memory| memory.left_bytes.map_or_else(absent, signed)),
            Self::Answered => match (row.answered, row.pinged) {
                (Some(answered), Some(pinged)) if answered < pinged => format::of(answered, pinged),
                (Some(answered), _) => exact(answered.into()),
                (None, _) => absent(),
            },
            Self::NotPinged => row
                .not_pinged
                .map_or_else(absent, |number| exact(number.into())),
            Self::PingTime => estimate(row.ping_duration_ns, format::time_ns),
            Self::PingP50 => time(row.ping_latency, |all| all.latency_ns_p50),
            Self::PingP99 => time(row.ping_latency, |all| all.latency_ns_p99),
            Self::PingMax => time(row.ping_latency, |all| all.latency_ns_max),
            Self::Errors => exact(crowd.errors_total()),
        }
    }

    /// What is wrong with a row stands with its connections.
    fn says_why(self) -> bool {
        self == Self::Connected
    }

    fn standing(row: &Row) -> Standing {
        row.crowd.standing
    }

    fn has_figures(row: &Row) -> bool {
        row.crowd.connected.is_some()
    }
}

/// Whether a part says anything of these rows.
pub(crate) fn has_something(rows: &[Row], columns: &[Column]) -> bool {
    let has = |some: fn(&Row) -> bool| rows.iter().any(some);
    if columns.contains(&Column::Answered) {
        return has(|row| row.answered.is_some() || row.crowd.errors_total() > 0);
    }
    if columns.contains(&Column::ServerBytes) || columns.contains(&Column::KernelBytes) {
        return has(|row| row.kernel.is_some())
            || has(|row| row.server_bytes_per_connection.is_some())
            || has(|row| row.generator_bytes_per_connection.is_some());
    }
    true
}

/// Whole bytes below ten thousand: it is these that one compares with a structure's size.
pub(super) fn bytes(value: f64) -> String {
    if value.abs() < 9_999.5 {
        let sign = if value < -0.5 { "-" } else { "" };
        format!("{sign}{} B", exact(value.abs().round() as u64))
    } else {
        format::bytes(value)
    }
}

/// `+1.20 GiB`.
fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "" } else { "+" };
    format!("{sign}{}", format::bytes(value))
}

fn estimate(found: Option<Estimate>, words: fn(f64) -> String) -> String {
    found.map_or_else(absent, |found| {
        format!("{}{}", words(found.median), format::spread(&found, words))
    })
}

fn time(latency: Option<Latency>, pick: fn(&Latency) -> u64) -> String {
    latency.map_or_else(absent, |found| format::time_ns(pick(&found) as f64))
}
