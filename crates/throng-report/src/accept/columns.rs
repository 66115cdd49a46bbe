//! The columns of the accept experiment's tables: how far a multiplexer came, and what it cost.

use throng_record::accept::Slope;

use super::{Cost, CostAt, Row};
use crate::columns::{Tabular, absent, figure_or_reason};
use crate::format::{self, exact};
use crate::summary::Standing;

/// A column of the accept experiment's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Target,
    Accepted,
    AcceptFirst,
    AcceptLast,
    AcceptSlope,
    Published,
    DataFirst,
    DataLast,
    DataSlope,
}

/// How far it came, and what an accept cost.
pub(crate) const ACCEPT: &[Column] = {
    use Column::{AcceptFirst, AcceptLast, AcceptSlope, Accepted, Published, Target};
    &[
        Target,
        Accepted,
        AcceptFirst,
        AcceptLast,
        AcceptSlope,
        Published,
    ]
};

/// What a byte cost.
pub(crate) const DATA: &[Column] = {
    use Column::{DataFirst, DataLast, DataSlope, Target};
    &[Target, DataFirst, DataLast, DataSlope]
};

/// These columns but for the published one where nothing is published.
pub(crate) fn shown<'a>(
    columns: &[Column],
    mut rows: impl Iterator<Item = &'a Row>,
) -> Vec<Column> {
    let has_published = rows.any(|row| row.published.is_some());
    let columns = columns.iter().copied();
    columns
        .filter(|column| has_published || *column != Column::Published)
        .collect()
}

/// Whether a part says anything of these rows.
pub(crate) fn has_something(rows: &[Row], columns: &[Column]) -> bool {
    let of_data = |column: &Column| DATA.contains(column);
    let has_data = || rows.iter().any(|row| row.data.first.is_some());
    columns.iter().any(|column| column.says_why()) || !columns.iter().all(of_data) || has_data()
}

impl Tabular for Column {
    type Row = Row;
    type Context = ();

    fn heading(self, (): ()) -> &'static str {
        match self {
            Self::Target => "multiplexer",
            Self::Accepted => "connections\naccepted",
            Self::AcceptFirst => "accept,\nfew idle",
            Self::AcceptLast => "accept,\nat the end",
            Self::AcceptSlope => "accept, per\nidle connection",
            Self::Published => "published\nof accept",
            Self::DataFirst => "data,\nfew idle",
            Self::DataLast => "data,\nat the end",
            Self::DataSlope => "data, per\nidle connection",
        }
    }

    fn is_figure(self) -> bool {
        !matches!(self, Self::Target | Self::Accepted | Self::Published)
    }

    fn cell(self, row: &Row, (): ()) -> String {
        match self {
            Self::Target => row.target.clone(),
            Self::Accepted => accepted(row),
            Self::AcceptFirst => cost(row.accept.first),
            Self::AcceptLast => cost(row.accept.last),
            Self::AcceptSlope => slope(&row.accept),
            Self::Published => row
                .published
                .as_ref()
                .map_or_else(absent, |published| published.accept.clone()),
            Self::DataFirst => cost(row.data.first),
            Self::DataLast => cost(row.data.last),
            Self::DataSlope => slope(&row.data),
        }
    }

    /// What is wrong with a row stands where others tell how far they came.
    fn says_why(self) -> bool {
        self == Self::Accepted
    }

    fn standing(row: &Row) -> Standing {
        row.standing
    }

    fn has_figures(row: &Row) -> bool {
        row.has_figures()
    }
}

/// `10,000`, or `1,013 of 10,000`.
fn accepted(row: &Row) -> String {
    let mark = match row.standing {
        Standing::Qualified => "* ",
        Standing::Ranked => row.trials.mark(),
        _ => "",
    };
    match row.accepted {
        Some(accepted) if accepted < row.connections => {
            format!("{mark}{}", format::of(accepted, row.connections))
        }
        Some(accepted) => format!("{mark}{}", exact(accepted.into())),
        None if row.standing == Standing::Partial => absent(),
        None => figure_or_reason(None, row.standing, &row.failed_checks, None),
    }
}

fn cost(found: Option<CostAt>) -> String {
    found.map_or_else(absent, |CostAt { cost_ns, .. }| {
        let spread = format::spread(&cost_ns, format::time_ns);
        format!("{}{spread}", format::time_ns(cost_ns.median))
    })
}

fn slope(cost: &Cost) -> String {
    cost.slope.as_ref().map_or_else(absent, slope_words)
}

/// `6.12 ns [6.05, 6.20]`.
pub(crate) fn slope_words(slope: &Slope) -> String {
    let [each, low, high] = [
        slope.ns_per_connection,
        slope.ns_per_connection_low,
        slope.ns_per_connection_high,
    ]
    .map(format::hundredths);
    format!("{each} ns [{low}, {high}]")
}
