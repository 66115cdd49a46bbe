//! "Did you mean …?"

/// The candidate nearest to what was written, if near enough to have been meant: a Jaro–Winkler similarity of at least 0.75,
/// which lets through a slip or two.
pub(crate) fn nearest<'word>(
    written: &str,
    candidates: impl Iterator<Item = &'word str>,
) -> Option<&'word str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(written, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.75)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate)
}
