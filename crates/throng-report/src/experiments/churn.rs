//! How many cycles of connect, request, reply and close a second? The churn experiment: ranked as messages on kept connections are.

use throng_record::{Closing, Plan};

use crate::circumstances::Circumstances;
use crate::experiments::messages::{OfMessages, limit, rate, ratio};
use crate::failures;
use crate::figure::Figure;
use crate::format::{self, plural};
use crate::leading::{Leading, by_pacing};
use crate::measured::Measured;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, absent, figure};

/// The experiment.
pub(crate) struct Churn;

impl Measured for Churn {
    fn leading(&self, plan: &Plan) -> Leading {
        Leading::Compared(by_pacing(plan))
    }
}

impl OfMessages for Churn {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        let mut phrases = vec![clients(asked)];
        phrases.extend(asked.paced());
        phrases
    }

    fn unit(&self) -> &'static str {
        "cycles/s"
    }

    fn themes(&self, summary: &Summary<'_>) -> Vec<Vec<Column<Row>>> {
        let of = |key| figure(&summary.figures, key);
        vec![
            vec![rate(summary), ratio(summary), limit()],
            ["latency_ns_p50", "latency_ns_p99"].map(of).to_vec(),
            ["connect_latency_ns_p50", "connect_latency_ns_p99"]
                .map(of)
                .to_vec(),
            ["first_byte_latency_ns_p50", "first_byte_latency_ns_p99"]
                .map(of)
                .to_vec(),
            vec![cpu(&summary.figures), time_wait(), failed()],
        ]
    }

    fn brief(&self, summary: &Summary<'_>) -> Vec<Column<Row>> {
        let of = |key| figure(&summary.figures, key);
        vec![
            rate(summary),
            of("latency_ns_p50"),
            of("latency_ns_p99"),
            cpu(&summary.figures),
            limit(),
            ratio(summary),
            of("connect_latency_ns_p99"),
            of("first_byte_latency_ns_p99"),
            failed(),
        ]
    }

    fn costs(&self, summary: &Summary<'_>) -> Vec<Column<Row>> {
        let figures = &summary.figures;
        vec![figure(figures, "latency_ns_p99"), cpu(figures)]
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

fn cpu(figures: &[Figure]) -> Column<Row> {
    figure(figures, "server_cpu_per_message_ns").headed("server CPU\n/cycle")
}

fn failed() -> Column<Row> {
    Column::words("failed", |row: &Row| failures::of_row(row).words())
}

/// With a word where there was no room for more.
fn time_wait() -> Column<Row> {
    let words = |row: &Row| {
        let is_full = row.value("time_wait_overflows") > Some(0.0);
        row.value("time_wait_sockets")
            .map_or_else(absent, |sockets| {
                let word = if is_full { "\nfull" } else { "" };
                format!("{}{word}", format::exact(sockets.round() as u64))
            })
    };
    Column::words("TIME_WAIT\nleft", words).aligned_right()
}
