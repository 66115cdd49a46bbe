//! What stands below the tables: how to read them, and what to keep in mind. Each note appears only where it applies.
//!
//! A user/system split of the CPU time is counted in ticks, and told only where there is so much of it that a tick is nothing.

use crate::disturbed;
use crate::experiment::Section;
use crate::experiments;
use crate::findings::Found;
use crate::format::{self, exact, plural};
use crate::hosts;
use crate::slowest::SlowRequest;
use crate::summary::{Summary, Unseen};

/// The title of the section of findings.
pub(crate) const FINDINGS: &str = "Findings";

/// Everything below the tables, each section with its title; those with nothing to say are left out.
pub(crate) fn sections(summary: &Summary<'_>) -> Vec<Section> {
    let experiment = experiments::of(summary.plan.experiment);
    let found = summary.findings.iter().map(Found::sentences);
    let slowest = summary.slowest.iter().map(SlowRequest::line);
    let mut sections = vec![
        (FINDINGS, found.collect()),
        (
            "Slowest requests, and where their time went",
            slowest.collect(),
        ),
        ("Stopped early", experiment.stopped(summary)),
    ];
    sections.extend(experiment.sections(summary));
    sections.extend([
        ("Left out", left_out(summary)),
        ("Not seen", unseen(summary)),
        ("Checks", checks(summary)),
        ("Schedule", experiment.schedule(summary)),
        ("Published figures", experiment.sources(summary)),
        ("How to read this", how_to_read(summary)),
    ]);
    sections.retain(|(_, notes)| !notes.is_empty());
    sections
}

/// What is to be kept in mind, a line each.
pub(crate) fn doubts(summary: &Summary<'_>) -> Vec<String> {
    let remarks = summary.remarks.iter().map(|remark| remark.headline());
    let disturbed = summary.disturbed.as_ref();
    let disturbed = disturbed.map(|some| some.headline(summary.trials_made));
    let left_out = summary.plan.left_out.iter();
    let left_out = left_out.map(|one| format!("{} left out: {}", one.name, one.why));
    remarks.chain(disturbed).chain(left_out).collect()
}

fn how_to_read(summary: &Summary<'_>) -> Vec<String> {
    let mut lines = experiments::of(summary.plan.experiment).legend(summary);
    let is_disturbed = summary.disturbed.is_some();
    lines.extend(is_disturbed.then(|| disturbed::LEGEND.to_owned()));
    lines.extend(hosts::legend(summary));
    lines
}

/// What was asked for and cannot run on the machine.
fn left_out(summary: &Summary<'_>) -> Vec<String> {
    let left_out = summary.plan.left_out.iter();
    left_out
        .map(|one| format!("{}: {}", one.name, one.why))
        .collect()
}

/// Each reason once, and in how many trials it held.
fn unseen(summary: &Summary<'_>) -> Vec<String> {
    let line = |unseen: &Unseen<'_>| {
        let trials = plural(unseen.trials.into(), "trial");
        format!("{} ({trials})", unseen.reason)
    };
    summary.unseen.iter().map(line).collect()
}

/// What the checks say of this run, the weightiest first.
fn checks(summary: &Summary<'_>) -> Vec<String> {
    let mut notes: Vec<String> = summary
        .remarks
        .iter()
        .map(|remark| remark.sentence())
        .collect();
    let disturbed = summary.disturbed.as_ref();
    notes.extend(disturbed.map(|some| some.sentence(summary.trials_made)));
    let experiment = experiments::of(summary.plan.experiment);
    notes.extend(experiment.notes_of_rows(summary));
    let partial: u32 = summary.rows.iter().map(|row| row.trials.partial).sum();
    let judged = summary.trials_made - partial;
    notes.extend(held_to_one_cpu(summary));
    if summary.remarks.is_empty() && disturbed.is_none() && judged > 0 {
        notes.insert(
            0,
            match judged {
                1 if partial == 0 => "The trial passed every check.".to_owned(),
                made if partial == 0 => {
                    format!("All {} trials passed every check.", exact(made.into()))
                }
                made => format!(
                    "{} of {} trials passed every check; in the other {} {}.",
                    exact(made.into()),
                    exact(summary.trials_made.into()),
                    exact(partial.into()),
                    experiment.partial()
                ),
            },
        );
    }
    notes
}

/// Models with a loop for each CPU that got one CPU: their figures say nothing of what they were made for.
fn held_to_one_cpu(summary: &Summary<'_>) -> Option<String> {
    if summary.held_to_one_cpu.is_empty() {
        return None;
    }
    let names: Vec<String> = summary
        .held_to_one_cpu
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    Some(format!(
        "Held to one CPU, and so to one loop: {}. Given more CPUs they have more: on a machine with four, --cpus 0-2:3.",
        format::list(&names)
    ))
}
