//! The report as one page that opens offline: the answer, what explains it, charts, tables, and how it was measured.
//!
//! The template escapes all that comes from commands, servers and plans; nothing of it is markup. Charts are described as data, which Plotly's script, embedded in the
//! page, draws when they come into view: a page of hundreds opens as soon as one of ten.

mod plot;
mod tables;

use std::sync::LazyLock;

use askama::Template;
use serde_json::Value;
use throng_record::RunRecord;

use crate::chart::{Chart, Drawn};
use crate::compare::{Comparison, Named, charts};
use crate::context;
use crate::experiments;
use crate::findings::Found;
use crate::hosts;
use crate::notes;
use crate::summary::Summary;
use tables::Table;

/// What every page has.
struct Head {
    title: String,
    /// By the names of charts: their views as Plotly takes them.
    plots: String,
    style: &'static str,
    script: &'static str,
    plotly: &'static str,
}

/// The page of a run.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    head: Head,
    /// What was measured, how much of it, and when.
    measured: String,
    warning: Option<String>,
    answer: &'a [String],
    findings: Vec<Finding<'a>>,
    doubts: Vec<String>,
    charts: Vec<Chart>,
    tables: Vec<Table>,
    circumstances: Vec<(&'static str, String)>,
    sections: Vec<(&'static str, Vec<String>)>,
}

/// The page of a comparison.
#[derive(Template)]
#[template(path = "compare.html")]
struct ComparisonPage<'a> {
    head: Head,
    sentence: String,
    cautions: &'a [String],
    charts: Vec<Chart>,
    tables: Vec<Table>,
    unmatched: &'a [String],
}

/// A finding in its parts.
struct Finding<'a> {
    title: String,
    happened: &'a str,
    cause: &'a str,
    remedy: &'a str,
    page: &'a str,
}

/// The whole page, ending in a newline.
pub(crate) fn render(record: &RunRecord) -> String {
    let summary = &Summary::of(record);
    let experiment = experiments::of(record.plan.experiment);
    let drawn = Drawn {
        record,
        summary,
        measured: experiment,
    };
    let charts = match context::has_no_figures(summary) {
        true => Vec::new(),
        false => experiment.charts(&drawn),
    };
    let mut measured = context::measurement(summary.plan);
    measured.extend(context::run(summary).pop());
    let mut sections = notes::sections(summary);
    // They stand above, in their parts.
    sections.retain(|(title, _)| *title != notes::FINDINGS);
    let page = Page {
        head: Head::new(context::title(summary), &charts),
        measured: measured.join(" · "),
        warning: context::cut_short(summary),
        answer: &summary.answer,
        findings: summary.findings.iter().map(finding).collect(),
        doubts: notes::doubts(summary),
        charts,
        tables: tables::of(summary),
        circumstances: circumstances(summary),
        sections,
    };
    rendered(&page)
}

/// Each with its title.
fn circumstances(summary: &Summary<'_>) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("Arrangement", context::arrangement(summary)),
        ("Machine", context::machine(summary)),
        ("Load", hosts::circumstances(summary)),
        ("Run", context::run(summary)),
    ];
    all.retain(|(_, phrases)| !phrases.is_empty());
    let all = all.into_iter();
    all.map(|(title, phrases)| (title, phrases.join(" · ")))
        .collect()
}

/// Runs, or targets, in the same charts; ends in a newline.
pub(crate) fn compare(comparison: &Comparison, runs: &[Named<'_>], targets: &[String]) -> String {
    let charts = charts::of(comparison, runs, targets);
    rendered(&ComparisonPage {
        head: Head::new(comparison.title(), &charts),
        sentence: comparison.sentence(),
        cautions: &comparison.cautions,
        charts,
        tables: tables::of_comparison(comparison),
        unmatched: &comparison.unmatched,
    })
}

fn rendered(page: &impl Template) -> String {
    let mut text = page.render().expect("writing to memory does not fail");
    text.push('\n');
    text
}

impl Head {
    fn new(title: String, charts: &[Chart]) -> Self {
        Self {
            title,
            plots: plots(charts),
            style: include_str!("../templates/page.css"),
            script: include_str!("../templates/page.js"),
            plotly: plotly(),
        }
    }
}

fn finding<'a>(found: &'a Found<'_>) -> Finding<'a> {
    Finding {
        title: found.title_and_place(),
        happened: &found.happened,
        cause: found.cause,
        remedy: &found.remedy,
        page: &found.page,
    }
}

/// As JSON that no text in it can end early: `<` stands only in strings, where an escape says the same.
fn plots(charts: &[Chart]) -> String {
    let plots = charts.iter().map(|chart| {
        let views: Vec<Value> = chart.views.iter().map(plot::of_view).collect();
        (chart.name.to_owned(), Value::Array(views))
    });
    let plots: serde_json::Map<String, Value> = plots.collect();
    Value::Object(plots).to_string().replace('<', "\\u003c")
}

/// The script that draws, of those that the crate has: what it has for formulas is as large again.
fn plotly() -> &'static str {
    static SCRIPT: LazyLock<String> = LazyLock::new(|| {
        let all = plotly::Plot::offline_js_sources();
        let end = "</script>";
        let length = all.find(end).map_or(all.len(), |at| at + end.len());
        all[..length].to_owned()
    });
    &SCRIPT
}
