//! What every figure is: a text for each, and the page with all of them.

use throng_record::PhaseName;
use throng_report::figure::Figure;
use throng_report::figures;
use throng_report::unit::{Better, Unit};

const HEAD: &str = "\
# Figures

Every number of a report has a name, which is the same in CSV, in JSON and here; `throng explain NAME` says what it is. This page is made from the program.

A run has the figures of the phases that its experiment consists of, and those of the trial as a whole. A trial has a figure or has not: an absent one was not measured, and is never 0. A row of a report has the
median of its trials; of latencies the percentile of all of them together; of failures the sum.
";

/// The name of a figure and its text; one that several phases have is told once.
pub(super) fn texts() -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for (phase, figures) in figures::all() {
        for figure in figures {
            if !texts.iter().any(|(key, _)| *key == figure.key) {
                texts.push((figure.key.to_string(), text(phase, &figure)));
            }
        }
    }
    texts
}

fn text(phase: Option<PhaseName>, figure: &Figure) -> String {
    let of = match phase {
        Some(phase) => format!("of the phase `{}`", phase.name()),
        None => "of a trial as a whole".to_owned(),
    };
    let better = match better(figure.better) {
        "" => String::new(),
        word => format!(", {word} is better"),
    };
    let Figure { key, sentence, .. } = figure;
    let unit = unit(figure.unit);
    format!("# {key}\n\n{sentence}\n\nA figure {of}, in {unit}{better}.")
}

/// `docs/figures.md`.
pub(crate) fn page() -> String {
    let mut page = HEAD.to_owned();
    for (phase, figures) in figures::all() {
        page += &match phase {
            Some(phase) => format!("\n## The phase `{}`\n\n", phase.name()),
            None => "\n## The whole trial\n\n".to_owned(),
        };
        let costs = phase.map(figures::of_cost).unwrap_or_default();
        let is_cost = |figure: &Figure| costs.iter().any(|cost| cost.key == figure.key);
        let own: Vec<Figure> = figures.into_iter().filter(|one| !is_cost(one)).collect();
        page += &table(&own);
    }
    let costs = figures::of_cost(PhaseName::Connect);
    page + "\n## What a phase cost\n\nHere of `connect`; every other phase has the same under its own name.\n\n"
        + &table(&costs)
}

fn table(figures: &[Figure]) -> String {
    let mut table = "| figure | in | better | what it says |\n|---|---|---|---|\n".to_owned();
    for family in families(figures) {
        table += &family.line();
    }
    table
}

/// Figures that differ only in the point of the distribution, or a single one.
struct Family<'a> {
    first: &'a Figure,
    stem: &'a str,
    quantiles: Vec<&'a str>,
}

impl Family<'_> {
    fn line(&self) -> String {
        let Self {
            first,
            stem,
            quantiles,
        } = self;
        let (names, sentence) = match quantiles[..] {
            [] => (format!("`{stem}`"), first.sentence.as_ref()),
            [one] => (format!("`{stem}{one}`"), first.sentence.as_ref()),
            [one, ref others @ ..] => {
                let others = others.iter().map(|one| format!(", `…{one}`"));
                let (sentence, _) = first.sentence.rsplit_once(": ").unwrap_or_default();
                (
                    format!("`{stem}{one}`{}", others.collect::<String>()),
                    sentence,
                )
            }
        };
        format!(
            "| {names} | {} | {} | {}. |\n",
            unit(first.unit),
            better(first.better),
            sentence.trim_end_matches('.'),
        )
    }
}

fn families(figures: &[Figure]) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for figure in figures {
        let (stem, quantile) = (figure.stem(), figure.quantile());
        match families.last_mut().filter(|last| last.stem == stem) {
            Some(last) => last.quantiles.extend(quantile),
            None => families.push(Family {
                first: figure,
                stem,
                quantiles: quantile.into_iter().collect(),
            }),
        }
    }
    families
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::PerSecond => "events per second",
        Unit::Share => "parts of 1",
        Unit::Times => "times",
        Unit::Count => "number",
        Unit::Index => "index from 0",
    }
}

fn better(better: Better) -> &'static str {
    match better {
        Better::Less => "less",
        Better::More => "more",
        Better::Neither => "",
    }
}
