//! How many cycles of connect, request, reply and close a second? The churn experiment: ranked as messages on kept connections are.

use throng_record::{Closing, Plan};

use crate::circumstances::Circumstances;
use crate::experiment::{Experiment, Section};
use crate::experiments::messages::{self, limit, one_for_each, rate, ratio};
use crate::failures;
use crate::figure::Figure;
use crate::format::{self, plural};
use crate::grid::Grid;
use crate::leading::{Leading, by_pacing};
use crate::measured::Measured;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, Sheet, absent, figure, target};
use crate::view::{Block, Brief};

/// The experiment.
pub(crate) struct Churn;

impl Measured for Churn {
    fn leading(&self, plan: &Plan) -> Leading {
        Leading::Compared(by_pacing(plan))
    }
}

impl Experiment for Churn {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        let mut phrases = vec![clients(asked)];
        phrases.extend(asked.paced());
        phrases
    }

    fn unit(&self) -> &'static str {
        "cycles/s"
    }

    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        messages::answer::sentences(summary)
    }

    fn blocks(&self, summary: &Summary<'_>) -> Vec<Block> {
        blocks(summary)
    }

    fn brief(&self, summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
        (brief(summary), Vec::new())
    }

    fn costs(&self, summary: &Summary<'_>) -> Vec<Column<Row>> {
        costs(summary)
    }

    fn legend(&self, summary: &Summary<'_>) -> Vec<String> {
        messages::legend::lines(summary)
    }

    fn notes_of_rows(&self, summary: &Summary<'_>) -> Vec<String> {
        messages::notes::of_rows(summary)
    }

    fn sections(&self, summary: &Summary<'_>) -> Vec<Section> {
        messages::notes::sections(summary)
    }

    fn schedule(&self, summary: &Summary<'_>) -> Vec<String> {
        messages::notes::schedule(summary)
    }
}

/// Who asks, and how a connection ends.
fn clients(asked: &Circumstances<'_>) -> String {
    let clients = match asked.swept("clients") {
        Some(numbers) => format!("{numbers} clients"),
        None => plural(asked.setting.connections.into(), "client"),
    };
    let closing = asked.or_swept("closing", || match asked.setting.closing {
        Closing::Fin => "FIN".to_owned(),
        Closing::Reset => "RST".to_owned(),
    });
    format!("{clients}, each request on a connection of its own, closing by {closing}")
}

fn blocks(summary: &Summary<'_>) -> Vec<Block> {
    let of = |key| figure(&summary.figures, key);
    vec![Block::Rows(Sheet {
        labels: vec![target()],
        themes: vec![
            vec![rate(summary, summary.unit), ratio(summary), limit()],
            ["latency_ns_p50", "latency_ns_p99"].map(of).to_vec(),
            ["connect_latency_ns_p50", "connect_latency_ns_p99"]
                .map(of)
                .to_vec(),
            ["first_byte_latency_ns_p50", "first_byte_latency_ns_p99"]
                .map(of)
                .to_vec(),
            vec![cpu(&summary.figures), time_wait(), failed()],
        ],
        is_joined: true,
        groups: summary.by_setting(),
    })]
}

/// One table for each setting.
fn brief(summary: &Summary<'_>) -> Vec<Brief> {
    let of = |key| figure(&summary.figures, key);
    let columns = || {
        vec![
            target(),
            rate(summary, summary.unit),
            of("latency_ns_p50"),
            of("latency_ns_p99"),
            cpu(&summary.figures),
            limit(),
            ratio(summary),
            of("connect_latency_ns_p99"),
            of("first_byte_latency_ns_p99"),
            failed(),
        ]
    };
    one_for_each(summary.by_setting(), columns)
}

/// What the last setting of a sweep cost.
fn costs(summary: &Summary<'_>) -> Vec<Column<Row>> {
    let figures = &summary.figures;
    vec![figure(figures, "latency_ns_p99"), cpu(figures)]
}

fn cpu(figures: &[Figure]) -> Column<Row> {
    figure(figures, "server_cpu_per_message_ns").headed("server CPU\n/cycle")
}

fn failed() -> Column<Row> {
    Column::words("failed", |row: &Row| failures::of_row(row).words())
}

/// With a word where there was no room for more. Fewer than before: sockets of others are counted too, and nothing can be told.
fn time_wait() -> Column<Row> {
    let words = |row: &Row| {
        let is_full = row.value("time_wait_overflows") > Some(0.0);
        let sockets = row
            .value("time_wait_sockets")
            .filter(|&sockets| sockets >= 0.0);
        sockets.map_or_else(absent, |sockets| {
            let word = if is_full { "\nfull" } else { "" };
            format!("{}{word}", format::exact(sockets.round() as u64))
        })
    };
    Column::words("TIME_WAIT\nleft", words).aligned_right()
}
