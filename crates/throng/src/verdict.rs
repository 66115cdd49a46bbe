//! What of a run makes the program exit with an error.
//!
//! A trial that could not run; a server that answered wrongly, died, disagrees with the generator about what it served, or is known to
//! break the contract, even once; a rate that was asked for and not kept; and a target without a single trial that may be ranked. Noise alone (steal, drift, a law missed) spoils
//! a trial, and is an error only where it has spoilt all of a target's.

use std::collections::BTreeMap;

use throng_findings::checks::kind;
use throng_record::format::plural;
use throng_record::{
    Check, CheckKind, CheckResult, ConnectionUse, Outcome, Plan, RunRecord, Setting, SideRecord,
    Stop, Trial,
};
use throng_report::setting::heading;

use crate::failure::Failure;

/// What to tell the user, each thing once; empty where all is well.
pub(crate) fn complaints(record: &RunRecord) -> Vec<Failure> {
    let mut complaints = Complaints::default();
    for trial in record.counted() {
        complaints.hear(trial);
    }
    let mut failures = complaints.failures(&record.plan);
    if !record.interrupted {
        failures.extend(unranked(record));
    }
    failures
}

/// Why no handshake was seen, by the first trial that says so.
pub(crate) fn why_no_handshakes(record: &RunRecord) -> &str {
    let mut unseen = record.trials.iter().flat_map(|trial| &trial.unseen);
    let said = unseen.find_map(|why| why.strip_prefix("handshakes: "));
    if record.plan.settings.iter().all(|setting| !setting.observe) {
        return "--no-observe leaves them out";
    }
    said.unwrap_or("no connection was begun")
}

/// Wrongs by target and kind: how many trials, and the first one's words.
#[derive(Default)]
struct Complaints {
    wrongs: BTreeMap<(u32, Wrong), (u64, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    Failed,
    Check(CheckKind),
}

impl Complaints {
    fn hear(&mut self, trial: &Trial) {
        if let Outcome::Failed { message } = &trial.outcome {
            // Its checks say the same again.
            return self.add(trial.target, Wrong::Failed, message);
        }
        for check in &trial.checks {
            if is_error(trial, check) {
                self.add(trial.target, Wrong::Check(check.kind), &check.detail);
            }
        }
    }

    fn add(&mut self, target: u32, wrong: Wrong, words: &str) {
        let entry = self
            .wrongs
            .entry((target, wrong))
            .or_insert_with(|| (0, words.to_owned()));
        entry.0 += 1;
    }

    fn failures(self, plan: &Plan) -> Vec<Failure> {
        self.wrongs
            .into_iter()
            .map(|((target, _), (trials, words))| {
                let name = name(plan, target);
                let times = if trials == 1 {
                    String::new()
                } else {
                    format!(" ({})", plural(trials, "trial"))
                };
                Failure::failed(format_args!("{name}{times}: {words}")).with_hint_parted()
            })
            .collect()
    }
}

/// Whether a check tells of something wrong even where it happens once: a rate that was not kept is one, though its figures are shown, unless
/// what others took of the CPUs may be all that was missing.
fn is_error(trial: &Trial, check: &Check) -> bool {
    match check.result {
        CheckResult::Failed => kind(check.kind).is_the_servers_fault,
        CheckResult::Qualified => check.kind == CheckKind::RateKept && !may_be_taken(trial, check),
        CheckResult::Passed
        | CheckResult::Partial
        | CheckResult::Disturbed
        | CheckResult::NotApplicable => false,
    }
}

/// Whether the rate would have been kept with the CPU time that others took, from whichever side lost more of its own.
fn may_be_taken(trial: &Trial, rate_kept: &Check) -> bool {
    let taken = |side: &SideRecord| {
        let taken_ns = side.stolen_ns.unwrap_or(0) + side.others_ns.unwrap_or(0);
        taken_ns as f64 / (side.window_ns as f64 * side.cpus.len() as f64)
    };
    let sides = [&trial.server, &trial.generator].into_iter().flatten();
    let left = 1.0 - sides.map(taken).fold(0.0, f64::max);
    match (rate_kept.measured, rate_kept.bound) {
        (Some(kept), Some(bound)) => trial.is_disturbed() && kept >= bound * left,
        _ => false,
    }
}

/// Targets that have not one trial to rank at some setting, and of which nothing was said yet.
fn unranked(record: &RunRecord) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (target, setting) in record.plan.cells() {
        let of_cell = || {
            record
                .counted()
                .filter(move |trial| trial.target == target && trial.setting == setting)
        };
        let is_told = |trial: &Trial| {
            matches!(
                trial.outcome,
                Outcome::Failed { .. } | Outcome::Spared { .. }
            ) || trial.checks.iter().any(|check| is_error(trial, check))
        };
        if of_cell().any(Trial::stands) || of_cell().any(is_told) {
            continue;
        }
        let checks = of_cell().flat_map(|trial| &trial.checks);
        let failed = checks.filter(|check| check.result == CheckResult::Failed);
        let first = failed.min_by_key(|check| check.kind);
        let setting = &record.plan.settings[setting as usize];
        let what = format!(
            "{} has no trial that could be ranked at {}",
            name(&record.plan, target),
            heading(setting)
        );
        let failure = Failure::failed(what).hint(hint(setting, first));
        failures.push(match first {
            Some(check) => failure.cause(&check.detail),
            None => failure,
        });
    }
    failures
}

/// What to do about a cell without a trial to rank.
fn hint(setting: &Setting, first: Option<&Check>) -> &'static str {
    let nobody_answered = first.is_some_and(|check| check.kind == CheckKind::UnservedConnections);
    let exchange = setting.phases.exchange();
    match exchange.map(|spec| (spec.connection, spec.stop)) {
        Some((ConnectionUse::PerMessage { .. }, stop)) if nobody_answered => match stop {
            Stop::MessagesEach(_) => {
                "see the findings in the report, and try one request alone: --clients 1 --requests 1"
            }
            _ => {
                "see the findings in the report, and try one cycle alone: --clients 1 --messages 1"
            }
        },
        Some((ConnectionUse::Kept, _)) => {
            "measure longer (--duration) or more often (--repeats), on a quieter machine; see throng doctor"
        }
        _ => "measure more often (--repeats), on a quieter machine; see throng doctor",
    }
}

fn name(plan: &Plan, target: u32) -> &str {
    plan.targets
        .get(target as usize)
        .map_or("unknown target", |target| &target.name)
}

#[cfg(test)]
mod tests;
