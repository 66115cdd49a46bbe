//! Work in place of a request's own.

use std::hint::black_box;

/// The most that is counted to.
pub(super) const MAX: u64 = 1_000_000_000;

/// The loop runs as often as it says, whatever the compiler makes of it.
pub(super) fn to(count: u64) {
    let mut reached = 0;
    while reached < count {
        reached = black_box(reached + 1);
    }
}
