//! Memory of a process tree, as exact as it may be read.

use throng_record::MemorySample;
use throng_sys::process_tree::ProcessTree;

/// Resident and proportional set; only the former, and less exact, of a process that may not be looked into.
pub(super) fn sample(tree: &ProcessTree) -> MemorySample {
    let rss_bytes = || {
        let sample = tree.sample().ok().flatten();
        sample.map_or(0, |sample| sample.rss_bytes)
    };
    exact(tree).unwrap_or_else(|| inexact(rss_bytes()))
}

/// The same of a process that may leave at any moment: `rss_bytes` was seen a moment ago.
pub(super) fn sample_or(tree: &ProcessTree, rss_bytes: u64) -> MemorySample {
    exact(tree).unwrap_or_else(|| inexact(rss_bytes))
}

fn exact(tree: &ProcessTree) -> Option<MemorySample> {
    let sample = tree.sample_memory().ok().flatten()?;
    (sample.processes > 0).then_some(MemorySample {
        rss_bytes: sample.rss_bytes,
        pss_bytes: Some(sample.pss_bytes),
        anonymous_pss_bytes: Some(sample.anonymous_pss_bytes),
    })
}

fn inexact(rss_bytes: u64) -> MemorySample {
    MemorySample {
        rss_bytes,
        pss_bytes: None,
        anonymous_pss_bytes: None,
    }
}
