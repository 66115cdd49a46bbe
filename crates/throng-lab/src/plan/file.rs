//! Reading a plan file.

use super::PlanDraft;
use throng_catalogue::toml_file::{self, FileError};

impl PlanDraft {
    /// Reads a plan file; `origin` is its name for messages.
    ///
    /// # Errors
    /// [`FileError`] for text that is no TOML, an unknown key, or a value of the wrong kind.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        toml_file::parse(text, origin)
    }
}
