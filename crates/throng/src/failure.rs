//! Errors as a user reads them: what failed, the likely cause, the next step; each on a line of its own and legible without
//! colour.

use std::fmt::Display;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};

use crate::exit::Exit;

/// What went wrong.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    cause: Option<String>,
    hint: Option<String>,
    /// How the program ends because of it.
    pub(crate) exit: Exit,
}

impl Failure {
    /// What was asked for cannot be done as written.
    pub(crate) fn usage(what: impl Display) -> Self {
        Self::new(what, Exit::Usage)
    }

    /// It was tried, and went wrong.
    pub(crate) fn failed(what: impl Display) -> Self {
        Self::new(what, Exit::Failed)
    }

    fn new(what: impl Display, exit: Exit) -> Self {
        Self {
            what: what.to_string(),
            cause: None,
            hint: None,
            exit,
        }
    }

    /// The likely cause.
    pub(crate) fn cause(mut self, cause: impl Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// The next step.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The next step where a name is unknown: the nearest one, or else where they all are.
    pub(crate) fn meant(self, nearest: Option<impl Display>, otherwise: impl Display) -> Self {
        match nearest {
            Some(nearest) => self.hint(format_args!("did you mean `{nearest}`?")),
            None => self.hint(otherwise),
        }
    }

    /// Takes the hint out of a message of the other crates: its first line has the next step last, after a semicolon that is in no
    /// parentheses and no quotation. Lines below it quote something, such as a server's output, and stay.
    pub(crate) fn with_hint_parted(mut self) -> Self {
        let (sentence, quoted) = match self.what.split_once('\n') {
            Some((sentence, quoted)) => (sentence, format!("\n{quoted}")),
            None => (self.what.as_str(), String::new()),
        };
        if self.hint.is_none()
            && let Some((what, hint)) = split_at_last_semicolon(sentence)
        {
            self.hint = Some(hint.to_owned());
            self.what = format!("{what}{quoted}");
        }
        self
    }

    /// Shows it on standard error. Where that is gone, nobody is left to be told.
    pub(crate) fn print(&self) {
        let mut text = line("error", AnsiColor::Red, &self.what);
        if let Some(cause) = &self.cause {
            text += &line("cause", AnsiColor::Yellow, cause);
        }
        if let Some(hint) = &self.hint {
            text += &line("hint", AnsiColor::Cyan, hint);
        }
        let _ = anstream::stderr().lock().write_all(text.as_bytes());
    }
}

/// At the last `; ` outside parentheses and quotation marks. What is quoted is escaped as Rust's `Debug` does.
fn split_at_last_semicolon(sentence: &str) -> Option<(&str, &str)> {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_u32, false, false);
    let mut last = None;
    for (place, letter) in sentence.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match letter {
            '\\' => is_escaped = is_quoted,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => last = Some(place),
            _ => {}
        }
    }
    let (what, hint) = sentence.split_at(last?);
    Some((what, hint.strip_prefix("; ")?))
}

/// Something the user should know although the work goes on.
pub(crate) fn note(text: impl Display) {
    let text = line("note", AnsiColor::Cyan, &text.to_string());
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

fn line(word: &str, colour: AnsiColor, text: &str) -> String {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    format!("{style}{word}:{style:#} {text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_is_what_comes_after_the_last_semicolon() {
        let failure = Failure::usage("it is 0; nothing runs; write 1").with_hint_parted();
        assert_eq!(failure.what, "it is 0; nothing runs");
        assert_eq!(failure.hint.as_deref(), Some("write 1"));
    }

    #[test]
    fn a_semicolon_within_parentheses_ends_no_sentence() {
        let failure = Failure::usage("wrong (a; b (c; d)); look (e; f)").with_hint_parted();
        assert_eq!(failure.what, "wrong (a; b (c; d))");
        assert_eq!(failure.hint.as_deref(), Some("look (e; f)"));
        let failure = Failure::usage("wrong bytes: check it (--send; --expect)").with_hint_parted();
        assert_eq!(failure.what, "wrong bytes: check it (--send; --expect)");
        assert_eq!(failure.hint, None);
        let quoted = r#"wrong bytes ("a(; \"" where "b" was due): it corrupts; check it"#;
        let failure = Failure::usage(quoted).with_hint_parted();
        assert_eq!(failure.hint.as_deref(), Some("check it"));
    }

    #[test]
    fn a_hint_given_stays_and_quoted_lines_are_not_searched() {
        let failure = Failure::usage("a; b").hint("c").with_hint_parted();
        assert_eq!(
            (failure.what.as_str(), failure.hint.as_deref()),
            ("a; b", Some("c"))
        );
        let failure = Failure::usage("wrong; do this\n    a; b").with_hint_parted();
        assert_eq!(failure.what, "wrong\n    a; b");
        assert_eq!(failure.hint.as_deref(), Some("do this"));
    }
}
