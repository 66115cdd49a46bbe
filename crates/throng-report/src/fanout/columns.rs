//! The columns of a fan-out's targets: how far each came, and how late its lines were.

use super::{Row, Sustained};
use crate::columns::{Tabular, absent};
use crate::format::{self, exact};
use crate::rate;
use crate::summary::{Latency, Standing};

/// A column of the table of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Target,
    Connected,
    ConnectRate,
    Errors,
    Rss,
    Pss,
    AcknowledgeP50,
    AcknowledgeP99,
    AcknowledgeMax,
    GetP50,
    GetP99,
    GetMax,
    Deliveries,
    SustainP50,
    SustainP99,
    SustainMax,
    Missing,
}

/// How far it came.
pub(crate) const CONNECTED: &[Column] = {
    use Column::{ConnectRate, Connected, Errors, Pss, Rss, Target};
    &[Target, Connected, ConnectRate, Errors, Rss, Pss]
};

/// How late its lines were.
pub(crate) const DELIVERIES: &[Column] = {
    use Column::{AcknowledgeMax, AcknowledgeP50, AcknowledgeP99, GetMax, GetP50, GetP99, Target};
    &[
        Target,
        AcknowledgeP50,
        AcknowledgeP99,
        AcknowledgeMax,
        GetP50,
        GetP99,
        GetMax,
    ]
};

/// Lines at a rate.
pub(crate) const SUSTAINED: &[Column] = {
    use Column::{Deliveries, Missing, SustainMax, SustainP50, SustainP99, Target};
    &[
        Target, Deliveries, SustainP50, SustainP99, SustainMax, Missing,
    ]
};

/// Whether a part says anything of these rows.
pub(crate) fn has_something(rows: &[Row], columns: &[Column]) -> bool {
    let says = |column: &Column| match column {
        Column::Target => false,
        Column::AcknowledgeP50 | Column::AcknowledgeP99 | Column::AcknowledgeMax => {
            rows.iter().any(|row| row.acknowledge_latency.is_some())
        }
        Column::GetP50 | Column::GetP99 | Column::GetMax => {
            rows.iter().any(|row| row.get_latency.is_some())
        }
        column if SUSTAINED.contains(column) => rows.iter().any(|row| row.sustained.is_some()),
        _ => true,
    };
    columns.iter().any(says)
}

impl Tabular for Column {
    type Row = Row;
    type Context = ();

    fn heading(self, (): ()) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Connected => "connections\nopened",
            Self::ConnectRate => "connects/s",
            Self::Errors => "errors",
            Self::Rss => "server\nRSS",
            Self::Pss => "server\nPSS",
            Self::AcknowledgeP50 => "ack\np50",
            Self::AcknowledgeP99 => "ack\np99",
            Self::AcknowledgeMax => "ack\nmax",
            Self::GetP50 => "get\np50",
            Self::GetP99 => "get\np99",
            Self::GetMax => "get\nmax",
            Self::Deliveries => "deliveries/s",
            Self::SustainP50 => "sustained\np50",
            Self::SustainP99 => "sustained\np99",
            Self::SustainMax => "sustained\nmax",
            Self::Missing => "missing",
        }
    }

    fn is_figure(self) -> bool {
        !matches!(
            self,
            Self::Target | Self::Connected | Self::ConnectRate | Self::Deliveries
        )
    }

    fn cell(self, row: &Row, (): ()) -> String {
        match self {
            Self::Target => row.crowd.target.clone(),
            Self::Connected => row.crowd.outcome(),
            Self::ConnectRate => row.crowd.connects_per_second.map_or_else(absent, |found| {
                let spread = format::spread(&found, format::count);
                format!("{}{spread}", format::rate(found.median))
            }),
            Self::Errors => exact(row.crowd.errors_total()),
            Self::Rss => row.server_rss_bytes.map_or_else(absent, format::bytes),
            Self::Pss => row.server_pss_bytes.map_or_else(absent, format::bytes),
            Self::AcknowledgeP50 => time(row.acknowledge_latency, |all| all.latency_ns_p50),
            Self::AcknowledgeP99 => time(row.acknowledge_latency, |all| all.latency_ns_p99),
            Self::AcknowledgeMax => time(row.acknowledge_latency, |all| all.latency_ns_max),
            Self::GetP50 => time(row.get_latency, |all| all.latency_ns_p50),
            Self::GetP99 => time(row.get_latency, |all| all.latency_ns_p99),
            Self::GetMax => time(row.get_latency, |all| all.latency_ns_max),
            Self::Deliveries => sustained(row, |found| {
                if let Some(missed) = found.rate.filter(|rate| !rate.is_kept) {
                    return missed.not_kept();
                }
                let spread = format::spread(&found.deliveries_per_second, format::count);
                let rate = format::rate(found.deliveries_per_second.median);
                format!("{rate}{spread}")
            }),
            Self::SustainP50 => of_sustained(row, |all| all.latency_ns_p50),
            Self::SustainP99 => of_sustained(row, |all| all.latency_ns_p99),
            Self::SustainMax => of_sustained(row, |all| all.latency_ns_max),
            Self::Missing => sustained(row, |found| exact(found.missing)),
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

fn sustained(row: &Row, words: impl Fn(&Sustained) -> String) -> String {
    row.sustained.as_ref().map_or_else(absent, words)
}

fn of_sustained(row: &Row, pick: fn(&Latency) -> u64) -> String {
    let found = row.sustained.as_ref();
    let latency = found.and_then(|found| Some((found.latency?, found.rate.as_ref())));
    latency.map_or_else(absent, |(all, rate)| rate::latency(pick(&all), rate))
}

fn time(latency: Option<Latency>, pick: fn(&Latency) -> u64) -> String {
    latency.map_or_else(absent, |found| format::time_ns(pick(&found) as f64))
}
