//! What a clause fails with.

/// What was seen in place of what is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure(pub(super) String);

impl Failure {
    pub(super) fn of<T>(text: impl Into<String>) -> Result<T, Self> {
        Err(Self(text.into()))
    }

    /// The same, with what had been going on.
    pub(super) fn after(self, what: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {}", self.0))
    }
}
