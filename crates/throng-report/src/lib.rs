//! A stored run as something to read: a terminal table, a page with charts, Markdown, CSV or JSON.
//!
//! Reporting only reads the record: it opens no socket, reads no clock and asks no terminal, so that the same run gives the
//! same report anywhere and at any time. The caller says how wide the page is and whether it may be coloured, and prints.
//!
//! **From the record to rows.** A [`figure`] is a value: what a number is called, its [`unit`](mod@unit), what it says, how it comes out of a trial and out of a row's
//! trials. [`figures`] has them all, by the kind of phase that measures them. [`row`] makes one row for each target and setting, of whichever experiment, with
//! all figures of its plan; `measured` is what the experiment decides about it, [`median`] and [`ratio`] are the statistics, `ranking` the order, and
//! [`detail`] is what is no single figure (curves, tenths, slabs). [`summary`] holds rows and all that explains them: [`checks`] as remarks, [`findings`],
//! [`slowest`] requests.
//!
//! **From rows to pages.** An experiment is a folder of [`experiments`]: the sentences of its answer, its columns (mostly the keys of figures), how to read them,
//! and what is published. `experiment` is what each of them answers; `table` is what columns are made from, `grid` a table whose columns the run decides, `overview`
//! the table of a sweep, `chart` what is drawn, `view` the parts of a report in their order, `context` what stands above the tables and `notes` what stands below. `terminal`, `html`,
//! `markdown` and `csv` are the renderers, and know no experiment; `hdr_log` and [`hgrm`] are for other programs.
//!
//! **From rows to verdicts.** A [`gate`] is a condition on a figure under which a run fails a build; [`compare`] sets runs beside each other.
#![forbid(unsafe_code)]

mod answer;
mod chart;
pub mod checks;
mod circumstances;
pub mod compare;
mod context;
mod cost;
mod csv;
pub mod detail;
mod disturbed;
mod experiment;
pub mod experiments;
mod fact;
mod failures;
pub mod figure;
pub mod figures;
pub mod findings;
pub mod format;
pub mod gate;
mod grid;
mod hdr_log;
pub mod hgrm;
pub mod hosts;
mod html;
mod leading;
mod legend;
mod listener;
mod markdown;
mod measured;
pub mod median;
mod merge;
mod notes;
mod outcome;
mod overview;
pub mod phases;
pub mod published;
mod ranking;
pub mod rate;
pub mod ratio;
pub mod reference;
pub mod row;
pub mod schema;
pub mod setting;
pub mod slowest;
pub mod standing;
mod stop;
pub mod summary;
mod table;
mod target;
mod terminal;
mod text;
pub mod unit;
mod view;
mod worth;

pub use summary::Summary;
use throng_record::RunRecord;

/// In which form a run is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables to look at.
    Terminal,
    /// One page with charts and tables, for a browser.
    Html,
    /// The same tables as GitHub Markdown, with the run's circumstances above them.
    Markdown,
    /// One line for each trial, units in the column names.
    Csv,
    /// One line for each figure of each trial.
    CsvTidy,
    /// The summary behind the tables, for programs.
    Json,
    /// The latencies of each trial, for the tools of `HdrHistogram`.
    HdrLog,
    /// The percentiles of each row, for `hdr-plot`: files, see [`hgrm::files`]; as one text these one after another.
    Hgrm,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 8] = [
        Self::Terminal,
        Self::Html,
        Self::Markdown,
        Self::Csv,
        Self::CsvTidy,
        Self::Json,
        Self::HdrLog,
        Self::Hgrm,
    ];

    /// The name used by flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Csv => "csv",
            Self::CsvTidy => "csv-tidy",
            Self::Json => "json",
            Self::HdrLog => "hdr-log",
            Self::Hgrm => "hgrm",
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

/// The page of a comparison of these runs, or of these targets of the only one: both in each chart.
#[must_use]
pub fn page_of_comparison(
    comparison: &compare::Comparison,
    runs: &[compare::Named<'_>],
    targets: &[String],
) -> String {
    html::compare(comparison, runs, targets)
}

/// The report of a run, ending in a newline.
#[must_use]
pub fn render(record: &RunRecord, format: Format, options: &Options) -> String {
    match format {
        Format::Terminal => terminal::render(&Summary::of(record), options),
        Format::Html => html::render(record),
        Format::Markdown => markdown::render(&Summary::of(record)),
        Format::Csv => csv::wide(record),
        Format::CsvTidy => csv::tidy(record),
        Format::HdrLog => hdr_log::render(record),
        Format::Hgrm => match &hgrm::files(record)[..] {
            [] => "# no latencies\n".to_owned(),
            files => files.iter().map(|(_, text)| text.as_str()).collect(),
        },
        Format::Json => {
            let mut text = serde_json::to_string_pretty(&Summary::of(record))
                .expect("a summary holds nothing that JSON cannot");
            text.push('\n');
            text
        }
    }
}
