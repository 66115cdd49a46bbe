//! Memory of a process tree, as exact as it may be read.

use throng_record::MemorySample;
use throng_sys::process_tree::ProcessTree;

/// Resident and proportional set; only the former, and less exact, of a process that may not be looked into; zero of one
/// that is gone.
pub(super) fn sample(tree: &ProcessTree) -> MemorySample {
    if let Ok(Some(exact)) = tree.sample_memory() {
        return MemorySample {
            rss_bytes: exact.rss_bytes,
            pss_bytes: Some(exact.pss_bytes),
        };
    }
    let rss_bytes = tree
        .sample()
        .ok()
        .flatten()
        .map_or(0, |sample| sample.rss_bytes);
    MemorySample {
        rss_bytes,
        pss_bytes: None,
    }
}
