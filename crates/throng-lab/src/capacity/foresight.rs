//! The answer in words, for the plan's targets at their greatest number of connections.

use throng_findings::Limits;
use throng_record::format::{exact, plural};
use throng_record::{BuiltInModel, PhaseName, Plan, Setting, TargetRecord};

use super::places::{LoadFrom, Place, places};
use super::{Shortage, memory_bytes, shortages};

/// What to say before a plan starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foresight {
    /// Whole sentences.
    pub notes: Vec<String>,
    /// Why it is not to start at all; the next step last, after a semicolon.
    pub refusal: Option<String>,
}

/// What there is for the connections of a plan, where these are kept: on this machine, whose `limits` are given, and on those that the load comes from. More
/// than there is memory for are refused, since that would be at others' cost. Into any other limit a run goes on, to say what became of it.
#[must_use]
pub fn foresee(
    plan: &Plan,
    models: &[BuiltInModel],
    limits: &Limits,
    from: LoadFrom<'_>,
) -> Foresight {
    let mut foresight = Foresight::default();
    let mut settings = plan.settings.iter();
    let are_held = |setting: &Setting| setting.phases.has(PhaseName::Connect) || has_tasks(setting);
    if !settings.any(are_held) {
        return foresight;
    }
    let most = plan.settings.iter().max_by_key(|one| one.connections);
    let Some(setting) = most else {
        return foresight;
    };
    let mut told: Vec<(CommonShortage, Vec<&str>)> = Vec::new();
    for target in &plan.targets {
        let is_held = setting.phases.has(PhaseName::Hold) && !has_tasks(setting);
        for place in places(plan, target, setting, models, limits, from) {
            let mut short = shortages(&place.demand, &place.limits);
            let fits = short.first().map_or(0, |narrowest| narrowest.holds_about);
            if short.is_empty() && is_held {
                foresight.notes.push(enough(target, &place));
            }
            // Clients of services are whole, so that a part of their connections is of no use.
            for shortage in short.extract_if(.., |one| one.is_memory || has_tasks(setting)) {
                let refusal = || too_little(target, setting, &place, &shortage, fits);
                foresight.refusal.get_or_insert_with(refusal);
            }
            if short.is_empty() {
                continue;
            }
            let same = |(other, _): &&mut (CommonShortage, Vec<&str>)| {
                other.short == short && other.place.host == place.host
            };
            match told.iter_mut().find(same) {
                Some((_, targets)) => targets.push(&target.name),
                None => told.push((CommonShortage { place, short }, vec![&target.name])),
            }
        }
    }
    let notes = told.iter().map(|(told, targets)| told.note(targets));
    foresight.notes.extend(notes);
    foresight
}

/// What is the same for several targets.
struct CommonShortage {
    place: Place,
    /// The narrowest first; never empty.
    short: Vec<Shortage>,
}

impl Place {
    fn name(&self) -> String {
        match &self.host {
            Some(host) => format!("host {host}"),
            None => "this machine".to_owned(),
        }
    }
}

fn enough(target: &TargetRecord, place: &Place) -> String {
    let demand = &place.demand;
    let memory = match place.limits.memory_available_bytes {
        Some(available) => format!(
            "{} of memory (available: {})",
            size(memory_bytes(demand)),
            size(available)
        ),
        None => format!("{} of memory", size(memory_bytes(demand))),
    };
    let shards = demand.generator_is_here.then_some(demand.shards.into());
    let tables = demand.tables.map(u64::from);
    let tables: Vec<u64> = shards.into_iter().chain(tables).collect();
    let descriptors = match &tables[..] {
        [] => String::new(),
        [one] => format!(", and descriptors in {}", plural(*one, "table")),
        [one, other, ..] => format!(", and descriptors in {one} and {other} tables"),
    };
    let each = match place.limits.open_files_hard {
        _ if tables.is_empty() => String::new(),
        u64::MAX => " (any number in each)".to_owned(),
        limit => format!(" (at most {} in each)", exact(limit)),
    };
    format!(
        "{} has room for {} connections to {}: they need about {memory}{descriptors}{each}",
        place.name(),
        exact(demand.connections()),
        target.name,
    )
}

impl CommonShortage {
    /// Of the least limit, at which a run ends, all; of the others, which would come next, only where.
    fn note(&self, targets: &[&str]) -> String {
        let Some((least, others)) = self.short.split_first() else {
            return String::new();
        };
        let amount = |value| match least.is_memory {
            true => size(value),
            false => exact(value),
        };
        let others: Vec<String> = others
            .iter()
            .map(|one| format!("{} at {}", one.what, exact(one.holds_about)))
            .collect();
        format!(
            "of {} connections to {} {} can hold about {}: {} needed {}, there is {}. What would let it hold {}: {}{}",
            exact(self.place.demand.connections()),
            listed(targets),
            self.place.name(),
            exact(least.holds_about),
            least.what,
            amount(least.needed),
            amount(least.there_is),
            if others.is_empty() { "all" } else { "more" },
            least.remedy,
            match others.is_empty() {
                true => String::new(),
                false => format!(". Next would come {}", listed(&others)),
            }
        )
    }
}

/// `one, another and a third`.
fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

fn has_tasks(setting: &Setting) -> bool {
    setting.phases.tasks().is_some()
}

fn too_little(
    target: &TargetRecord,
    setting: &Setting,
    place: &Place,
    shortage: &Shortage,
    fits: u64,
) -> String {
    let of_client = u64::from(setting.phases.connections_of_client());
    let clients = match of_client {
        1 => String::new(),
        _ => format!(" ({})", plural(fits / of_client, "client")),
    };
    let (needed, there_is) = match shortage.is_memory {
        true => (
            format!("{} of memory", size(shortage.needed)),
            size(shortage.there_is),
        ),
        false => (
            format!("{} {}", exact(shortage.needed), shortage.what),
            exact(shortage.there_is),
        ),
    };
    let there = match &place.host {
        Some(host) => format!(" on host {host}"),
        None => String::new(),
    };
    format!(
        "{} connections to {} need about {needed}, and {there_is} is available{there}; ask for fewer, about {} would fit{clients}{there}",
        exact(place.demand.connections()),
        target.name,
        exact(fits)
    )
}

/// Of memory, to a tenth.
fn size(bytes: u64) -> String {
    const MIB: f64 = 1024.0 * 1024.0;
    match bytes as f64 / MIB {
        mebibytes if mebibytes >= 1024.0 => format!("{:.1} GiB", mebibytes / 1024.0),
        mebibytes => format!("{mebibytes:.1} MiB"),
    }
}
