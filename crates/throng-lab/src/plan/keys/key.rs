//! What is said of a key.
//!
//! The first half is how the table is written, the second what is read of it.

use super::instead::Instead;
use super::own::{OwnKeys, Usual};
use crate::plan::PlanDraft;

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
    pub(in crate::plan) help: &'static str,
    pub(in crate::plan) usual: Usual,
    /// Why only experiments that list it among those that they use have a use for it, and what the others say to do instead.
    pub(super) of_some: Option<(&'static str, Instead)>,
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
        usual: Usual::Nothing,
        of_some: None,
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

    pub(super) const fn usually(self, value: &'static str) -> Self {
        let usual = Usual::Value(value);
        Self { usual, ..self }
    }

    pub(super) const fn by_rule(self, words: &'static str) -> Self {
        let usual = Usual::Words(words);
        Self { usual, ..self }
    }

    pub(super) const fn of_some(self, why: &'static str, instead: Instead) -> Self {
        let of_some = Some((why, instead));
        Self { of_some, ..self }
    }
}

impl Key {
    /// What holds in an experiment with these words of its own.
    #[must_use]
    pub(in crate::plan) fn usual_with(&self, own: &OwnKeys) -> Usual {
        let mut others = own.usual.iter();
        let other = others.find(|(key, _)| *key == self.name);
        other.map_or(self.usual, |(_, usual)| *usual)
    }

    /// Why such an experiment has no use for it, and what to do instead.
    pub(in crate::plan) fn refused_by(&self, own: &OwnKeys) -> Option<(&'static str, Instead)> {
        let mut refused = own.refuses.iter();
        let refused = refused.find(|(keys, ..)| keys.contains(&self.name));
        let of_others = || self.of_some.filter(|_| !own.uses.contains(&self.name));
        let refusal = refused.map(|(_, why, instead)| (*why, *instead));
        refusal.or_else(of_others)
    }

    /// Whether this can be the value of its flag.
    ///
    /// # Errors
    /// Says how one is written.
    pub fn check(&self, text: &str) -> Result<(), String> {
        PlanDraft::default().add(self.name, text)
    }
}
