//! Disturbed trials: how many there were, by what, and which rows have no other. One line for all of them.

use std::collections::BTreeMap;

use serde::Serialize;
use throng_findings::checks;
use throng_record::{CheckKind, CheckResult, RunRecord, Trial};

use crate::checks::some_of;
use crate::format::{self, exact, plural};
use crate::setting;
use crate::target;

/// What disturbed the trials of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Disturbed {
    /// Trials whose figures stand and are those of a disturbed machine.
    pub trials: u32,
    /// Trials that were made again, and do not count.
    pub trials_superseded: u32,
    /// What disturbed them.
    pub by: Vec<By>,
    /// Rows that have no undisturbed trial: `poll at 100 connections`.
    pub rows_without_another: Vec<String>,
}

/// One kind of disturbance.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct By {
    /// The check that tells of it.
    #[cfg_attr(test, schemars(with = "crate::schema::CheckKind"))]
    pub check: CheckKind,
    /// Trials that had it.
    pub trials: u32,
    /// The worst of them: a share of the CPUs' time, or of the rate.
    pub share_max: f64,
}

/// `None` where no trial that counts was disturbed.
pub(crate) fn of(record: &RunRecord) -> Option<Disturbed> {
    let standing = || record.counted().filter(|trial| trial.stands());
    let disturbed: Vec<&Trial> = standing().filter(|trial| trial.is_disturbed()).collect();
    if disturbed.is_empty() {
        return None;
    }
    let mut by: BTreeMap<CheckKind, By> = BTreeMap::new();
    let checks = disturbed.iter().flat_map(|trial| &trial.checks);
    for check in checks.filter(|check| check.result == CheckResult::Disturbed) {
        let of_kind = by.entry(check.kind).or_insert(By {
            check: check.kind,
            trials: 0,
            share_max: 0.0,
        });
        of_kind.trials += 1;
        of_kind.share_max = of_kind.share_max.max(check.measured.unwrap_or(0.0).abs());
    }
    let mut rows: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    for trial in standing() {
        let has_another = rows.entry((trial.setting, trial.target)).or_default();
        *has_another |= !trial.is_disturbed();
    }
    let without = rows.into_iter().filter(|(_, has_another)| !has_another);
    let superseded = record.trials.len() - record.counted().count();
    Some(Disturbed {
        trials: number(disturbed.len()),
        trials_superseded: number(superseded),
        by: by.into_values().collect(),
        rows_without_another: without.map(|(row, _)| name(record, row)).collect(),
    })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A damaged record may lack the setting.
fn name(record: &RunRecord, (setting, target): (u32, u32)) -> String {
    let heading = record.plan.settings.get(setting as usize);
    let heading = heading.map_or_else(|| "unknown setting".to_owned(), setting::heading);
    format!("{} at {heading}", target::name(&record.plan, target))
}

impl Disturbed {
    /// All of it in a few sentences. `trials_made`: of the run, those made again not counted.
    pub(crate) fn sentence(&self, trials_made: u32) -> String {
        let again = match self.trials_superseded {
            0 => String::new(),
            1 => " 1 more is left out, being repeated since.".to_owned(),
            number => format!(
                " {} more are left out, being repeated since.",
                exact(number.into())
            ),
        };
        let rows = match self.rows_without_another.as_slice() {
            [] => String::new(),
            rows => format!(
                " No undisturbed trial of {}.",
                some_of(rows.iter().cloned())
            ),
        };
        format!(
            "{} Figures marked ~ are those of a slower machine.{again}{rows} A quieter machine or more --patience gives better ones.",
            self.how_many_by_what(trials_made)
        )
    }

    /// The same in a line or two.
    pub(crate) fn headline(&self, trials_made: u32) -> String {
        format!("~ {}", self.how_many_by_what(trials_made))
    }

    fn how_many_by_what(&self, trials_made: u32) -> String {
        let by = self.by.iter().map(|by| {
            let share = format::ratio(by.share_max * 100.0);
            let name = match by.check {
                CheckKind::Steal => "CPU time stolen by the hypervisor",
                kind => checks::kind(kind).title,
            };
            let trials = plural(by.trials.into(), "trial");
            format!("{name} ({trials}, up to {share} %)")
        });
        let by = format::list(&by.collect::<Vec<_>>());
        let of_all = match (self.trials, trials_made) {
            (_, 1) => "The only trial was".to_owned(),
            (1, made) => format!("1 of {} trials was", exact(made.into())),
            (some, made) => format!(
                "{} of {} trials were",
                exact(some.into()),
                exact(made.into())
            ),
        };
        format!("{of_all} disturbed: {by}.")
    }
}

/// What the mark means.
pub(crate) const LEGEND: &str =
    "~: some trials were disturbed, see the checks; true figures of a slower machine.";
