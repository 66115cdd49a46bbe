//! What else may explain a ratio of two runs: differences of machine, kernel, network and plan.

use throng_record::{RunRecord, Setting};

use super::Named;
use crate::format;
use crate::setting::heading;

/// What differs between two runs besides what they measured.
pub(super) fn between(first: &Named<'_>, other: &Named<'_>) -> Vec<String> {
    let (one, two) = (first.record, other.record);
    let machine = |of: fn(&RunRecord) -> String| [of(one), of(two)];
    let facts = [
        ("CPU", machine(|run| run.machine.cpu_model.clone())),
        ("CPUs", machine(|run| run.machine.cpus_online.to_string())),
        (
            "memory",
            machine(|run| format::bytes(run.machine.memory_bytes as f64)),
        ),
        ("kernel", machine(|run| run.machine.kernel.clone())),
        (
            "clock source",
            machine(|run| run.machine.clocksource.clone()),
        ),
        ("throng", machine(|run| run.throng_version.clone())),
        ("network", machine(|run| run.network.used.name().to_owned())),
        ("load from", machine(load_in_words)),
        ("repeats", machine(|run| run.plan.repeats.to_string())),
        ("quick form", machine(|run| run.plan.quick.to_string())),
        ("begun", machine(|run| run.started_at.clone())),
        ("interrupted", machine(|run| run.interrupted.to_string())),
    ];
    let differ = facts.into_iter().filter(|(_, [one, two])| one != two);
    let mut cautions: Vec<String> = differ
        .map(|(what, [of_one, of_two])| {
            format!(
                "{what}: {of_one} in {}, {of_two} in {}",
                first.name, other.name
            )
        })
        .collect();
    let settings = |run: &RunRecord| run.plan.settings.iter().map(in_full).collect::<Vec<_>>();
    let (of_one, of_two) = (settings(one), settings(two));
    let same_rows = of_one.iter().filter_map(|(row, asked)| {
        let (_, other) = of_two.iter().find(|(other, _)| other == row)?;
        (asked != other).then(|| {
            format!("what was asked at {row} differs (throng report --format json shows both)")
        })
    });
    cautions.extend(same_rows.take(1));
    cautions
}

fn load_in_words(run: &RunRecord) -> String {
    match run.hosts.len() as u64 {
        0 => "the machine itself".to_owned(),
        number => format::plural(number, "host"),
    }
}

/// A setting under its words, with all that was asked but which CPUs.
fn in_full(setting: &Setting) -> (String, Setting) {
    let mut asked = setting.clone();
    asked.server_cpus.clear();
    asked.generator_cpus.clear();
    (heading(setting), asked)
}
