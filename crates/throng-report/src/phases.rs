//! The phases of the experiments with many connections: how long each was on the clock, and what it cost both sides.
//!
//! `lines` is their table, `notes` how to read it.

pub(crate) mod lines;
pub(crate) mod notes;

use serde::Serialize;
use throng_record::{LinePhase, PhaseCost, PhaseName, SideCost, Trial};

use crate::crowd::Behind;
use crate::median::Estimate;

/// A phase as the published tables have it: the put stands apart from the get, within which it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Every connection is opened.
    Connect,
    /// Every connection is greeted.
    Acknowledge,
    /// One line is put.
    Put,
    /// It comes out of every connection.
    Get,
    /// Lines are put at a rate.
    Sustain,
    /// Nothing is sent.
    Hold,
    /// A sample is pinged.
    Ping,
    /// Every connection is closed.
    Close,
}

impl PhaseKind {
    /// Those of a fan-out that are told of, in their order.
    pub const OF_FANOUT: [Self; 5] = [
        Self::Connect,
        Self::Acknowledge,
        Self::Put,
        Self::Get,
        Self::Sustain,
    ];

    /// Those of holding, in their order.
    pub const OF_HOLD: [Self; 4] = [Self::Connect, Self::Hold, Self::Ping, Self::Close];

    /// The word for it in tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Acknowledge => "ack",
            Self::Put => "put",
            Self::Get => "get",
            Self::Sustain => "sustain",
            Self::Hold => "hold",
            Self::Ping => "ping",
            Self::Close => "close",
        }
    }

    /// The stretch between two readings of both sides that is this phase; the put has none of its own.
    fn measured(self) -> Option<PhaseName> {
        match self {
            Self::Connect => Some(PhaseName::Connect),
            Self::Acknowledge => Some(PhaseName::Acknowledge),
            Self::Put => None,
            Self::Get => Some(PhaseName::Get),
            Self::Sustain => Some(PhaseName::Sustain),
            Self::Hold => Some(PhaseName::Hold),
            Self::Ping => Some(PhaseName::Ping),
            Self::Close => Some(PhaseName::Close),
        }
    }

    /// Its length on the clock; absent where nothing came of it.
    pub(crate) fn duration_ns(self, trial: &Trial) -> Option<u64> {
        let phases = &trial.phases;
        match self {
            Self::Connect => Some(phases.connect()?.duration_ns),
            Self::Acknowledge => line(phases.greeting()?),
            Self::Put => phases.put()?.put_ns,
            Self::Get => line(&phases.put()?.line),
            Self::Sustain => {
                let sustained = phases.sustained()?;
                (sustained.deliveries > 0).then_some(sustained.duration_ns)
            }
            Self::Hold => Some(phases.hold()?.duration_ns),
            Self::Ping => {
                let pinged = phases.ping()?;
                (pinged.answered > 0).then_some(pinged.duration_ns)
            }
            Self::Close => {
                let length_ns = phases.close()?.duration_ns;
                (length_ns > 0).then_some(length_ns)
            }
        }
    }

    /// What it cost both sides.
    pub(crate) fn cost(self, trial: &Trial) -> Option<&PhaseCost> {
        trial.phases.cost(self.measured()?)
    }
}

/// 0 is a length only where the line had come to everybody before the phase began; else nothing was measured.
fn line(line: &LinePhase) -> Option<u64> {
    let had_all_come = line.received > 0 && line.received >= line.due;
    (line.duration_ns > 0 || had_all_come).then_some(line.duration_ns)
}

/// One phase of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// Which.
    pub phase: PhaseKind,
    /// Its length on the clock: of what it was for, without the waits for what never came.
    pub duration_ns: Option<Estimate>,
    /// The time in which the costs arose, from the reading of both sides before it to the one after it; median. Whatever was waited for
    /// in vain is in it.
    pub window_ns: Option<f64>,
    /// What it cost the generator.
    pub generator: Option<Cost>,
    /// What it cost the server.
    pub server: Option<Cost>,
}

/// What a phase cost one side; medians over the trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// CPU time.
    pub cpu_ns: f64,
    /// Its user part, counted in ticks: below 50 ms it is noise.
    pub user_ns: f64,
    /// Its system part, likewise.
    pub system_ns: f64,
    /// Threads at its end.
    pub threads: f64,
    /// Resident set at its end.
    pub rss_bytes: f64,
}

/// Those of these that any of the trials came to.
pub(crate) fn of(behind: &Behind<'_>, kinds: &[PhaseKind]) -> Vec<Phase> {
    let phase = |phase: PhaseKind| {
        let found = Phase {
            phase,
            duration_ns: behind.estimate(|trial| Some(phase.duration_ns(trial)? as f64)),
            window_ns: behind.median(|trial| Some(phase.cost(trial)?.window_ns as f64)),
            generator: cost(behind, phase, |cost| cost.generator),
            server: cost(behind, phase, |cost| cost.server),
        };
        let is_there = found.duration_ns.is_some() || found.generator.is_some();
        is_there.then_some(found)
    };
    kinds.iter().copied().filter_map(phase).collect()
}

fn cost(
    behind: &Behind<'_>,
    phase: PhaseKind,
    side: fn(&PhaseCost) -> Option<SideCost>,
) -> Option<Cost> {
    let median =
        |pick: fn(&SideCost) -> f64| behind.median(|trial| Some(pick(&side(phase.cost(trial)?)?)));
    Some(Cost {
        cpu_ns: median(|cost| cost.cpu_ns as f64)?,
        user_ns: median(|cost| cost.user_ns as f64)?,
        system_ns: median(|cost| cost.system_ns as f64)?,
        threads: median(|cost| f64::from(cost.threads))?,
        rss_bytes: median(|cost| cost.rss_bytes as f64)?,
    })
}
