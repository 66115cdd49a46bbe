//! Reading a plan file.

use super::PlanDraft;
use throng_catalogue::toml_file::{self, FileError};

impl PlanDraft {
    /// Reads a plan file; `origin` is its name for messages.
    ///
    /// # Errors
    /// [`FileError`] for text that is no TOML, an unknown key, or a value of the wrong kind.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        let mut draft: Self = toml_file::parse(text, origin)?;
        let at = text.find("[[phase").unwrap_or_default();
        draft
            .take_phases()
            .map_err(|problem| FileError::at(text, origin, at, problem))?;
        Ok(draft)
    }
}
