//! The answer to a run's question, in two or three sentences that are computed from its figures.
//!
//! Who leads and by how much, who cannot be told apart, what the figures stand on. Nothing is said that the tables do not hold. Left out on purpose: why; that
//! is what findings say. Each experiment has its sentences; what several need is here.

/// Settings of a sweep of which a sentence each is said: the first, the middle and the last.
pub(crate) const SETTINGS: usize = 3;

/// The first, the middle and the last.
pub(crate) fn chosen<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let last = all.len().saturating_sub(1);
    let mut wanted = [0, last / 2, last].to_vec();
    wanted.dedup();
    wanted.into_iter().filter_map(|index| all.get(index))
}
