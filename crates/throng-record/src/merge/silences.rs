//! Stretches without a reply: of several generators those that all of them met.

use crate::{ExchangePhase, Silence};

/// A server is silent where it is to all: what is left is silent in both, and counts from the first begin.
pub(super) fn merge(whole: &mut ExchangePhase, part: &ExchangePhase) {
    let first_ns = whole
        .started_at_monotonic_ns
        .min(part.started_at_monotonic_ns);
    let spans = |phase: &ExchangePhase| {
        let later_ns = phase.started_at_monotonic_ns - first_ns;
        let moved = |silence: &Silence| Silence {
            at_ns: silence.at_ns + later_ns,
            ..*silence
        };
        phase.silences.iter().map(moved).collect::<Vec<_>>()
    };
    let (ours, theirs) = (spans(whole), spans(part));
    let common = ours.iter().flat_map(|one| {
        theirs.iter().filter_map(|other| {
            let at_ns = one.at_ns.max(other.at_ns);
            let end_ns = (one.at_ns + one.duration_ns).min(other.at_ns + other.duration_ns);
            let duration_ns = end_ns
                .checked_sub(at_ns)
                .filter(|&length_ns| length_ns > 0)?;
            // Where a generator was late is not known; at worst in all of it.
            let late_ns = one.generator_late_ns.max(other.generator_late_ns);
            Some(Silence {
                at_ns,
                duration_ns,
                generator_late_ns: late_ns.min(duration_ns),
                waiting: one.waiting + other.waiting,
            })
        })
    });
    whole.silences = common.collect();
}
