//! The keys of a plan, each described once.
//!
//! One [`Key`] holds all that is said of a key: its name, its flag, its help, its default, and which experiments have no use for it, why,
//! and what to write instead. Made from that are the flags of every command, their help, the defaults of [`super::resolve()`], its
//! refusals, and `docs/keys.md`. A key's type and its place in a sweep stand in [`super::draft`].

use throng_record::plan::Experiment;

use self::foreign::Instead;
use super::flag::FromFlag;
use super::{PlanDraft, PlanError};

mod foreign;
mod generator;
mod load;
mod message;
mod pacing;
mod plan;
mod servers;
#[cfg(test)]
mod tests;

/// A key of a plan file, and the flags that set it.
#[derive(Debug)]
pub struct Key {
    /// In a plan file; its flag has the same.
    pub name: &'static str,
    /// One letter that stands for the flag.
    pub short: Option<char>,
    /// What help calls the flag's value; `…` at its end where commas part several. Empty: no flag takes a value.
    pub value_name: &'static str,
    /// The values there are, where they are few.
    pub words: &'static [&'static str],
    /// Whether the value of the flag may begin with a hyphen.
    pub takes_hyphen: bool,
    /// Flags that stand for a single value.
    pub switches: &'static [Switch],
    help: &'static str,
    /// Where an experiment says it in words of its own.
    help_in: &'static [(Experiment, &'static str)],
    usual: Usual,
    /// Experiments in which it is another.
    usual_in: &'static [(&'static [Experiment], Usual)],
    /// Experiments that have no use for it.
    foreign: &'static [Foreign],
}

/// A flag without a value, `--KEY` or `--no-KEY`.
#[derive(Debug)]
pub struct Switch {
    /// Its name.
    pub flag: &'static str,
    /// What it stands for, as a plan file has it.
    pub value: &'static str,
    /// In the words of help.
    pub help: &'static str,
}

/// What holds where a key is not mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Nothing.
    Nothing,
    /// A value, as its flag has it.
    Value(&'static str),
    /// What follows from the rest of the plan or from the machine, in words.
    Words(&'static str),
}

impl Usual {
    /// As help has it; empty where there is nothing to say.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Value(text) | Self::Words(text) => text,
        }
    }
}

/// Experiments that have no use for a key, why, and what to do instead.
type Foreign = (&'static [Experiment], &'static str, Instead);

/// A key of which nothing is said.
const BLANK: Key = Key {
    name: "",
    short: None,
    value_name: "",
    words: &[],
    takes_hyphen: false,
    switches: &[],
    help: "",
    help_in: &[],
    usual: Usual::Nothing,
    usual_in: &[],
    foreign: &[],
};

/// The words of a yes or no.
pub const BOOL: &[&str] = &["true", "false"];

/// All keys by the headings of help, in its order.
pub const GROUPS: [(&str, &[Key]); 8] = [
    ("The plan", plan::KEYS),
    ("Load", load::KEYS),
    ("Pacing", pacing::KEYS),
    ("Line", message::LINE),
    ("Message", message::KEYS),
    ("Generator", generator::KEYS),
    ("Surroundings", servers::SURROUNDINGS),
    ("Launched servers", servers::KEYS),
];

impl Key {
    /// What it is; in the words of one experiment, or of all.
    #[must_use]
    pub fn help(&self, experiment: Option<Experiment>) -> &'static str {
        let mut own = self.help_in.iter();
        let own = own.find(|(of, _)| Some(*of) == experiment);
        own.map_or(self.help, |(_, help)| help)
    }

    /// What holds in this experiment where it is not mentioned.
    #[must_use]
    pub fn usual(&self, experiment: Experiment) -> Usual {
        let mut others = self.usual_in.iter();
        let other = others.find(|(experiments, _)| experiments.contains(&experiment));
        other.map_or(self.usual, |(_, usual)| *usual)
    }

    /// The same in words; of all experiments those that have another are named: `6; backlog, fanout: 3; hold: 1`.
    #[must_use]
    pub fn defaults(&self, experiment: Option<Experiment>) -> String {
        if let Some(experiment) = experiment {
            return self.usual(experiment).text().to_owned();
        }
        let own = |(experiments, usual): &(&[Experiment], Usual)| {
            format!("{}: {}", names(experiments), usual.text())
        };
        let common = Some(self.usual.text().to_owned()).filter(|text| !text.is_empty());
        let all: Vec<String> = common
            .into_iter()
            .chain(self.usual_in.iter().map(own))
            .collect();
        all.join("; ")
    }

    /// The experiments that have a use for it: `fanout, hold`, `all but accept`; empty where all have.
    #[must_use]
    pub fn scope(&self) -> String {
        let is_foreign = |experiment: &Experiment| self.foreign(*experiment).is_some();
        let (others, own): (Vec<_>, Vec<_>) = Experiment::ALL.into_iter().partition(is_foreign);
        match (own.len(), others.len()) {
            (_, 0) => String::new(),
            (own_count, count) if own_count <= count => names(&own),
            _ => format!("all but {}", names(&others)),
        }
    }

    /// Whether the experiment's command has flags for it. The command of the hold experiment has its connections as the first word.
    #[must_use]
    pub fn has_flags(&self, experiment: Experiment) -> bool {
        let is_first_word = (self.name, experiment) == ("connections", Experiment::Hold);
        self.foreign(experiment).is_none() && !is_first_word
    }

    /// The flags without a value, but for one that says what holds anyway.
    pub fn switches(
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
        let (_, why, instead) = self.foreign(experiment)?;
        Some(PlanError::OtherExperiment {
            key: self.name,
            experiment: experiment.name(),
            why,
            instead: instead.text(experiment),
        })
    }

    fn foreign(&self, experiment: Experiment) -> Option<&'static Foreign> {
        let mut foreign = self.foreign.iter();
        foreign.find(|(experiments, ..)| experiments.contains(&experiment))
    }

    /// Whether this can be the value of its flag.
    ///
    /// # Errors
    /// Says how one is written.
    pub fn check(&self, text: &str) -> Result<(), String> {
        PlanDraft::default().add(self.name, text)
    }
}

fn names(experiments: &[Experiment]) -> String {
    let names: Vec<&str> = experiments.iter().map(|one| one.name()).collect();
    names.join(", ")
}

/// Each of them, in the order of help.
pub fn all() -> impl Iterator<Item = &'static Key> {
    GROUPS.into_iter().flat_map(|(_, keys)| keys)
}

/// The key of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Key> {
    all().find(|key| key.name == name)
}

/// The value that a key has in an experiment where it is not mentioned.
pub(super) fn usual<T: FromFlag>(name: &str, experiment: Experiment) -> T {
    match find(name).map(|key| key.usual(experiment)) {
        Some(Usual::Value(text)) => T::from_flag(text).expect("a test reads every default"),
        other => unreachable!("{name} has no value in {experiment:?}: {other:?}"),
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
