//! What a run says: one row for each target and setting, ranked; what explains them; what could not be seen.
//!
//! Every report but the CSV of single trials is made from this, and `--format json` is this.
//!
//! **Which trials a row stands on.** Its valid ones, where they are at least as many as the qualified ones; then the row is
//! ranked; of an open loop only if none of its trials missed its rate. Otherwise its valid and qualified ones together, as a bound ("at least X"), since leaving most of the fast
//! trials out would flatter nobody but the slow ones; then it stands apart. A row without either stands on nothing: it has
//! no figures, only a reason. Latencies are those of all its trials merged, so that a percentile is one of messages and not
//! an average of percentiles.
//!
//! **The order.** Closed loop and lockstep: by throughput, greatest first. Open loop: every target that keeps up has the
//! same throughput, so the 99th percentile of latency decides, least first. Ranked rows come first, then bounds, then the rest
//! in the plan's order.

mod making;

use serde::Serialize;
use throng_record::{Machine, NetworkRecord, Plan};

use crate::checks::Remark;
use crate::disturbed::Disturbed;
use crate::figure::Figure;
use crate::findings::Found;
use crate::hosts::HostRow;
use crate::leading::Leading;
use crate::ratio::Compared;
use crate::row::Row;
use crate::setting;
use crate::slowest::SlowRequest;

/// A whole run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary<'a> {
    /// Version of this form.
    pub schema_version: u32,
    /// Program that made the run.
    pub throng_version: &'a str,
    /// Start, RFC 3339 in UTC.
    pub started_at: &'a str,
    /// Length of the run.
    pub duration_ns: u64,
    /// Trials that the plan asks for.
    pub trials_planned: u32,
    /// Trials that ran to their end, whether their figures hold or not; fewer than planned where the run was cut short.
    pub trials_made: u32,
    /// Ended early by the user.
    pub interrupted: bool,
    /// Name of the target that the others are compared with.
    pub baseline: &'a str,
    /// The answer to the run's question, in sentences.
    pub answer: Vec<String>,
    /// What the numbers of its rows are: every figure that the run may have.
    pub figures: Vec<Figure>,
    /// A row for each setting and target, of every experiment: by setting in the plan's order; where rows are ranked, within a setting the ranked ones
    /// first.
    pub rows: Vec<Row>,
    /// What explains the figures, each kind of finding once.
    pub findings: Vec<Found<'a>>,
    /// The slowest requests whose causes are known.
    pub slowest: Vec<SlowRequest<'a>>,
    /// What should have been observed and could not, each reason once.
    pub unseen: Vec<Unseen<'a>>,
    /// Targets with a loop for each CPU that got only one, on a machine that has more.
    pub held_to_one_cpu: Vec<&'a str>,
    /// What of it is of a disturbed machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<Disturbed>,
    /// What the checks found, each thing once.
    pub remarks: Vec<Remark>,
    /// The resolved plan.
    #[cfg_attr(test, schemars(with = "crate::schema::Plan"))]
    pub plan: &'a Plan,
    /// The network of launched targets.
    #[cfg_attr(test, schemars(with = "crate::schema::NetworkRecord"))]
    pub network: &'a NetworkRecord,
    /// The machine.
    #[cfg_attr(test, schemars(with = "crate::schema::Machine"))]
    pub machine: &'a Machine,
    /// The hosts that generated the load; absent where it was made on the machine itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub hosts: Vec<HostRow>,
    /// The figure by which rows are ordered.
    #[serde(skip)]
    pub(crate) leading: Leading,
    /// What the throughput counts.
    #[serde(skip)]
    pub(crate) unit: &'static str,
}

/// What could not be observed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unseen<'a> {
    /// In words, with what would let it.
    pub reason: &'a str,
    /// Trials in which it was so.
    pub trials: u32,
}

impl Summary<'_> {
    /// Whether trials that the plan asks for are missing.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.trials_made < self.trials_planned
    }

    /// The figure by which its targets are ordered and compared, if they are.
    pub(crate) fn compared(&self) -> Compared {
        self.leading
            .compared()
            .unwrap_or(Compared::MessagesPerSecond)
    }

    /// The rows of each setting, in the plan's order, under what tells it from the others.
    pub(crate) fn by_setting(&self) -> Vec<(String, Vec<Row>)> {
        let settings = self.plan.settings.iter().zip(0..);
        settings
            .map(|(setting, index)| {
                let rows = self.rows.iter().filter(|row| row.setting == index);
                (setting::heading(setting), rows.cloned().collect())
            })
            .collect()
    }
}
