//! What to write, in both of its forms: `--duration 2s (in a plan: duration = "2s")`.
//!
//! A refusal does not know whether a flag or a plan file was read, so both stand in it.

use std::fmt::Display;

/// A key with a value, which is given as a plan file has it.
pub(super) fn both_forms(key: &str, value: impl Display) -> String {
    let value = value.to_string();
    let plain = value.trim_matches('"');
    let typed = if plain.contains(' ') {
        format!("'{plain}'")
    } else {
        plain.to_owned()
    };
    format!("--{key} {typed} (in a plan: {key} = {value})")
}

/// The same of `net = "host"` in one piece. What is no such pair, such as a key alone, is the same in both forms.
pub(super) fn both_forms_of(text: &str) -> String {
    match text.split_once(" = ") {
        Some((key, value)) => both_forms(key, value),
        None => text.to_owned(),
    }
}

/// The same within a sentence, where a key alone stands in quotes.
pub(super) fn quoted_or_both_forms(text: &str) -> String {
    match text.split_once(" = ") {
        Some((key, value)) => both_forms(key, value),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_typed_without_its_quotes_unless_it_holds_a_space() {
        assert_eq!(
            both_forms("connections", 100),
            "--connections 100 (in a plan: connections = 100)"
        );
        assert_eq!(
            both_forms("duration", "\"2s\""),
            "--duration 2s (in a plan: duration = \"2s\")"
        );
        assert_eq!(
            both_forms("expect", "\"7 bytes\""),
            "--expect '7 bytes' (in a plan: expect = \"7 bytes\")"
        );
    }

    #[test]
    fn a_key_alone_is_the_same_in_both_forms() {
        assert_eq!(both_forms_of("rate"), "rate");
        assert_eq!(quoted_or_both_forms("rate"), "`rate`");
        let both = "--net host (in a plan: net = \"host\")";
        assert_eq!(both_forms_of("net = \"host\""), both);
        assert_eq!(quoted_or_both_forms("net = \"host\""), both);
    }
}
