//! What one experiment says of keys: which it has a use for, its defaults, and what to write where it has none.

use super::instead::Instead;

/// An experiment's own words on keys. What it leaves unsaid holds as the table of keys has it.
#[derive(Debug)]
pub(in crate::plan) struct OwnKeys {
    /// Keys for which it has a use and most experiments have none.
    pub(in crate::plan) uses: &'static [&'static str],
    /// Defaults.
    pub(in crate::plan) usual: &'static [(&'static str, Usual)],
    /// What a key means here.
    pub(in crate::plan) help: &'static [(&'static str, &'static str)],
    /// Keys for which it has no use.
    pub(in crate::plan) refuses: &'static [Refused],
    /// Keys that a target may have values of its own for, written behind its name.
    pub(in crate::plan) of_target: &'static [&'static str],
    /// The key that is the first word of its command, where one is.
    pub(in crate::plan) first_word: Option<&'static str>,
}

/// Keys, why there is no use for them, and what to do instead.
pub(in crate::plan) type Refused = (&'static [&'static str], &'static str, Instead);

impl OwnKeys {
    /// Nothing.
    pub(in crate::plan) const NONE: Self = Self {
        uses: &[],
        usual: &[],
        help: &[],
        refuses: &[],
        of_target: &[],
        first_word: None,
    };
}

impl Default for &OwnKeys {
    fn default() -> Self {
        &OwnKeys::NONE
    }
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
