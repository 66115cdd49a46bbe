//! Parts of sentences that several findings use.

use throng_record::format::time_ns;

/// A clause for what may not have been seen.
pub(super) fn maybe<T>(seen: Option<T>, clause: impl Fn(T) -> String) -> String {
    seen.map_or_else(String::new, clause)
}

/// A measured time.
pub(super) fn time(nanoseconds: u64) -> String {
    time_ns(nanoseconds as f64)
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
