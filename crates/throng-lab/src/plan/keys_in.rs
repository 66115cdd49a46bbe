//! A key as each experiment has it: the table's words with the experiment's own.

use throng_record::plan::Experiment;

use super::experiments::keys_of;
use super::keys::instead::Instead;
use super::keys::{Key, Switch, Usual, find};
use super::{PlanDraft, PlanError};

impl Key {
    /// What it is; in the words of one experiment, or of all.
    #[must_use]
    pub fn help(&self, experiment: Option<Experiment>) -> &'static str {
        let own = experiment.map_or(&[][..], |experiment| keys_of(experiment).help);
        let own = own.iter().find(|(key, _)| *key == self.name);
        own.map_or(self.help, |(_, help)| help)
    }

    /// What holds in this experiment where it is not mentioned.
    #[must_use]
    pub fn usual(&self, experiment: Experiment) -> Usual {
        self.usual_with(keys_of(experiment))
    }

    /// The same in words; of all experiments those that have another are named: `6; backlog, fanout: 3; hold: 1`.
    #[must_use]
    pub fn defaults(&self, experiment: Option<Experiment>) -> String {
        if let Some(experiment) = experiment {
            return self.usual(experiment).text().to_owned();
        }
        let mut others: Vec<(Usual, Vec<Experiment>)> = Vec::new();
        for experiment in Experiment::ALL {
            let usual = self.usual(experiment);
            if usual == self.usual {
                continue;
            }
            match others.iter_mut().find(|(other, _)| *other == usual) {
                Some((_, experiments)) => experiments.push(experiment),
                None => others.push((usual, vec![experiment])),
            }
        }
        let common = Some(self.usual.text().to_owned()).filter(|text| !text.is_empty());
        let others = others
            .iter()
            .map(|(usual, experiments)| format!("{}: {}", names(experiments), usual.text()));
        common
            .into_iter()
            .chain(others)
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// The experiments that have a use for it: `fanout, hold`, `all but accept`; empty where all have.
    #[must_use]
    pub fn scope(&self) -> String {
        let (own, others): (Vec<_>, Vec<_>) = Experiment::ALL
            .into_iter()
            .partition(|experiment| self.is_of(*experiment));
        match (own.len(), others.len()) {
            (_, 0) => String::new(),
            (own_count, count) if own_count <= count => names(&own),
            _ => format!("all but {}", names(&others)),
        }
    }

    /// Whether the experiment has a use for it.
    pub(super) fn is_of(&self, experiment: Experiment) -> bool {
        self.refused_by(keys_of(experiment)).is_none()
    }

    /// Whether the experiment's command has flags for it.
    #[must_use]
    pub fn has_flags(&self, experiment: Experiment) -> bool {
        let is_first_word = keys_of(experiment).first_word == Some(self.name);
        self.is_of(experiment) && !is_first_word
    }

    /// The flags without a value, but for one that says what holds anyway.
    pub fn switches_of(
        &self,
        experiment: Option<Experiment>,
    ) -> impl Iterator<Item = &'static Switch> {
        let usual = experiment.map(|experiment| self.usual(experiment));
        let says_more = move |switch: &&Switch| usual != Some(Usual::Value(switch.value));
        self.switches.iter().filter(says_more)
    }

    /// What to say where the experiment has no use for it.
    #[must_use]
    pub fn refusal(&self, experiment: Experiment) -> Option<PlanError> {
        let (why, instead) = self.refused_by(keys_of(experiment))?;
        Some(PlanError::OtherExperiment {
            key: self.name,
            experiment: experiment.name(),
            why,
            instead: text(instead, experiment),
        })
    }
}

/// Refuses what the experiment has no use for.
pub(super) fn check(draft: &PlanDraft, experiment: Experiment) -> Result<(), PlanError> {
    let mentioned = draft.mentioned();
    let mut refusals = mentioned
        .iter()
        .filter_map(|key| find(key)?.refusal(experiment));
    refusals.next().map_or(Ok(()), Err)
}

fn names(experiments: &[Experiment]) -> String {
    let names: Vec<&str> = experiments.iter().map(|one| one.name()).collect();
    names.join(", ")
}

/// What to do instead, as one types it: `write --hold 1s (in a plan: hold = "1s")`. A refusal does not know whether a flag or a plan file was read, so
/// both forms stand in it.
fn text(instead: Instead, experiment: Experiment) -> String {
    match instead {
        Instead::LeaveOut => "leave it out".to_owned(),
        Instead::Take(other) => format!(
            "leave it out, or take the {} experiment (throng {})",
            other.in_prose(),
            other.name()
        ),
        Instead::Words(words) => words.to_owned(),
        Instead::Write(example) => {
            format!(
                "write {} (in a plan: {example})",
                typed(example, experiment)
            )
        }
        Instead::Either(examples) => joined(examples, "or", experiment),
        Instead::Both(examples) => joined(examples, "and", experiment),
    }
}

fn joined([one, other]: [&str; 2], join: &str, experiment: Experiment) -> String {
    let [typed_one, typed_other] = [one, other].map(|example| typed(example, experiment));
    format!("write {typed_one} {join} {typed_other} (in a plan: {one} {join} {other})")
}

/// `hold = "1s"` as it is typed: `--hold 1s`, or as the first word of the experiment's command.
fn typed(example: &str, experiment: Experiment) -> String {
    let plain = example.replace('"', "");
    let (name, value) = plain.split_once(" = ").expect("a key and its value");
    match find(name).is_some_and(|key| key.has_flags(experiment)) {
        true => format!("--{name} {value}"),
        false => format!("throng {} {value}", experiment.name()),
    }
}

#[cfg(test)]
mod tests;
