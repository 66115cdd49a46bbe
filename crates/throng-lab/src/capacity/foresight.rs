//! The answer in words, for the plan's targets at their greatest number of connections.

use throng_record::plan::Experiment;
use throng_record::{Plan, TargetRecord};

use super::{Demand, Facts, Shortage, memory_bytes, shortages};
use crate::plan::BuiltInModel;

/// What to say before a plan starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foresight {
    /// Whole sentences.
    pub notes: Vec<String>,
    /// Why it is not to start at all; the next step last, after a semicolon.
    pub refusal: Option<String>,
}

/// What this machine has for the connections of a plan. Only the fan-out and hold experiments ask; and only to hold more than there is
/// memory for is refused, since that would be at others' cost. Into any other limit a run goes on, to say what became of it.
#[must_use]
pub fn foresee(plan: &Plan, models: &[BuiltInModel], facts: &Facts) -> Foresight {
    let mut foresight = Foresight::default();
    if !matches!(plan.experiment, Experiment::Fanout | Experiment::Hold) {
        return foresight;
    }
    let most = plan.settings.iter().max_by_key(|one| one.connections);
    let Some(setting) = most else {
        return foresight;
    };
    for target in &plan.targets {
        let demand = Demand::of(plan, target, setting, models);
        let short = shortages(&demand, facts);
        if short.is_empty() && plan.experiment == Experiment::Hold {
            foresight.notes.push(enough(target, &demand, facts));
        }
        let fits = short.first().map(|narrowest| narrowest.holds_about);
        for shortage in short {
            if shortage.is_memory && plan.experiment == Experiment::Hold {
                let refusal = || too_little_memory(target, &demand, &shortage, fits.unwrap_or(0));
                foresight.refusal.get_or_insert_with(refusal);
            } else {
                foresight.notes.push(too_little(target, &demand, &shortage));
            }
        }
    }
    foresight
}

fn enough(target: &TargetRecord, demand: &Demand, facts: &Facts) -> String {
    let memory = match facts.memory_available_bytes {
        Some(available) => format!(
            "{} of memory (available: {})",
            size(memory_bytes(demand)),
            size(available)
        ),
        None => format!("{} of memory", size(memory_bytes(demand))),
    };
    let tables = match demand.tables {
        Some(tables) => format!("{} and {tables} tables", demand.shards),
        None if demand.shards == 1 => "1 table".to_owned(),
        None => format!("{} tables", demand.shards),
    };
    format!(
        "this machine has room for {} connections to {}: they need about {memory}, and descriptors in {tables} ({} in each)",
        exact(demand.connections()),
        target.name,
        match facts.open_files_hard {
            u64::MAX => "any number".to_owned(),
            limit => format!("at most {}", exact(limit)),
        }
    )
}

fn too_little(target: &TargetRecord, demand: &Demand, shortage: &Shortage) -> String {
    let amount = |value| match shortage.is_memory {
        true => size(value),
        false => exact(value),
    };
    format!(
        "of {} connections to {} this machine can hold about {}: {} needed {}, there is {}. What would let it hold all: {}",
        exact(demand.connections()),
        target.name,
        exact(shortage.holds_about),
        shortage.what,
        amount(shortage.needed),
        amount(shortage.there_is),
        shortage.remedy
    )
}

fn too_little_memory(
    target: &TargetRecord,
    demand: &Demand,
    shortage: &Shortage,
    fits: u64,
) -> String {
    format!(
        "{} connections to {} need about {} of memory, and {} is available; ask for fewer, about {} would fit",
        exact(demand.connections()),
        target.name,
        size(shortage.needed),
        size(shortage.there_is),
        exact(fits)
    )
}

/// `1,000,000`.
fn exact(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Of memory, to a tenth.
fn size(bytes: u64) -> String {
    const MIB: f64 = 1024.0 * 1024.0;
    match bytes as f64 / MIB {
        mebibytes if mebibytes >= 1024.0 => format!("{:.1} GiB", mebibytes / 1024.0),
        mebibytes => format!("{mebibytes:.1} MiB"),
    }
}
