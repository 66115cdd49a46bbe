//! What is said of a key.
//!
//! The first half is how the table is written, the second what is read of it.

use throng_record::plan::Experiment;

use super::foreign::Instead;
use crate::plan::{PlanDraft, PlanError};

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
    pub(super) help: &'static str,
    /// Where an experiment says it in words of its own.
    pub(super) help_in: &'static [(Experiment, &'static str)],
    usual: Usual,
    /// Experiments in which it is another.
    pub(super) usual_in: &'static [UsualIn],
    /// Experiments that have no use for it.
    pub(super) foreign: &'static [Foreign],
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

/// Experiments, and what holds in them.
type UsualIn = (&'static [Experiment], Usual);

/// Experiments that have no use for a key, why, and what to do instead.
pub(super) type Foreign = (&'static [Experiment], &'static str, Instead);

/// A key that no flag with a value sets, and what it is.
pub(super) const fn key(name: &'static str, help: &'static str) -> Key {
    flag(name, "", help)
}

/// A key, what help calls the value of its flag, and what it is.
pub(super) const fn flag(name: &'static str, value_name: &'static str, help: &'static str) -> Key {
    Key {
        name,
        short: None,
        value_name,
        words: &[],
        takes_hyphen: false,
        switches: &[],
        help,
        help_in: &[],
        usual: Usual::Nothing,
        usual_in: &[],
        foreign: &[],
    }
}

/// A flag, what it stands for, and the words of help.
pub(super) const fn switch(flag: &'static str, value: &'static str, help: &'static str) -> Switch {
    Switch { flag, value, help }
}

/// What is said of some keys only; the fields say what each is.
impl Key {
    pub(super) const fn short(self, letter: char) -> Self {
        let short = Some(letter);
        Self { short, ..self }
    }

    pub(super) const fn words(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }

    pub(super) const fn takes_hyphen(self) -> Self {
        let takes_hyphen = true;
        Self {
            takes_hyphen,
            ..self
        }
    }

    pub(super) const fn switches(self, switches: &'static [Switch]) -> Self {
        Self { switches, ..self }
    }

    pub(super) const fn help_in(self, help_in: &'static [(Experiment, &'static str)]) -> Self {
        Self { help_in, ..self }
    }

    pub(super) const fn usually(self, value: &'static str) -> Self {
        let usual = Usual::Value(value);
        Self { usual, ..self }
    }

    pub(super) const fn by_rule(self, words: &'static str) -> Self {
        let usual = Usual::Words(words);
        Self { usual, ..self }
    }

    pub(super) const fn usually_in(self, usual_in: &'static [UsualIn]) -> Self {
        Self { usual_in, ..self }
    }

    pub(super) const fn foreign_to(self, foreign: &'static [Foreign]) -> Self {
        Self { foreign, ..self }
    }
}

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
        let own =
            |(experiments, usual): &UsualIn| format!("{}: {}", names(experiments), usual.text());
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
