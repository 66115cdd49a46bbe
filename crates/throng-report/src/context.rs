//! What stands above the tables: what was asked, under which circumstances, on which machine, and how much of it was done.

use throng_record::{Plan, TargetKind};

use crate::circumstances::Circumstances;
use crate::experiments;
use crate::format::{exact, plural, setting_ns};
use crate::standing::Standing;
use crate::summary::Summary;

/// The question.
pub(crate) fn title(summary: &Summary<'_>) -> String {
    let plan = summary.plan;
    if plan.title.is_empty() {
        plan.name.clone()
    } else {
        plan.title.clone()
    }
}

/// What was measured and how, each circumstance a phrase. What differs between settings is told with all its values.
pub(crate) fn measurement(plan: &Plan) -> Vec<String> {
    let mut phrases = Vec::new();
    if let Some(setting) = plan.settings.first() {
        // What was asked does not depend on who asked it.
        let is_from_hosts = false;
        let asked = Circumstances {
            plan,
            setting,
            is_from_hosts,
        };
        phrases.extend(experiments::of(plan.experiment).circumstances(&asked));
    }
    if plan.quick {
        phrases.push("quick: shortened, for a first look".to_owned());
    }
    phrases
}

/// Where the two sides ran and how the generator moved its bytes.
pub(crate) fn arrangement(summary: &Summary<'_>) -> Vec<String> {
    let plan = summary.plan;
    let Some(setting) = plan.settings.first() else {
        return Vec::new();
    };
    let asked = Circumstances {
        plan,
        setting,
        is_from_hosts: !summary.hosts.is_empty(),
    };
    if !experiments::of(plan.experiment).has_server() {
        let mut phrases = vec![asked.both_ends(), asked.network(summary.network)];
        phrases.extend(asked.kernel_sweeps());
        return phrases;
    }
    let mut phrases = vec![asked.generator()];
    if plan
        .targets
        .iter()
        .any(|target| target.kind != TargetKind::Running)
    {
        phrases.extend(asked.server());
        phrases.push(asked.network(summary.network));
        phrases.extend(asked.kernel_sweeps());
    }
    phrases.extend(asked.addresses());
    phrases.extend(asked.nodelay());
    phrases.extend(asked.timeouts());
    phrases
}

/// The machine.
pub(crate) fn machine(summary: &Summary<'_>) -> Vec<String> {
    let machine = summary.machine;
    let model = if machine.cpu_model.is_empty() {
        "unknown CPU"
    } else {
        &machine.cpu_model
    };
    let whose = if summary.hosts.is_empty() {
        ""
    } else {
        "lab: "
    };
    let mut phrases = vec![
        format!("{whose}{model}"),
        plural(machine.cpus_online.into(), "CPU"),
    ];
    if machine.virtual_machine {
        phrases.push("virtual machine".to_owned());
    }
    phrases.push(format!("Linux {}", machine.kernel));
    phrases
}

/// When, by which program, and how many trials.
pub(crate) fn run(summary: &Summary<'_>) -> Vec<String> {
    vec![
        format!("plan {}", summary.plan.name),
        summary.started_at.to_owned(),
        format!("throng {}", summary.throng_version),
        format!(
            "{} in {}",
            plural(summary.trials_made.into(), "trial"),
            setting_ns(rounded_ns(summary.duration_ns))
        ),
    ]
}

/// To tenths of a second, which is all a person asks of the length of a run; shorter ones to milliseconds.
fn rounded_ns(length_ns: u64) -> u64 {
    let step_ns = if length_ns < 100_000_000 {
        1_000_000
    } else {
        100_000_000
    };
    length_ns / step_ns * step_ns
}

/// Whether nothing was measured.
pub(crate) fn has_no_figures(summary: &Summary<'_>) -> bool {
    let standings = || summary.rows.iter().map(|row| row.standing);
    summary.rows.iter().all(|row| row.figures.is_empty())
        && standings().all(|standing| standing == Standing::NotMeasured)
}

/// Said loudly where trials are missing.
pub(crate) fn cut_short(summary: &Summary<'_>) -> Option<String> {
    let how = if summary.interrupted {
        "was interrupted"
    } else {
        "ended"
    };
    let has_nothing = has_no_figures(summary);
    let has_seen = !summary.findings.is_empty() || !summary.slowest.is_empty();
    let what = if has_nothing && has_seen {
        "There are no figures; what was seen until then is below."
    } else if has_nothing {
        "Nothing was measured until then."
    } else {
        "What was measured until then is below."
    };
    let planned = summary.trials_planned;
    let when = match (summary.trials_made, planned) {
        (0, 1) => "before its only trial was over".to_owned(),
        (0, _) => format!(
            "before the first of its {} was over",
            plural(planned.into(), "trial")
        ),
        (made, _) => format!(
            "after {} of {}",
            exact(made.into()),
            plural(planned.into(), "trial")
        ),
    };
    summary
        .is_cut_short()
        .then(|| format!("This run {how} {when}. {what}"))
}
