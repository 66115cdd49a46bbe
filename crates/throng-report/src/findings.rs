//! Findings of a run, each kind once: where it was worst, with the evidence from there, and in how many other rows it was found.
//!
//! The record says what was found in each trial; its words are those of `throng-findings`. Where no trial of a row stands, findings of its
//! invalid ones are told, and said to be: they may be why. Elsewhere invalid trials are not quoted.

use serde::Serialize;
use throng_findings::findings::{hosts, kind, words};
use throng_findings::hosts_in_words;
use throng_record::{Finding, RunRecord, Trial};

use crate::format::{exact, plural};
use crate::setting;
use crate::target;
use crate::text;
use crate::worth::may_be_quoted;

/// One kind of finding over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Found<'a> {
    /// Its evidence where it was worst.
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "crate::schema::Finding"))]
    pub worst: &'a Finding,
    /// The rows in which it was found, the worst first, then in the order of the run.
    pub places: Vec<Place<'a>>,
    /// Trials in which it was found.
    pub trials: u32,
    /// Whether none of these trials stands.
    pub is_of_invalid_trials: bool,
    /// The hosts of whose generators it tells, where other hosts generated; absent where it tells of the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub hosts: Vec<String>,
    /// What happened, in a sentence or two.
    pub happened: String,
    /// Why.
    pub cause: &'static str,
    /// What to do.
    pub remedy: String,
    /// The command that tells all of it at length.
    pub page: String,
}

/// A row of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place<'a> {
    /// Name of the target.
    pub target: &'a str,
    /// Index into the plan's settings.
    pub setting: u32,
    /// The setting in words.
    pub heading: String,
}

/// Every kind of finding in a run, in the order in which they were first found.
#[must_use]
pub fn found(record: &RunRecord) -> Vec<Found<'_>> {
    let mut kinds: Vec<(&str, Vec<(&Trial, &Finding)>)> = Vec::new();
    let quoted = |trial: &&Trial| may_be_quoted(record, trial);
    for trial in record.counted().filter(quoted) {
        for finding in &trial.findings {
            let named = kind(finding).name;
            match kinds.iter_mut().find(|(name, _)| *name == named) {
                Some((_, all)) => all.push((trial, finding)),
                None => kinds.push((named, vec![(trial, finding)])),
            }
        }
    }
    kinds
        .into_iter()
        .filter_map(|(_, all)| merged(record, all))
        .collect()
}

fn merged<'a>(record: &'a RunRecord, mut all: Vec<(&Trial, &'a Finding)>) -> Option<Found<'a>> {
    let gravity = |finding: &Finding| words(finding).gravity();
    // A stable sort keeps the order of the run among equals.
    all.sort_by(|(of_one, one), (of_other, other)| {
        let by_gravity = gravity(other).total_cmp(&gravity(one));
        of_other.stands().cmp(&of_one.stands()).then(by_gravity)
    });
    let &(first, worst) = all.first()?;
    let hosts = hosts(worst, first);
    let mut trials: Vec<(u32, u32, u32)> = Vec::new();
    let mut places: Vec<Place<'_>> = Vec::new();
    for (trial, _) in &all {
        let place = place(record, trial);
        if !places.contains(&place) {
            places.push(place);
        }
        // A trial may have two of a kind, such as a cost of accepting and one of data.
        let identity = (trial.target, trial.setting, trial.repeat);
        if !trials.contains(&identity) {
            trials.push(identity);
        }
    }
    // Behind the worst the order of the evidence says nothing that a reader could use.
    places[1..].sort_by_key(|place| place.setting);
    Some(Found {
        worst,
        places,
        trials: u32::try_from(trials.len()).unwrap_or(u32::MAX),
        is_of_invalid_trials: !first.stands(),
        happened: happened(worst, &hosts),
        hosts,
        cause: words(worst).cause(),
        remedy: words(worst).remedy(),
        page: format!("throng explain {}", kind(worst).name),
    })
}

/// In a sentence or two, and on which hosts.
fn happened(finding: &Finding, hosts: &[String]) -> String {
    let happened = words(finding).happened();
    match hosts {
        [] => happened,
        hosts => format!("on {}, {happened}", hosts_in_words(hosts)),
    }
}

/// Where a trial stands in the report.
pub(crate) fn place<'a>(record: &'a RunRecord, trial: &Trial) -> Place<'a> {
    let setting = record.plan.settings.get(trial.setting as usize);
    Place {
        target: target::name(&record.plan, trial.target),
        setting: trial.setting,
        heading: setting.map_or_else(|| "unknown setting".to_owned(), setting::heading),
    }
}

impl Found<'_> {
    /// All of it in a few sentences.
    #[must_use]
    pub fn sentences(&self) -> String {
        let Self {
            happened,
            cause,
            remedy,
            page,
            ..
        } = self;
        format!(
            "{}: {happened} Cause: {cause} Remedy: {remedy} More: {page}.",
            self.title_and_place(),
        )
    }

    /// The same in a line or two.
    pub(crate) fn headline(&self) -> String {
        let happened = text::first_clause(&self.happened);
        format!("{}: {happened}.", self.title_and_place())
    }

    /// What it is called, where it was worst, and how often it was found.
    pub(crate) fn title_and_place(&self) -> String {
        let title = kind(self.worst).title;
        let place = match self.places.first() {
            Some(Place {
                target, heading, ..
            }) => format!("{target} at {heading}"),
            None => "unknown".to_owned(),
        };
        let others = match (self.places.len(), self.trials) {
            (1, 1) => String::new(),
            (1, trials) => format!(" ({})", plural(trials.into(), "trial")),
            (rows, trials) => format!(
                " (the worst of {} rows, {})",
                exact(rows as u64),
                plural(trials.into(), "trial")
            ),
        };
        let invalid = if self.is_of_invalid_trials {
            " (of invalid trials)"
        } else {
            ""
        };
        format!("{title}, {place}{others}{invalid}")
    }
}
