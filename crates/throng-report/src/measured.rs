//! What an experiment decides about its rows: by what they are ordered, on which trials they stand, and what they have beside figures.

use throng_record::{Plan, RunRecord, Setting, TargetRecord, Trial};

use crate::detail::Detail;
use crate::leading::Leading;
use crate::published::Published;
use crate::worth::Sorted;

/// A target at a setting: where it stands in the record, and the trials that its row shows.
pub(crate) struct CellShown<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) target: u32,
    pub(crate) setting: u32,
    pub(crate) asked: &'a Setting,
    pub(crate) shown: &'a [&'a Trial],
}

/// From trials to rows.
pub(crate) trait Measured {
    /// The figure that rows are ordered and compared by.
    fn leading(&self, _plan: &Plan) -> Leading {
        Leading::None
    }

    /// The trials that the figures of a row are made from: those that rank it (see [`crate::summary`]), or none.
    fn shown<'a>(&self, sorted: &Sorted<'a>) -> Vec<&'a Trial> {
        sorted.basis.clone()
    }

    /// What a row has that is no single figure.
    fn detail(&self, _cell: &CellShown<'_>) -> Option<Detail> {
        None
    }

    /// What is published of this target at this setting. Of trials that had another backlog than was asked for, nothing is.
    fn published(
        &self,
        _target: &TargetRecord,
        _asked: &Setting,
        _trials: &[&Trial],
    ) -> Option<Published> {
        None
    }
}
