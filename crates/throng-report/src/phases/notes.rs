//! How to read the table of phases.

use super::PhaseLine;
use crate::row::Row;

/// What the columns of both sides are, and what their mark means.
pub(crate) fn legend(rows: &[Row], greets: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let greetings = if greets {
        ", in which greetings that came early are part of connect"
    } else {
        ""
    };
    lines.push(format!("user, system, total: CPU time of each side over the time from the reading before a phase to the reading after it{greetings}. That is longer than real by whatever was waited for in vain (timeouts, a second copy); threads and RSS at its end. Medians over repeats; –: not visible from here, or no reading of its own."));
    if rows.iter().any(PhaseLine::is_noise) {
        lines.push(
            "≈: user and system are counted in ticks, below 50 ms they are noise; total is exact."
                .to_owned(),
        );
    }
    lines
}
