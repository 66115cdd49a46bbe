//! The phases of the experiments with many connections: how long each was on the clock, and what it cost both sides.
//!
//! `lines` is their table, `notes` how to read it.

mod lines;
pub(crate) mod notes;

pub(crate) use lines::{PhaseLine, sheet};
use serde::Serialize;
use throng_record::{LinePhase, Trial};

/// A phase as the published tables have it: the put stands apart from the get, within which it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Every connection is opened.
    Connect,
    /// Every connection makes its TLS handshake.
    Tls,
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
    pub const OF_HOLD: [Self; 5] = [
        Self::Connect,
        Self::Tls,
        Self::Hold,
        Self::Ping,
        Self::Close,
    ];

    /// The word for it in tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Acknowledge => "ack",
            Self::Put => "put",
            Self::Get => "get",
            Self::Sustain => "sustain",
            Self::Hold => "hold",
            Self::Ping => "ping",
            Self::Close => "close",
        }
    }

    /// What its figures are called by: `connect_duration_ns`.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Acknowledge => "acknowledge",
            other => other.word(),
        }
    }

    /// Its length on the clock; absent where nothing came of it.
    pub(crate) fn duration_ns(self, trial: &Trial) -> Option<u64> {
        let phases = &trial.phases;
        match self {
            Self::Connect => Some(phases.connect()?.duration_ns),
            Self::Tls => Some(phases.tls()?.duration_ns),
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
}

/// 0 is a length only where the line had come to everybody before the phase began; else nothing was measured.
fn line(line: &LinePhase) -> Option<u64> {
    let had_all_come = line.received > 0 && line.received >= line.due;
    (line.duration_ns > 0 || had_all_come).then_some(line.duration_ns)
}
