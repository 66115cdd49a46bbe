//! `[[phase]]`: what a fleet does, in the order in which it is written, each phase with its keys.
//!
//! A kind of phase occurs once. Its keys are keys of the plan, which only stand where they are used: so they are swept, set by flags and refused as all others are.
//! Left out on purpose: two exchanges in one trial. Which of them a check or a finding speaks of would have to be told, and a sweep compares two rates as well.

use serde::de::{self, Deserialize, Deserializer};
use throng_record::PhaseName;

use super::PlanDraft;
use throng_catalogue::suggest::or_list;

/// A phase as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseDraft {
    /// What is done.
    pub kind: PhaseName,
    /// With these keys; the plan has taken them over once it is read.
    keys: PlanDraft,
}

/// The kinds of phases that a plan can write, and the keys that may stand in each.
const KINDS: [(PhaseName, &[&str]); 5] = [
    (
        PhaseName::Connect,
        &["connections", "connect-concurrency", "connect-rate"],
    ),
    (PhaseName::Hold, &["duration"]),
    (
        PhaseName::Exchange,
        &[
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
    ),
    (PhaseName::Ping, &["pings"]),
    (PhaseName::Close, &[]),
];

/// What a plan calls a key of a phase.
fn in_plan(kind: PhaseName, key: &str) -> &str {
    match (kind, key) {
        (PhaseName::Hold, "duration") => "hold",
        (_, key) => key,
    }
}

/// The phase without which a key of the plan has no use. Connections are opened whether or not that is written.
pub(super) fn of_key(key: &str) -> Option<PhaseName> {
    let mut kinds = KINDS
        .into_iter()
        .filter(|(kind, _)| *kind != PhaseName::Connect);
    let kind = kinds.find(|(kind, keys)| keys.iter().any(|own| in_plan(*kind, own) == key));
    kind.map(|(kind, _)| kind)
}

impl<'de> Deserialize<'de> for PhaseDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = toml::Table::deserialize(deserializer)?;
        let written = table.remove("do");
        let kind = written.clone().and_then(|kind| kind.try_into().ok());
        let known = KINDS.into_iter().find(|(known, _)| Some(*known) == kind);
        let Some((kind, own)) = known else {
            let words = KINDS.map(|(kind, _)| format!("\"{}\"", kind.name()));
            let why = match written {
                None => "a phase says what is done".to_owned(),
                Some(other) => format!("{other} is no phase that a plan can write"),
            };
            return Err(de::Error::custom(format!(
                "{why}; write do = {}",
                or_list(&words)
            )));
        };
        let keys: PlanDraft = table.try_into().map_err(de::Error::custom)?;
        let unknown = |key: &&String| !own.contains(&key.as_str());
        match keys.mentioned().iter().find(unknown) {
            None => Ok(Self { kind, keys }),
            Some(key) => Err(de::Error::custom(format!(
                "`{key}` is no key of the phase {}; {}",
                kind.name(),
                match own {
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
                .find(|key| mentioned.iter().any(|known| known == in_plan(*kind, key)));
            if let Some(key) = twice {
                return Err(format!(
                    "`{key}` of the phase {} stands in the plan already; write it once",
                    kind.name()
                ));
            }
            let mut keys = std::mem::take(keys);
            if *kind == PhaseName::Hold {
                keys.hold = keys.duration.take();
            }
            self.take(keys);
        }
        self.phase = Some(phases);
        Ok(())
    }

    /// Whether it has a phase of this kind.
    pub(super) fn has_phase(&self, wanted: PhaseName) -> bool {
        let mut phases = self.phase.iter().flatten();
        phases.any(|phase| phase.kind == wanted)
    }
}
