//! Short files: who has to scroll for long does not see the whole.

use super::Source;

/// Lines of a file that is not of tests alone, its unit tests included.
const LINES_MAX: usize = 450;

pub(super) fn check(source: &Source) -> Option<String> {
    let lines = source.text.lines().count();
    (source.path.starts_with("crates") && !source.is_test() && lines > LINES_MAX).then(|| {
        format!(
            "{}: {lines} lines, at most {LINES_MAX}: part it by concept, or move its tests to a tests.rs",
            source.path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, lines: usize) -> bool {
        let text = "\n".repeat(lines);
        check(&Source {
            path: path.into(),
            text,
        })
        .is_some()
    }

    #[test]
    fn long_sources_are_found_and_long_tests_are_not() {
        assert!(found("crates/a/src/b.rs", LINES_MAX + 1));
        assert!(!found("crates/a/src/b.rs", LINES_MAX));
        assert!(!found("crates/a/src/b/tests.rs", LINES_MAX + 1));
        assert!(!found("crates/a/tests/b.rs", LINES_MAX + 1));
    }
}
