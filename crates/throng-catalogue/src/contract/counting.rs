//! Whether a server counts as far as it is asked to.

use super::clause::{Outcome, Verdict};
use super::client::Client;
use super::stage::{Failure, Stage};

/// By CPU time, which a busy machine does not change. More is asked for until it takes long: of a slow language no more than it
/// can bear, of a fast one so much that a loop would show. `ask` sends a request with that count, and reads its answer.
pub(super) fn counts(
    stage: &Stage<'_>,
    ask: impl Fn(&mut Client, u64) -> Result<(), Failure>,
) -> Outcome {
    const COUNTS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];
    const LONG_NS: u64 = 100_000_000;
    let server = stage.start()?;
    let mut client = stage.connect(&server)?;
    let mut ask = |count| {
        ask(&mut client, count)?;
        // Otherwise it is kept: the CPU time of a process that has ended with its connection is not seen.
        if !stage.connections_last() {
            client = stage.connect(&server)?;
        }
        Ok(())
    };
    for _ in 0..3 {
        ask(1)?;
    }
    for count in COUNTS {
        // No processor adds, compares and jumps ten times in a nanosecond.
        let least_ns = count / 10;
        let before_ns = server.sample()?.cpu_ns;
        ask(count)?;
        let used_ns = server.sample()?.cpu_ns.saturating_sub(before_ns);
        if used_ns < least_ns {
            return Failure::of(format!(
                "count={count} took {used_ns} ns of CPU time, less than a loop can take"
            ));
        }
        if used_ns >= LONG_NS {
            break;
        }
    }
    Ok(Verdict::Holds)
}
