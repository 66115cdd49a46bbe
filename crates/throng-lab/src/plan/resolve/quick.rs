//! Bringing a shortened plan under two minutes, whatever it asks for.

use std::time::Duration;

use throng_record::{Amount, Plan, Stop};

use crate::estimate;

/// What `--quick` promises.
const LONGEST: Duration = Duration::from_secs(120);
/// Below this a figure says nothing any more, however many trials there are.
const SHORTEST_NS: u64 = 50_000_000;

/// Takes repeats, then length, until the estimate is below [`LONGEST`]; a note where something was taken. A stop by count
/// is left as it is: how long that takes is the server's secret.
pub(super) fn fit(plan: &mut Plan) -> Option<String> {
    let before = estimate(plan);
    if before < LONGEST {
        return None;
    }
    while plan.repeats > 1 && estimate(plan) >= LONGEST {
        plan.repeats -= 1;
    }
    while estimate(plan) >= LONGEST && halve_lengths(plan) {}
    let after = estimate(plan);
    let (before, after) = (before.as_secs(), after.as_secs());
    Some(format!(
        "the short form would take {before} s: shortened to {after} s, with {} repeats; \
         for more, leave --quick out or measure fewer targets",
        plan.repeats
    ))
}

/// Whether there was something left to halve.
fn halve_lengths(plan: &mut Plan) -> bool {
    let mut halved = false;
    let mut halve = |length_ns: &mut u64| {
        if *length_ns > SHORTEST_NS {
            *length_ns = (*length_ns / 2).max(SHORTEST_NS);
            halved = true;
        }
    };
    if let Stop::DurationNs(length_ns)
    | Stop::Confidence {
        max_duration_ns: length_ns,
        ..
    } = &mut plan.stop
    {
        halve(length_ns);
    }
    if let Amount::DurationNs(length_ns) = &mut plan.warmup {
        halve(length_ns);
    }
    halved
}
