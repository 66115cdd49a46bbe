//! The published JSON Schema of `run.json`, and reading with a version check.
//!
//! The schema is derived from the types, which only the tests of this crate do: they hold the published file to it, and everybody else is spared building that.

use crate::RunRecord;

/// Version of the record. It grows by one whenever a field is removed, renamed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 2;

/// Why a stored record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not a record.
    #[error("this is not a throng record: {0}")]
    NotARecord(#[from] serde_json::Error),
    /// Written by another version.
    #[error(
        "the record has schema version {found}, this throng reads {SCHEMA_VERSION}; read it with the throng that wrote it (version {throng_version})"
    )]
    OtherVersion {
        /// Version in the file.
        found: u64,
        /// The program that wrote it.
        throng_version: String,
    },
}

/// The JSON Schema (draft 2020-12) of [`RunRecord`].
pub const JSON_SCHEMA: &str = include_str!("../../../docs/run.schema.json");

/// Reads a record, and says so plainly when it is of another version.
///
/// # Errors
/// [`ReadError`] where the text is no record or of another version.
pub fn read(text: &str) -> Result<RunRecord, ReadError> {
    let value: serde_json::Value = serde_json::from_str(text)?;
    match value
        .get("schema_version")
        .and_then(serde_json::Value::as_u64)
    {
        Some(found) if found != u64::from(SCHEMA_VERSION) => Err(ReadError::OtherVersion {
            found,
            throng_version: value["throng_version"]
                .as_str()
                .unwrap_or("unknown")
                .to_owned(),
        }),
        _ => Ok(serde_json::from_value(value)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `INSTA_UPDATE=always` writes it anew, with all snapshots.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let of_types = format!("{:#}\n", schemars::schema_for!(RunRecord).to_value());
        if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run.schema.json");
            std::fs::write(path, &of_types).expect("written");
        } else {
            assert!(
                JSON_SCHEMA == of_types,
                "docs/run.schema.json is stale: INSTA_UPDATE=always cargo test -p throng-record"
            );
        }
    }

    #[test]
    fn another_version_is_named_and_not_misread() {
        let error =
            read(r#"{"schema_version": 99, "throng_version": "9.9.9"}"#).expect_err("version 99");
        assert!(error.to_string().contains("schema version 99"), "{error}");
        assert!(error.to_string().contains("9.9.9"), "{error}");
    }

    #[test]
    fn text_that_is_no_record_is_refused() {
        assert!(matches!(read("[1, 2"), Err(ReadError::NotARecord(_))));
        assert!(matches!(read("{}"), Err(ReadError::NotARecord(_))));
    }
}
