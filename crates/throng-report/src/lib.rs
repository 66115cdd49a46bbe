//! A stored run as something to read: a terminal table, Markdown, CSV or JSON.
//!
//! Reporting only reads the record: it opens no socket, reads no clock and asks no terminal, so that the same run gives the
//! same report anywhere and at any time. The caller says how wide the page is and whether it may be coloured, and prints.
//!
//! One concept, one file: [`median`] and [`ratio`] are the statistics, [`summary`] turns a run into rows (those of the echo experiment by `row`, of the backlog experiment by
//! [`backlog`], of the accept experiment by [`accept`], of the experiments with many connections by [`fanout`] and [`hold`] on the ground of [`crowd`], with the table of their [`phases`]; the published echo servers by [`languages`]), [`checks`] into remarks, [`findings`] and [`slowest`] into explanations, [`format`](mod@format) figures and [`setting`] settings into words; [`published`] is what stands beside; `columns` is what a
//! table is made from, `grid` a table whose columns the run decides, `overview` the table of a sweep, `context` what stands above a table and `notes` what stands below; `terminal`, `markdown` and `csv` are the renderers.
#![forbid(unsafe_code)]

pub mod accept;
mod answer;
pub mod backlog;
pub mod checks;
mod columns;
mod context;
pub mod crowd;
mod csv;
mod disturbed;
pub mod fanout;
pub mod findings;
pub mod format;
mod grid;
pub mod hold;
pub mod languages;
mod markdown;
pub mod median;
mod merge;
mod notes;
mod overview;
pub mod phases;
pub mod published;
pub mod rate;
pub mod ratio;
mod row;
pub mod setting;
pub mod slowest;
pub mod summary;
mod terminal;
mod text;
mod worth;

pub use summary::Summary;
use throng_record::RunRecord;

/// In which form a run is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables to look at.
    Terminal,
    /// The same tables as GitHub Markdown, with the run's circumstances above them.
    Markdown,
    /// One line for each trial, units in the column names.
    Csv,
    /// The summary behind the tables, for programs.
    Json,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Terminal, Self::Markdown, Self::Csv, Self::Json];

    /// The name used by flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Markdown => "markdown",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

/// What the caller knows of the place where the report will be read. Only [`Format::Terminal`] heeds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal; `None` (a pipe, a file): as wide as the tables are.
    pub width: Option<u16>,
    /// Whether colour may be used. It only repeats what the text says.
    pub colour: bool,
    /// Everything there is to say, rather than what fits a screen.
    pub is_full: bool,
}

/// The report of a run, ending in a newline.
#[must_use]
pub fn render(record: &RunRecord, format: Format, options: &Options) -> String {
    match format {
        Format::Terminal => terminal::render(&Summary::of(record), options),
        Format::Markdown => markdown::render(&Summary::of(record)),
        Format::Csv => csv::render(record),
        Format::Json => {
            let mut text = serde_json::to_string_pretty(&Summary::of(record))
                .expect("a summary holds nothing that JSON cannot");
            text.push('\n');
            text
        }
    }
}
