//! Figures as people read them, those with a spread among them.

pub use throng_record::format::*;

use crate::median::{Estimate, Spread};

/// The spread behind a median, with a space before it: an interval in brackets, a range in parentheses, nothing for one value.
#[must_use]
pub fn spread(estimate: &Estimate, number: impl Fn(f64) -> String) -> String {
    match estimate.spread {
        Spread::Interval95 { low, high } => format!(" [{}, {}]", number(low), number(high)),
        Spread::Range { low, high } => format!(" ({} – {})", number(low), number(high)),
        Spread::Single => String::new(),
    }
}
