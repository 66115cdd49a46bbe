//! "Did you mean …?", and lists of words as people write them.

/// The candidate nearest to what was written, if one is near enough to have been meant: Jaro–Winkler similarity of at
/// least 0.8, which lets through a slip or two but no other word.
pub fn nearest<'word>(
    written: &str,
    candidates: impl Iterator<Item = &'word str>,
) -> Option<&'word str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(written, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate)
}

/// `a, b or c`.
pub fn or_list(words: &[impl AsRef<str>]) -> String {
    match words {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", rest.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let models = ["poll", "epoll-edge", "io-uring", "thread-per-connection"];
        let nearest = |written| nearest(written, models.into_iter());
        assert_eq!(nearest("epoll-egde"), Some("epoll-edge"));
        assert_eq!(nearest("iouring"), Some("io-uring"));
        assert_eq!(
            nearest("thread-per-conection"),
            Some("thread-per-connection")
        );
        assert_eq!(nearest("nginx"), None);
    }

    #[test]
    fn lists_read_as_a_sentence() {
        assert_eq!(or_list(&["a", "b", "c"]), "a, b or c");
        assert_eq!(or_list(&["a"]), "a");
        assert_eq!(or_list(&[] as &[&str]), "");
    }
}
