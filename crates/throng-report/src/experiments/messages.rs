//! What the experiments of messages have in common, on kept connections or on one for each: columns, words, and who leads.

pub(crate) mod answer;
pub(crate) mod charts;
pub(crate) mod legend;
pub(crate) mod notes;
pub(crate) mod pages;

use crate::chart::{Chart, Drawn};
use crate::circumstances::Circumstances;
use crate::experiment::{Experiment, Section};
use crate::grid::Grid;
use crate::measured::Measured;
use crate::outcome::{against_baseline, limit_word, throughput};
use crate::ratio::Compared;
use crate::row::Row;
use crate::summary::Summary;
use crate::table::{Column, Sheet, absent, target};
use crate::view::{Block, Brief};

/// What an experiment of messages decides about its pages; all else is the same in each.
pub(crate) trait OfMessages: Measured {
    /// What was measured and how, each circumstance a phrase.
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String>;

    /// What the throughput counts.
    fn unit(&self) -> &'static str;

    /// The columns of the full tables, in themes.
    fn themes(&self, summary: &Summary<'_>) -> Vec<Vec<Column<Row>>>;

    /// Those of a screen behind the target, the weightiest first.
    fn brief(&self, summary: &Summary<'_>) -> Vec<Column<Row>>;

    /// Those of the last setting beside the overview of a sweep.
    fn costs(&self, summary: &Summary<'_>) -> Vec<Column<Row>>;

    /// What is published of a row's throughput.
    fn published_rate(&self, _row: &Row) -> Option<f64> {
        None
    }

    /// Whence the published figures are, and what is different there.
    fn sources(&self, _summary: &Summary<'_>) -> Vec<String> {
        Vec::new()
    }
}

impl<T: OfMessages> Experiment for T {
    fn circumstances(&self, asked: &Circumstances<'_>) -> Vec<String> {
        OfMessages::circumstances(self, asked)
    }

    fn unit(&self) -> &'static str {
        OfMessages::unit(self)
    }

    fn answer(&self, summary: &Summary<'_>) -> Vec<String> {
        answer::sentences(summary)
    }

    fn blocks(&self, summary: &Summary<'_>) -> Vec<Block> {
        vec![Block::Rows(Sheet {
            labels: vec![target()],
            themes: self.themes(summary),
            is_joined: true,
            groups: summary.by_setting(),
        })]
    }

    /// One table for each setting.
    fn brief(&self, summary: &Summary<'_>) -> (Vec<Brief>, Vec<Grid>) {
        let brief = |(_, rows)| Brief {
            heading: None,
            columns: std::iter::once(target())
                .chain(OfMessages::brief(self, summary))
                .collect(),
            rows,
        };
        let settings = summary.by_setting().into_iter();
        (settings.map(brief).collect(), Vec::new())
    }

    fn costs(&self, summary: &Summary<'_>) -> Vec<Column<Row>> {
        OfMessages::costs(self, summary)
    }

    fn charts(&self, drawn: &Drawn<'_>) -> Vec<Chart> {
        charts::charts(drawn, &|row| self.published_rate(row))
    }

    fn legend(&self, summary: &Summary<'_>) -> Vec<String> {
        legend::lines(summary)
    }

    fn notes_of_rows(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::of_rows(summary)
    }

    fn sections(&self, summary: &Summary<'_>) -> Vec<Section> {
        notes::sections(summary)
    }

    fn schedule(&self, summary: &Summary<'_>) -> Vec<String> {
        notes::schedule(summary)
    }

    fn sources(&self, summary: &Summary<'_>) -> Vec<String> {
        OfMessages::sources(self, summary)
    }
}

pub(crate) fn rate(summary: &Summary<'_>) -> Column<Row> {
    let compared = summary.compared();
    Column::words(summary.unit, move |row: &Row| throughput(row, compared))
        .that_says_why()
        .of_number(|row| row.value("messages_per_second"))
}

/// Left out where there is nothing to compare.
pub(crate) fn ratio(summary: &Summary<'_>) -> Column<Row> {
    let heading = match summary.compared() {
        Compared::MessagesPerSecond | Compared::CapacityPerSecond => "vs baseline",
        Compared::LatencyP99 => "p99 vs baseline",
    };
    let is_alone = summary.plan.targets.len() < 2;
    Column::words(heading, move |row: &Row| match is_alone {
        true => absent(),
        false => against_baseline(row),
    })
    .of_number(|row| Some(row.ratio_to_baseline.as_ref()?.estimate.median))
}

pub(crate) fn limit() -> Column<Row> {
    Column::words("limit", |row: &Row| {
        row.limit
            .map_or_else(absent, |limit| limit_word(limit).to_owned())
    })
}
