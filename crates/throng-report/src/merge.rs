//! The histograms of several trials made one: a percentile of a row is one of all its messages, never a mean of percentiles.

use std::collections::HashMap;

use throng_record::histogram::{self, DecodeError};
use throng_record::{Histogram, Trial};

/// A histogram that can be added to.
pub(crate) type Live = hdrhistogram::Histogram<u64>;

/// What was merged of a row's trials, by distribution: its quantiles share it.
#[derive(Default)]
pub(crate) struct Merges(HashMap<String, Result<Option<Live>, String>>);

impl Merges {
    /// All messages of these trials in one histogram, which is made once; the error says why it cannot be read.
    pub(crate) fn of(
        &mut self,
        distribution: &str,
        trials: &[&Trial],
        pick: fn(&Trial) -> Option<&Histogram>,
    ) -> Result<Option<&Live>, String> {
        let merge = || merged(trials, pick).map_err(|error| error.to_string());
        let known = self.0.entry(distribution.to_owned());
        match known.or_insert_with(merge) {
            Ok(all) => Ok(all.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }
}

/// `None` where there is not one.
fn merged(
    trials: &[&Trial],
    pick: fn(&Trial) -> Option<&Histogram>,
) -> Result<Option<Live>, Unreadable> {
    let mut all = histogram::empty();
    for stored in trials.iter().filter_map(|trial| pick(trial)) {
        all.add(stored.decode()?).map_err(Unreadable::TooLong)?;
    }
    Ok((!all.is_empty()).then_some(all))
}

/// Why a histogram of the record is missing from the figures.
enum Unreadable {
    Damaged(DecodeError),
    TooLong(hdrhistogram::AdditionError),
}

impl From<DecodeError> for Unreadable {
    fn from(error: DecodeError) -> Self {
        Self::Damaged(error)
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Damaged(error) => error.fmt(to),
            Self::TooLong(error) => write!(to, "a value is beyond one hour ({error:?})"),
        }
    }
}
