//! Closing every connection.

use crate::figure::Figure;
use crate::phases::PhaseKind;
use crate::unit::Unit;

pub(super) fn figures() -> Vec<Figure> {
    vec![Figure::number(
        "close_duration_ns",
        "close",
        Unit::Nanoseconds,
        "From the first half-close to the last end.",
        |one| Some(PhaseKind::Close.duration_ns(one.trial)? as f64),
    )]
}
