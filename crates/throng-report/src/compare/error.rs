//! Why runs cannot be compared.

use std::fmt;

/// What is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareError {
    /// They are of different experiments: names and what each is.
    Experiments([(String, &'static str); 2]),
    /// They have no target and setting in common: those of each.
    NothingInCommon([(String, Vec<String>); 2]),
    /// A run has no such target: its name, and those that it has.
    Target {
        /// As it was written.
        name: String,
        /// What may be written instead.
        known: Vec<String>,
    },
    /// No run has a figure of that name.
    Figure {
        /// As it was written.
        name: String,
        /// What may be written instead.
        known: Vec<String>,
    },
}

impl fmt::Display for CompareError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Experiments([(one, is_of), (other, other_is_of)]) => write!(
                to,
                "{one} is a run of {is_of} and {other} one of {other_is_of}, which measure different things; compare runs of one experiment"
            ),
            Self::NothingInCommon([(one, rows), (other, other_rows)]) => write!(
                to,
                "{one} and {other} have no target and setting in common: {} and {}",
                rows.join(", "),
                other_rows.join(", ")
            ),
            Self::Target { name, .. } => write!(to, "the run has no target `{name}`"),
            Self::Figure { name, .. } => write!(to, "the runs have no figure `{name}`"),
        }
    }
}

impl std::error::Error for CompareError {}
