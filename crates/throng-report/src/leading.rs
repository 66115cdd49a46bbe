//! The figure that rows are ordered and compared by.
//!
//! Where the servers decide it (closed loop, lockstep) that is the throughput; in an open loop, where the rate is given and every target that keeps up has the
//! same, the 99th percentile of latency. Experiments whose question has several answers rank nothing.

use throng_record::{Decision, Pacing, Plan};

use crate::figure::OneTrial;
use crate::ratio::Compared;

/// Which figure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leading {
    /// Rows are compared by it.
    Compared(Compared),
    /// Total time: rows are read beside each other, and not ranked.
    TotalTime,
    /// Nothing leads.
    None,
}

impl Leading {
    pub(crate) fn compared(self) -> Option<Compared> {
        match self {
            Self::Compared(compared) => Some(compared),
            Self::TotalTime | Self::None => None,
        }
    }

    /// Of one trial.
    pub(crate) fn of_trial(self, one: &OneTrial<'_>) -> Option<f64> {
        let phases = &one.trial.phases;
        Some(match self {
            Self::Compared(Compared::MessagesPerSecond) => phases.exchange()?.replies_per_second,
            Self::Compared(Compared::LatencyP99) => phases.exchange()?.latency.p99_ns as f64,
            Self::Compared(Compared::CapacityPerSecond) => {
                let probe = one.trial.probe.as_ref()?;
                probe
                    .offered_per_second
                    .filter(|_| probe.decision == Decision::Met)?
            }
            Self::TotalTime => phases.connections()?.duration_ns as f64,
            Self::None => return None,
        })
    }
}

/// The settings of a plan differ in how fast, but not in how they are paced.
pub(crate) fn by_pacing(plan: &Plan) -> Compared {
    let first = plan.settings.first();
    let exchange = first.and_then(|setting| setting.phases.exchange());
    match exchange.map(|asked| &asked.pacing) {
        Some(Pacing::Open { .. }) => Compared::LatencyP99,
        Some(Pacing::Closed { .. } | Pacing::Lockstep { .. } | Pacing::Tasks(_)) | None => {
            Compared::MessagesPerSecond
        }
    }
}
