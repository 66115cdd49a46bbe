//! `unsafe` in one crate only. The lint `unsafe_code` says so too, but an attribute can silence a lint.

use super::Source;

/// Where it is allowed; the examples in there are allowed it too.
const HOME: &str = "crates/throng-sys";

pub(super) fn check(source: &Source) -> Vec<String> {
    if source.is_in(HOME) {
        return vec![];
    }
    let numbered = source.text.lines().zip(1_u32..);
    numbered
        .filter(|(line, _)| speaks_of_unsafe(line))
        .map(|(_, number)| {
            format!(
                "{}:{number}: `unsafe` belongs in {HOME}, behind a safe function with a SAFETY line",
                source.path.display()
            )
        })
        .collect()
}

/// Whether the code of a line, its comments and texts left out, has `unsafe` or `unsafe_code` in it.
fn speaks_of_unsafe(line: &str) -> bool {
    let code = code_of(line);
    code.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .any(|word| word == "unsafe" || word == "unsafe_code")
}

/// A line without its texts and without its line comment. Texts of several lines are taken for code.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut letters = line.chars().peekable();
    let mut in_text = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_text => {
                letters.next();
            }
            '"' => in_text = !in_text,
            _ if in_text => {}
            '/' if letters.peek() == Some(&'/') => break,
            letter => code.push(letter),
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_words_about_it() {
        for line in [
            "unsafe { libc::fork() }",
            "    unsafe fn f() {}",
            "let a = \"//\"; unsafe {}",
            "let a = \"\\\"\"; unsafe {}",
            "#![expect(unsafe_code, reason = \"x\")]",
        ] {
            assert!(speaks_of_unsafe(line), "{line}");
        }
        for line in [
            "// unsafe is elsewhere",
            "let a = \"unsafe\";",
            "let is_unsafe = unsafely();",
            "",
        ] {
            assert!(!speaks_of_unsafe(line), "{line}");
        }
    }

    #[test]
    fn one_crate_is_its_home() {
        let source = |path: &str| Source {
            path: path.into(),
            text: "fn a() {}\nunsafe fn b() {}\n".to_owned(),
        };
        assert_eq!(
            check(&source("crates/throng-sys/examples/a.rs")),
            Vec::<String>::new()
        );
        let violations = check(&source("crates/throng-load/src/a.rs"));
        assert_eq!(violations.len(), 1);
        assert!(
            violations[0].starts_with("crates/throng-load/src/a.rs:2: "),
            "{violations:?}"
        );
    }
}
