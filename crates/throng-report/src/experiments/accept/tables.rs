//! The tables: costs with few idle connections and with all, what each adds, and the costs along the idle connections.

use throng_record::accept::Slope;

use super::along::Along;
use crate::detail::Detail;
use crate::format::{self, exact};
use crate::grid::{Grid, GridLine};
use crate::outcome::figure_or_reason;
use crate::published::Published;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::table::{Column, Sheet, absent, with_spread};
use crate::view::{Block, Brief};

/// One of the costs of a row.
type PickCost = fn(&Row) -> Option<(&[u32], &Along)>;

fn of_accept(row: &Row) -> Option<(&[u32], &Along)> {
    match &row.detail {
        Some(Detail::Multiplexer { idle, accept, .. }) => Some((idle, accept)),
        _ => None,
    }
}

fn of_data(row: &Row) -> Option<(&[u32], &Along)> {
    match &row.detail {
        Some(Detail::Multiplexer { idle, data, .. }) => Some((idle, data)),
        _ => None,
    }
}

pub(super) fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (heading, rows) in summary.by_setting() {
        let [accept, data]: [(_, PickCost); 2] = [
            ("accept by idle connections", of_accept),
            ("data by idle connections", of_data),
        ];
        let curves = [accept, data].map(|(title, cost)| curve(title, &rows, cost));
        blocks.push(Block::Rows(sheet(summary, heading, rows)));
        blocks.extend(curves.into_iter().flatten().map(Block::Grid));
    }
    blocks
}

fn sheet(summary: &Summary<'_>, heading: String, rows: Vec<Row>) -> Sheet<Row> {
    let of = |key| with_spread(&summary.figures, key);
    Sheet {
        labels: vec![target()],
        themes: vec![
            vec![
                Column::words("connections\naccepted", accepted).that_says_why(),
                of("accept_cost_ns_first"),
                of("accept_cost_ns_last"),
                slope_of("accept, per\nidle connection", of_accept),
                published(),
            ],
            vec![
                of("data_cost_ns_first"),
                of("data_cost_ns_last"),
                slope_of("data, per\nidle connection", of_data),
            ],
        ],
        is_joined: false,
        groups: vec![(heading, rows)],
    }
}

/// The last setting, which the others lead to.
pub(super) fn brief(summary: &Summary<'_>) -> Vec<Brief> {
    let of = |key| with_spread(&summary.figures, key);
    let last = summary.by_setting().pop();
    let brief = |(heading, rows)| Brief {
        heading: Some(heading),
        columns: vec![
            target(),
            of("accept_cost_ns_first"),
            of("accept_cost_ns_last"),
            published(),
            Column::words("connections\naccepted", accepted).that_says_why(),
            slope_of("accept, per\nidle connection", of_accept),
            of("data_cost_ns_last"),
        ],
        rows,
    };
    last.map(brief).into_iter().collect()
}

fn target() -> Column<Row> {
    Column::words("multiplexer", |row: &Row| row.target.clone())
}

fn published() -> Column<Row> {
    Column::words("published\nof accept", |row: &Row| match &row.published {
        Some(Published::Accept(published)) => published.accept.clone(),
        _ => absent(),
    })
}

fn slope_of(heading: &str, cost: PickCost) -> Column<Row> {
    let words = move |row: &Row| {
        let slope = cost(row).and_then(|(_, cost)| cost.slope.as_ref());
        slope.map_or_else(absent, slope_words)
    };
    let number = move |row: &Row| Some(cost(row)?.1.slope.as_ref()?.ns_per_connection);
    Column::words(heading, words)
        .aligned_right()
        .of_number(number)
}

/// `6.12 ns [6.05, 6.20]`.
fn slope_words(slope: &Slope) -> String {
    let [each, low, high] = [
        slope.ns_per_connection,
        slope.ns_per_connection_low,
        slope.ns_per_connection_high,
    ]
    .map(format::hundredths);
    format!("{each} ns [{low}, {high}]")
}

/// `10,000`, or `1,013 of 10,000`.
fn accepted(row: &Row) -> String {
    let mark = match row.standing {
        Standing::Qualified => "* ",
        Standing::Ranked => row.trials.mark(),
        _ => "",
    };
    match row.value("accepted").map(|accepted| accepted as u32) {
        Some(accepted) if accepted < row.connections => {
            format!("{mark}{}", format::of(accepted, row.connections))
        }
        Some(accepted) => format!("{mark}{}", exact(accepted.into())),
        None if row.standing == Standing::Partial => absent(),
        None => figure_or_reason(None, row.standing, &row.failed_checks, None),
    }
}

/// The costs along the idle connections, of the rows that have something to show.
fn curve(title: &str, rows: &[Row], cost: PickCost) -> Option<Grid> {
    let drawn = rows
        .iter()
        .filter(|row| cost(row).is_some_and(|(_, cost)| cost.cost_ns.iter().any(Option::is_some)));
    let line = |row: &Row| {
        let (_, along) = cost(row)?;
        let costs = along.cost_ns.iter();
        let costs = costs.map(|cost| (cost.map_or_else(absent, format::time_ns), row.standing));
        Some(GridLine {
            label: row.target.clone(),
            cells: costs.collect(),
        })
    };
    let (idle, _) = cost(rows.first()?)?;
    let lines: Vec<GridLine> = drawn.filter_map(line).collect();
    (!lines.is_empty()).then(|| Grid {
        title: title.to_owned(),
        label: "multiplexer".to_owned(),
        headings: idle
            .iter()
            .map(|&idle| format!("{}\nidle", exact(idle.into())))
            .collect(),
        lines,
    })
}
