//! What came and what was due, as the words of an error: escaped, and no longer than a line can hold.

use std::fmt::Write as _;

/// Bytes shown of each.
const SHOWN: usize = 48;
/// Of these, before the first that differs.
const BEFORE: usize = 12;

/// `"HTTP/1.1 400" where "connected\n" was due`. What both have in common at their beginning is left out where it is long.
#[cold]
pub(crate) fn came_instead(came: &[u8], due: &[u8]) -> String {
    let same = came.iter().zip(due).take_while(|(one, other)| one == other);
    let same = same.count();
    let from = if same < SHOWN - BEFORE {
        0
    } else {
        same - BEFORE
    };
    format!("{} where {} was due", quoted(came, from), quoted(due, from))
}

/// The same of bytes beside which nothing was due.
#[cold]
pub(crate) fn came_unasked(came: &[u8], words: &str) -> String {
    format!("{} {words}", quoted(came, 0))
}

/// Bytes from there on, as far as a line can hold them.
pub(crate) fn quoted(bytes: &[u8], from: usize) -> String {
    let rest = &bytes[from.min(bytes.len())..];
    let shown = &rest[..rest.len().min(SHOWN)];
    let mut text = String::from(if from > 0 { "\"…" } else { "\"" });
    let _ = write!(text, "{}", shown.escape_ascii());
    text.push_str(if shown.len() < rest.len() {
        "…\""
    } else {
        "\""
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_what_was_due_are_told_escaped() {
        assert_eq!(
            came_instead(b"HTTP/1.1 400\r\n\xff", b"connected\n"),
            r#""HTTP/1.1 400\r\n\xff" where "connected\n" was due"#
        );
        assert_eq!(came_unasked(b"\"hi\"", "came"), r#""\"hi\"" came"#);
    }

    #[test]
    fn long_ones_are_shown_around_the_first_difference() {
        let due = [b'a'; 200];
        let mut came = due;
        came[100] = b'b';
        let text = came_instead(&came, &due);
        let after = "a".repeat(SHOWN - BEFORE - 1);
        let before = "a".repeat(BEFORE);
        assert_eq!(
            text,
            format!("\"…{before}b{after}…\" where \"…{before}a{after}…\" was due")
        );
    }

    #[test]
    fn what_ends_before_it_differs_is_told_too() {
        assert_eq!(
            came_instead(b"con", b"connected\n"),
            r#""con" where "connected\n" was due"#
        );
    }
}
