//! Reading a TOML file that a person wrote, with the line and a suggestion for what is wrong in it.

use serde::de::DeserializeOwned;

use crate::suggest::nearest;

/// A file that cannot be used as it stands: where, what, and what was probably meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}, line {line}: {problem}\n  {line} | {source_line}")]
pub struct FileError {
    /// The file, as the user knows it.
    pub origin: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong there, with a suggestion.
    pub problem: String,
    /// The text of that line.
    pub source_line: String,
}

impl FileError {
    /// At the place `offset_bytes` into `text`.
    pub fn at(text: &str, origin: &str, offset_bytes: usize, problem: String) -> Self {
        let before = text.get(..offset_bytes).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        Self {
            origin: origin.to_owned(),
            line,
            problem,
            source_line: text.lines().nth(line - 1).unwrap_or_default().to_owned(),
        }
    }

    /// Without the quoted line, for lists.
    #[must_use]
    pub fn in_one_line(&self) -> String {
        format!("{}, line {}: {}", self.origin, self.line, self.problem)
    }
}

/// Reads a file's text; `origin` is its name for messages.
///
/// # Errors
/// [`FileError`] for text that is no TOML, an unknown key, or a value of the wrong kind.
pub fn parse<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, FileError> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        FileError::at(text, origin, start, problem(error.message()))
    })
}

/// serde's words in a user's: of an unknown key it lists every one there is, of which one was meant; a count below 0 it calls
/// an integer that was expected to be a `u32`.
fn problem(message: &str) -> String {
    if let Some((number, expected)) = message
        .strip_prefix("invalid value: integer `-")
        .and_then(|rest| rest.split_once("`, expected u"))
        && expected.chars().all(|letter| letter.is_ascii_digit())
    {
        return format!("`-{number}` is below 0, and this is a count; write 0 or more");
    }
    let (what, are, rest) = if let Some(rest) = message.strip_prefix("unknown field `") {
        ("key", "the keys are", rest)
    } else if let Some(rest) = message.strip_prefix("unknown variant `") {
        ("word", "the words are", rest)
    } else if let Some(rest) = message.strip_prefix("missing field `") {
        let key = rest.trim_end_matches('`');
        return format!("the key `{key}` is missing; add it");
    } else {
        return message.replace('\n', " ").trim().to_owned();
    };
    let mut quoted = rest.split('`');
    let unknown = quoted.next().unwrap_or_default();
    let known: Vec<&str> = quoted.skip(1).step_by(2).collect();
    let snake = unknown.replace('_', "-");
    match nearest(&snake, known.iter().copied()) {
        Some(meant) => format!("there is no {what} `{unknown}`; did you mean `{meant}`?"),
        None => format!("there is no {what} `{unknown}`; {are} {}", known.join(", ")),
    }
}
