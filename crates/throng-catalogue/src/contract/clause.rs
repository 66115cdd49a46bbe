//! A clause of the contract.

use throng_record::ContractException;

use super::stage::{Failure, Stage};

/// One thing that the contract asks for.
pub(super) struct Clause {
    pub(super) name: &'static str,
    /// What it asks for, as a sentence that begins with the server.
    pub(super) due: &'static str,
    pub(super) exception: Option<ContractException>,
    /// Tries it on a server of its own.
    pub(super) run: fn(&Stage<'_>) -> Outcome,
}

/// What came of trying.
pub(super) type Outcome = Result<Verdict, Failure>;

pub(super) enum Verdict {
    Holds,
    /// It has no meaning here; why.
    Moot(String),
}

impl Clause {
    pub(super) const fn core(
        name: &'static str,
        run: fn(&Stage<'_>) -> Outcome,
        due: &'static str,
    ) -> Self {
        Self {
            name,
            due,
            exception: None,
            run,
        }
    }

    pub(super) const fn under(self, exception: ContractException) -> Self {
        Self {
            exception: Some(exception),
            ..self
        }
    }
}
