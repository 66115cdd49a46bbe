//! Running text for a terminal: wrapped, and rid of what would steer it.

/// Text is wrapped here at the latest: longer lines are hard to follow.
const TEXT_WIDTH_MAX: u16 = 120;

/// Stands for a space while text is being wrapped.
const NO_BREAK_SPACE: &str = "\u{a0}";

/// With a capital letter, as titles begin.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Lines no wider than `width`, those after the first indented as far as `bullet` is wide.
pub(crate) fn wrap(text: &str, bullet: &str, width: Option<u16>) -> Vec<String> {
    let width = width.unwrap_or(TEXT_WIDTH_MAX).clamp(20, TEXT_WIDTH_MAX);
    let indent = " ".repeat(bullet.len());
    let options = textwrap::Options::new(width.into())
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent(bullet)
        .subsequent_indent(&indent);
    textwrap::wrap(&bound(text), options)
        .into_iter()
        .map(|line| line.replace(NO_BREAK_SPACE, " "))
        .collect()
}

/// Keeps a number with its unit and a range on one line.
fn bound(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let text = clean(text);
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let within = before.is_ascii_digit() || before == '–' || characters.peek() == Some(&'–');
        if character == ' ' && within {
            kept.push_str(NO_BREAK_SPACE);
        } else {
            kept.push(character);
        }
        before = character;
    }
    kept
}

/// Names and messages come from the user's commands and from servers: they must not steer the terminal.
pub(crate) fn clean(text: &str) -> String {
    let visible = |character: char| match character {
        '\n' => '\n',
        '\t' => ' ',
        other if other.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    };
    text.chars().map(visible).collect()
}

/// A message up to its first full stop, semicolon or line's end.
pub(crate) fn first_clause(text: &str) -> &str {
    let ends = ["; ", ". ", "\n"]
        .into_iter()
        .filter_map(|end| text.find(end));
    let end = ends.min().unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_clause_has_no_full_stop() {
        assert_eq!(first_clause("2.5 s; more."), "2.5 s");
        assert_eq!(first_clause("All. Of it."), "All");
        assert_eq!(first_clause("All of it."), "All of it");
        assert_eq!(first_clause("one\ntwo"), "one");
    }

    #[test]
    fn a_number_keeps_its_unit_and_later_lines_their_indent() {
        let lines = wrap("the first half ran for 200 ms", "- ", Some(29));
        assert_eq!(lines, ["- the first half ran for", "  200 ms"]);
    }

    #[test]
    fn lines_of_a_message_stay_lines() {
        assert_eq!(wrap("one\ntwo", "- ", None), ["- one", "  two"]);
    }

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(clean("a\u{1b}[2J\tb\r"), "a\u{fffd}[2J b\u{fffd}");
    }
}
