//! What is the greatest rate at which bounds on latency hold, and how does latency grow up to it? A row for each target at each setting: the rate that the repeats of its search found,
//! with figures of the probes at that rate; then the curve of latency over the rate, beside that of a single queue.

mod answer;
mod charts;
mod notes;
pub mod queue;
pub mod searched;
mod tables;

use throng_record::{Pacing, Plan, SearchSpec};

use crate::chart::{Chart, Drawn};
use crate::circumstances::Circumstances;
use crate::detail::Detail;
use crate::experiment::{Experiment, Section};
use crate::format::setting_ns;
use crate::grid::Grid;
use crate::leading::Leading;
use crate::measured::{CellShown, Measured};
use crate::ratio::Compared;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, figure};
use crate::view::{Block, Brief};
use searched::Searched;

/// The experiment.
pub(crate) struct Capacity;

impl Measured for Capacity {
    fn leading(&self, _: &Plan) -> Leading {
        Leading::Compared(Compared::CapacityPerSecond)
    }

    fn detail(&self, cell: &CellShown<'_>) -> Option<Detail> {
        searched::of(cell).map(|found| Detail::Capacity(Box::new(found)))
    }
}

impl Experiment for Capacity {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        circumstances(asked)
    }

    fn unit(&self) -> &'static str {
        "messages/s"
    }

    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        answer::sentences(summary)
    }

    fn blocks(&self, summary: &Summary<'_>) -> Vec<Block> {
        tables::blocks(summary)
    }

    fn brief(&self, summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
        tables::brief(summary)
    }

    fn costs(&self, summary: &Summary<'_>) -> Vec<Column<Row>> {
        let of = |key| figure(&summary.figures, key);
        vec![of("latency_ns_p50"), of("server_cpu_per_message_ns")]
    }

    fn charts(&self, drawn: &Drawn<'_>) -> Vec<Chart> {
        charts::charts(drawn)
    }

    fn legend(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::legend(summary)
    }

    fn notes_of_rows(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::of_rows(summary)
    }

    fn sections(&self, summary: &Summary<'_>) -> Vec<Section> {
        vec![("What queueing explains", notes::queueing(summary))]
    }
}

/// What was asked for.
pub(super) fn spec<'a>(summary: &'a Summary<'_>) -> Option<&'a SearchSpec> {
    summary.plan.search.as_ref()
}

/// The search behind a row.
pub(super) fn searched(row: &Row) -> Option<&Searched> {
    match &row.detail {
        Some(Detail::Capacity(found)) => Some(found),
        _ => None,
    }
}

fn circumstances(asked: &Circumstances<'_>) -> Vec<String> {
    let mut phrases: Vec<String> = asked.protocol().into_iter().collect();
    phrases.push(asked.connections());
    if asked.setting.phases.is_of_requests() && asked.swept("reuse").is_none() {
        phrases.push("each request on a connection of its own".to_owned());
    }
    if let Some(spec) = &asked.plan.search {
        let arrivals = asked
            .setting
            .phases
            .exchange()
            .map(|exchange| &exchange.pacing);
        if let Some(Pacing::Open { arrivals, .. }) = arrivals {
            phrases.push(format!(
                "open loops with {} gaps, each probe as long as its quantiles need ({} at most)",
                asked.gaps(*arrivals),
                setting_ns(spec.duration_max_ns)
            ));
        }
        phrases.push(format!(
            "bounds: {}; searched until the interval is within {} % or {} are over",
            spec.bounds.join(" and "),
            (spec.within * 1e4).round() / 100.0,
            setting_ns(spec.time_limit_ns)
        ));
    }
    phrases
}
