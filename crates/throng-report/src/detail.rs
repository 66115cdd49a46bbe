//! What a row has beside its figures: curves, parts and places, of the experiments that ask for them.

use serde::Serialize;
use throng_record::plan::Experiment;
use throng_record::{RunRecord, Trial};

use crate::accept::along::{self, Along};
use crate::fanout::order::{self, Order};
use crate::hold::curve::{self, Point};
use crate::hold::memory::{self, KernelMemory};

/// By experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// What an accept and a byte cost along the idle connections.
    Multiplexer {
        /// Numbers of idle connections at which costs are told.
        idle: Vec<u32>,
        /// From the wait's call to the accepted descriptor.
        accept: Along,
        /// From the wait's call to the end of the read.
        data: Along,
    },
    /// Who heard the greeting, and who the line, how late; of the trial whose get took the median time.
    Fanout {
        /// Empty where the record does not tell.
        order: Vec<Order>,
    },
    /// Of the trial whose connecting took the median time.
    Hold {
        /// Connects over time, at most 60 points.
        curve: Vec<Point>,
        /// What of the kernel's memory grew, and what was left of it in the end.
        kernel: Option<KernelMemory>,
    },
}

impl Detail {
    /// Of the trials that a row stands on.
    pub(crate) fn of(record: &RunRecord, shown: &[&Trial], setting: u32) -> Option<Self> {
        let asked = &record.plan.settings[setting as usize];
        match record.plan.experiment {
            Experiment::Echo | Experiment::Churn | Experiment::Backlog => None,
            Experiment::Accept => {
                let idle = along::points(asked.connections);
                let phases = || shown.iter().filter_map(|trial| trial.phases.multiplexer());
                Some(Self::Multiplexer {
                    accept: along::of(phases().map(|phase| &phase.accept), &idle),
                    data: along::of(phases().map(|phase| &phase.data), &idle),
                    idle,
                })
            }
            Experiment::Fanout => Some(Self::Fanout {
                order: order::of(shown, asked.connections),
            }),
            Experiment::Hold => {
                let typical = typical(shown);
                let connect = typical.and_then(|trial| trial.phases.connect());
                Some(Self::Hold {
                    curve: connect.map(curve::points).unwrap_or_default(),
                    kernel: typical.and_then(memory::of),
                })
            }
        }
    }
}

/// The trial whose connecting took the median time; of an even number the shorter of the middle two.
fn typical<'a>(trials: &[&'a Trial]) -> Option<&'a Trial> {
    let length = |trial: &Trial| trial.phases.connect().map(|phase| phase.opened_ns);
    let mut begun: Vec<&Trial> = trials
        .iter()
        .copied()
        .filter(|trial| length(trial).is_some())
        .collect();
    begun.sort_by_key(|trial| length(trial));
    begun.get(begun.len().checked_sub(1)? / 2).copied()
}
