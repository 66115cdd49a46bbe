//! Trials that are not made, since one before has shown what would come of them: of servers that cannot be launched, that answer nobody, or that did
//! not serve so many connections.

use std::collections::HashMap;

use throng_record::{CheckKind, CheckResult, Outcome, Plan, Setting, SweptValue, Trial};

use crate::lifetime::Launch;
use crate::order::Cell;

/// What is known of the targets of a run so far.
#[derive(Debug, Default)]
pub(super) struct Spared {
    /// Why a launch fails each time, by target and what it is launched with.
    launches: HashMap<(u32, Launch), String>,
    /// Fewest connections that were too many, by target and whatever else is swept.
    limits: HashMap<(u32, Others), Limit>,
}

/// Keys and values of all that is swept but the number of connections.
type Others = Vec<(String, String)>;

#[derive(Clone, Debug)]
struct Limit {
    connections: u32,
    /// Nobody was answered, so that not even the same number is tried again.
    is_silent: bool,
    why: String,
}

impl Spared {
    /// What the trial comes to without being made.
    pub(super) fn instead(&self, plan: &Plan, cell: Cell) -> Option<Outcome> {
        let setting = &plan.settings[cell.setting as usize];
        if let Some(message) = self.launches.get(&(cell.target, Launch::of(setting))) {
            let message = message.clone();
            return Some(Outcome::Failed { message });
        }
        let limit = self.limits.get(&(cell.target, others_swept(setting)))?;
        let is_beyond = setting.connections > limit.connections
            || (limit.is_silent && setting.connections == limit.connections);
        is_beyond.then(|| Outcome::Spared {
            because: limit.why.clone(),
        })
    }

    /// Takes in what a trial has shown.
    pub(super) fn learn(&mut self, plan: &Plan, trial: &Trial, is_hopeless: bool) {
        let setting = &plan.settings[trial.setting as usize];
        if let (true, Outcome::Failed { message }) = (is_hopeless, &trial.outcome) {
            let launch = (trial.target, Launch::of(setting));
            self.launches.insert(launch, message.clone());
        }
        if let Some(limit) = limit_met(trial, setting) {
            let key = (trial.target, others_swept(setting));
            let known = self.limits.entry(key).or_insert_with(|| limit.clone());
            if limit.connections < known.connections {
                *known = limit;
            }
        }
    }
}

fn others_swept(setting: &Setting) -> Others {
    let is_other = |swept: &&SweptValue| !matches!(swept.key.as_str(), "connections" | "clients");
    let others = setting.swept.iter().filter(is_other);
    others
        .map(|swept| (swept.key.clone(), swept.value.clone()))
        .collect()
}

/// The server answered nobody, or had no room for all although it declares no bound.
fn limit_met(trial: &Trial, setting: &Setting) -> Option<Limit> {
    let mut checks = trial.checks.iter();
    let check = checks.find(|check| check.kind == CheckKind::UnservedConnections)?;
    if trial.outcome != Outcome::Completed
        || !matches!(check.result, CheckResult::Partial | CheckResult::Failed)
    {
        return None;
    }
    let asked = match trial.phases.connections() {
        // Requests that come anew find room another time.
        Some(phase) if phase.answered > 0 => return None,
        Some(phase) => phase.begun as f64,
        None => f64::from(setting.connections),
    };
    let at_once = trial.job.fleet.serves_at_once;
    if at_once.is_some_and(|at_once| at_once < setting.connections) {
        return None;
    }
    // In a fan-out to a server that only echoes, the one who speaks hears its own line.
    let answered = asked - check.measured?;
    let is_silent = answered <= 0.0 || (answered <= 1.0 && asked > 1.0);
    let repeat = trial.repeat + 1;
    let connections = setting.connections;
    let why = if is_silent {
        let who = if answered <= 0.0 {
            "nobody"
        } else {
            "only one"
        };
        format!(
            "in repeat {repeat} at {connections} connections {who} was answered: {}",
            check.detail
        )
    } else {
        format!(
            "in repeat {repeat} the server did not serve {connections}: {}",
            check.detail
        )
    };
    Some(Limit {
        connections,
        is_silent,
        why,
    })
}

#[cfg(test)]
mod tests {
    use throng_record::Check;

    use super::*;
    use crate::run::tests::{Fake, made};

    const SWEEP: &str = "targets = ['poll']\nsize = [1, 2]\nconnections = [10, 20, 30]";

    /// What is spared after a trial at 20 connections (and size 1) of which so many were not served.
    fn spared_after(missing: f64, result: CheckResult) -> Vec<(u32, u32)> {
        let plan = Fake::plan(SWEEP);
        let setting = plan
            .settings
            .iter()
            .position(|setting| setting.connections == 20);
        let mut trial = made();
        trial.setting = setting.expect("asked for") as u32;
        trial.checks = vec![Check {
            kind: CheckKind::UnservedConnections,
            result,
            measured: Some(missing),
            bound: Some(0.0),
            detail: "as it was".to_owned(),
        }];
        let mut spared = Spared::default();
        spared.learn(&plan, &trial, false);
        let cells = (0..plan.settings.len() as u32).map(|setting| Cell {
            target: 0,
            setting,
            repeat: 1,
            server_lives_on: false,
        });
        cells
            .filter(|&cell| spared.instead(&plan, cell).is_some())
            .map(|cell| {
                let setting = &plan.settings[cell.setting as usize];
                let size = setting.swept.iter().find(|swept| swept.key == "size");
                let size = size.expect("swept").value.parse().expect("a number");
                (setting.connections, size)
            })
            .collect()
    }

    #[test]
    fn who_did_not_serve_so_many_is_not_asked_for_more() {
        assert_eq!(spared_after(5.0, CheckResult::Partial), [(30, 1)]);
        assert_eq!(spared_after(5.0, CheckResult::Failed), [(30, 1)]);
        assert_eq!(spared_after(0.0, CheckResult::Passed), []);
    }

    #[test]
    fn who_answered_nobody_is_not_asked_again() {
        assert_eq!(spared_after(20.0, CheckResult::Failed), [(20, 1), (30, 1)]);
        // It heard its own line.
        assert_eq!(spared_after(19.0, CheckResult::Failed), [(20, 1), (30, 1)]);
    }
}
