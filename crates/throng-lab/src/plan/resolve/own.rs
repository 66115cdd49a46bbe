//! What each target is measured at, where targets have values of their own for some keys: `python/system-4 --listeners 1,5`.
//!
//! Behind its name a target may be given values for the keys that its experiment lists, in the place of the plan's. A server of the catalogue is fitted besides to what it can do,
//! where the plan leaves that open. Each then has its own points of the sweep; a setting is any that one of them is measured at.

use throng_record::{Setting, SweptValue};

use crate::plan::draft::Point;
use crate::plan::experiments::Asks;
use crate::plan::kernel::KernelSweep;
use crate::plan::keys;
use crate::plan::{Environment, PlanDraft, PlanError};
use crate::target::TargetDraft;

/// A target, and the plan as it is for it.
pub(super) struct Own {
    pub(super) target: TargetDraft,
    pub(super) draft: PlanDraft,
    /// The keys of which it has values of its own.
    pub(super) keys: Vec<String>,
}

/// All targets, by their place.
#[derive(Default)]
pub(super) struct OfTargets {
    drafts: Vec<(usize, PlanDraft)>,
    /// Of which some targets have values of their own; empty where the plan is the same for all.
    pub(super) keys: Vec<String>,
}

impl OfTargets {
    pub(super) fn add(&mut self, place: usize, own: Own) {
        self.keys.extend(own.keys);
        self.drafts.push((place, own.draft));
    }

    /// Whether a target that is there already is asked something else here.
    pub(super) fn is_told_apart(&self, place: usize, own: &Own) -> bool {
        let mut known = self.drafts.iter().filter(|(known, _)| *known == place);
        known.all(|(_, draft)| *draft != own.draft)
    }

    /// The points of the sweep of each target, with what tells them apart.
    pub(super) fn points(
        &self,
        asks: &dyn Asks,
        kernel: &[KernelSweep],
    ) -> Result<Vec<(u32, Point)>, PlanError> {
        let mut all = Vec::new();
        let mut keys = self.keys.clone();
        for (place, draft) in &self.drafts {
            let points = super::points(draft, asks, kernel, self.drafts.len())?;
            all.extend(points.into_iter().map(|point| (*place as u32, point)));
            keys.extend(draft.swept(kernel).into_iter().map(|(key, _)| key));
        }
        name_keys(&mut all, &keys);
        Ok(all)
    }
}

/// Takes the values of its own from behind a target's name, and fits the plan to it.
pub(super) fn of(
    target: TargetDraft,
    draft: &PlanDraft,
    asks: &dyn Asks,
    environment: &Environment,
) -> Result<Own, PlanError> {
    let TargetDraft::Text(text) = &target else {
        return Ok(Own {
            target,
            draft: draft.clone(),
            keys: vec![],
        });
    };
    let (bare, mut own) = split(text, asks)?;
    let mut keys = own.mentioned();
    let mut merged = draft.clone();
    merged.take(std::mem::take(&mut own));
    let word = bare.split_whitespace().next().unwrap_or_default();
    let server = environment.catalogue.server(word);
    if let Some(server) = server
        && let Ok(manifest) = &server.manifest
    {
        let before = merged.clone();
        asks.fit(manifest, &mut merged)
            .map_err(|why| PlanError::ServerCannot {
                server: server.full_name(),
                why,
            })?;
        keys.extend(changed(&before, &merged));
    }
    Ok(Own {
        target: TargetDraft::Text(bare),
        draft: merged,
        keys,
    })
}

/// The keys that differ, of those that may be swept.
fn changed(before: &PlanDraft, after: &PlanDraft) -> Vec<String> {
    let of = |draft: &PlanDraft| draft.points(&[], &keys::own::OwnKeys::NONE);
    let (before, after) = (of(before), of(after));
    let texts = |points: &[Point], key: &str| -> Vec<String> {
        points.iter().map(|point| point.text(key)).collect()
    };
    let mut keys = PlanDraft::sweepable();
    keys.retain(|key| texts(&before, key) != texts(&after, key));
    keys
}

/// The target without the flags of the experiment's own keys, and what these say.
fn split(text: &str, asks: &dyn Asks) -> Result<(String, PlanDraft), PlanError> {
    let mut own = PlanDraft::default();
    let of_target = asks.keys().of_target;
    if of_target.is_empty() {
        return Ok((text.to_owned(), own));
    }
    let refuse = |why: String| PlanError::OwnKey {
        target: text.to_owned(),
        why,
    };
    let mut bare = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let flag = word.strip_prefix("--").unwrap_or_default();
        let (key, given) = match flag.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (flag, None),
        };
        if !of_target.contains(&key) {
            bare.push(word);
            continue;
        }
        let value = given.or_else(|| words.next());
        let value = value.ok_or_else(|| {
            refuse(format!(
                "--{key} has no value; write one behind it, as after the plan's own flag"
            ))
        })?;
        let read = own.add(key, value);
        read.map_err(|why| refuse(format!("--{key} {value}: {why}")))?;
    }
    Ok((bare.join(" "), own))
}

/// Names, in each point, the keys in which points differ because targets do: those that are swept for some, and those of which some have their own values.
fn name_keys(points: &mut [(u32, Point)], keys: &[String]) {
    let is_told = |key: &&String| keys.contains(*key) && differ(points, key);
    let sweepable = PlanDraft::sweepable();
    let told: Vec<&String> = sweepable.iter().filter(is_told).collect();
    for (_, point) in points.iter_mut() {
        let own = told.iter().map(|key| SweptValue {
            key: (*key).clone(),
            value: point.text(key),
        });
        let own: Vec<SweptValue> = own.collect();
        // Settings of the kernel stay: no target has its own.
        point.swept.retain(|swept| !sweepable.contains(&swept.key));
        point.swept.extend(own);
    }
}

fn differ(points: &[(u32, Point)], key: &str) -> bool {
    let mut texts = points.iter().map(|(_, point)| point.text(key));
    let first = texts.next();
    texts.any(|text| Some(&text) != first.as_ref())
}

/// The settings, each once, and of each target those that it is measured at.
pub(super) fn gathered(
    resolved: Vec<(u32, Setting)>,
    targets: usize,
) -> (Vec<Setting>, Vec<Vec<u32>>) {
    let mut settings: Vec<Setting> = Vec::new();
    let mut measured_at = vec![Vec::new(); targets];
    for (target, setting) in resolved {
        let known = settings.iter().position(|known| *known == setting);
        let place = known.unwrap_or_else(|| {
            settings.push(setting);
            settings.len() - 1
        });
        let own: &mut Vec<u32> = &mut measured_at[target as usize];
        if !own.contains(&(place as u32)) {
            own.push(place as u32);
        }
    }
    (settings, measured_at)
}
