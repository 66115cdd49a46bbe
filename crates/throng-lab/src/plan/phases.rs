//! `[[phase]]`: what a fleet does, in the order in which it is written, each phase with its keys.
//!
//! A kind of phase occurs once. Its keys are keys of the plan, which only stand where they are used: so they are swept, set by flags and refused as all others are.
//! Left out on purpose: two exchanges in one trial. Which of them a check or a finding speaks of would have to be told, and a sweep compares two rates as well.

use serde::de::{self, Deserialize, Deserializer};

use super::PlanDraft;
use throng_catalogue::suggest::or_list;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Every connection is opened.
    Connect,
    /// Nothing is sent.
    Hold,
    /// Messages are exchanged.
    Exchange,
    /// A sample of the connections is pinged.
    Ping,
    /// Every connection is closed.
    Close,
}

/// A phase as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseDraft {
    /// What is done.
    pub kind: PhaseKind,
    /// With these keys; the plan has taken them over once it is read.
    keys: PlanDraft,
}

impl PhaseKind {
    /// Its word in a plan file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Hold => "hold",
            Self::Exchange => "exchange",
            Self::Ping => "ping",
            Self::Close => "close",
        }
    }

    /// The keys that may stand in it.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Connect => &["connections", "connect-concurrency", "connect-rate"],
            Self::Hold => &["duration"],
            Self::Exchange => &[
                "duration",
                "messages",
                "confidence",
                "max-duration",
                "warmup",
                "outstanding",
                "lockstep",
                "rate",
                "arrivals",
                "spin",
            ],
            Self::Ping => &["pings"],
            Self::Close => &[],
        }
    }

    /// The phase that has no use for being left out where this key of the plan is mentioned.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        match key {
            "hold" => Some(Self::Hold),
            _ => [Self::Exchange, Self::Ping]
                .into_iter()
                .find(|kind| kind.keys().contains(&key)),
        }
    }

    /// What the plan calls a key of it.
    fn in_plan(self, key: &str) -> &str {
        match (self, key) {
            (Self::Hold, "duration") => "hold",
            (_, key) => key,
        }
    }
}

impl<'de> Deserialize<'de> for PhaseDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = toml::Table::deserialize(deserializer)?;
        let Some(kind) = table.remove("do") else {
            return Err(de::Error::custom(
                "a phase says what is done; write do = \"connect\", \"hold\", \"exchange\", \"ping\" or \"close\"",
            ));
        };
        let kind: PhaseKind = kind.try_into().map_err(de::Error::custom)?;
        let keys: PlanDraft = table.try_into().map_err(de::Error::custom)?;
        let unknown = |key: &&String| !kind.keys().contains(&key.as_str());
        match keys.mentioned().iter().find(unknown) {
            None => Ok(Self { kind, keys }),
            Some(key) => Err(de::Error::custom(format!(
                "`{key}` is no key of the phase {}; {}",
                kind.name(),
                match kind.keys() {
                    [] => "it has none".to_owned(),
                    keys => format!("it has {}", or_list(keys)),
                }
            ))),
        }
    }
}

impl PlanDraft {
    /// Takes over the keys of its phases; an error names one that stands twice.
    pub(super) fn take_phases(&mut self) -> Result<(), String> {
        if let Some(quick) = &mut self.quick {
            quick.take_phases()?;
        }
        let Some(mut phases) = self.phase.take() else {
            return Ok(());
        };
        for PhaseDraft { kind, keys } in &mut phases {
            let mentioned = self.mentioned();
            let own = keys.mentioned();
            let twice = own
                .iter()
                .find(|key| mentioned.iter().any(|known| known == kind.in_plan(key)));
            if let Some(key) = twice {
                return Err(format!(
                    "`{key}` of the phase {} stands in the plan already; write it once",
                    kind.name()
                ));
            }
            let mut keys = std::mem::take(keys);
            if *kind == PhaseKind::Hold {
                keys.hold = keys.duration.take();
            }
            self.take(keys);
        }
        self.phase = Some(phases);
        Ok(())
    }

    /// Whether it has a phase of this kind.
    pub(super) fn has_phase(&self, wanted: PhaseKind) -> bool {
        let mut phases = self.phase.iter().flatten();
        phases.any(|phase| phase.kind == wanted)
    }
}
