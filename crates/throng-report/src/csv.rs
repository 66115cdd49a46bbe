//! One line for each trial, for spreadsheets and data frames.
//!
//! The header is derived from the structures that hold a line, so that it cannot drift from the columns. Absent figures are empty fields. Failed
//! and interrupted trials have their line too, with what was measured. Between what every trial has (which it is, what it is worth, its two
//! sides) stand the figures of the experiment; behind all of that one column for each swept key, as in the plan, but for those that have a
//! fixed one.

mod accept;
mod backlog;
mod churn;
mod echo;
mod fanout;
mod hold;
mod phases;

use serde::Serialize;
use throng_findings::findings::kind;
use throng_record::plan::Experiment;
use throng_record::{CheckResult, Histogram, Limit, Outcome, RunRecord, Trial, Verdict};

use crate::checks;
use crate::columns::limit_word;
use crate::crowd;
use crate::summary::target_name;
use crate::worth::Worth;

/// Which trial it is and what it is worth. Field names are the column names.
#[derive(Default, Serialize)]
struct Identity<'a> {
    run_started_at: &'a str,
    plan: &'a str,
    target: &'a str,
    connections: u32,
    setting: u32,
    repeat: u32,
    order: u32,
    server_ordinal: Option<u32>,
    verdict: &'static str,
    failed_checks: String,
    qualified_checks: String,
    disturbed_checks: String,
    is_superseded: bool,
    message: &'a str,
    limit: &'static str,
}

/// Server and generator.
#[derive(Default, Serialize)]
struct Sides {
    server_cpu_per_message_ns: Option<f64>,
    server_utilisation: Option<f64>,
    server_memory_per_connection_bytes: Option<f64>,
    server_rss_connected_bytes: Option<u64>,
    server_rss_measured_bytes: Option<u64>,
    server_processes_max: Option<u32>,
    server_threads_max: Option<u32>,
    server_voluntary_switches: Option<u64>,
    server_involuntary_switches: Option<u64>,
    generator_cpu_per_message_ns: Option<f64>,
    generator_utilisation: Option<f64>,
}

/// The whole file, its header included even where no trial was made.
pub(crate) fn render(record: &RunRecord) -> String {
    match record.plan.experiment {
        Experiment::Echo => file(record, echo::figures),
        Experiment::Accept => file(record, accept::figures),
        Experiment::Backlog => file(record, backlog::figures),
        Experiment::Churn => file(record, churn::figures),
        Experiment::Fanout => file(record, fanout::figures),
        Experiment::Hold => file(record, hold::figures),
    }
}

fn file<F: Default + Serialize>(
    record: &RunRecord,
    figures: impl Fn(&RunRecord, &Trial) -> F,
) -> String {
    let mut header = [header::<Identity<'_>>(), header::<F>(), header::<Sides>()].join(",");
    for key in swept(record) {
        header += &format!(",swept_{}", key.replace(['-', '.'], "_"));
    }
    let lines = record.trials.iter().map(|trial| {
        let setting = record.plan.settings.get(trial.setting as usize);
        let value = |key: &String| {
            let mut swept = setting.iter().flat_map(|setting| &setting.swept);
            let found = swept.find(|swept| swept.key == *key);
            found.map_or("", |swept| swept.value.as_str())
        };
        let values: Vec<&str> = swept(record).map(value).collect();
        let identity = identity(record, trial);
        (identity, figures(record, trial), sides(trial), values)
    });
    format!("{header}\n{}", written(false, lines))
}

/// The names of the fields.
fn header<T: Default + Serialize>() -> String {
    let text = written(true, [T::default()]);
    text.lines().next().unwrap_or_default().to_owned()
}

/// The swept keys that have no fixed column of the same meaning.
fn swept(record: &RunRecord) -> impl Iterator<Item = &String> {
    let keys = record.plan.swept.iter();
    let has_clients = record.plan.experiment != Experiment::Echo;
    keys.filter(move |key| match key.as_str() {
        "connections" => false,
        "clients" | "requests" => !has_clients,
        _ => true,
    })
}

fn written(header: bool, lines: impl IntoIterator<Item = impl Serialize>) -> String {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(header)
        .from_writer(Vec::new());
    for line in lines {
        writer
            .serialize(line)
            .expect("flat but for a list at its end, written to memory");
    }
    let bytes = writer.into_inner().expect("memory can be flushed");
    String::from_utf8(bytes).expect("made of strings and numbers")
}

fn identity<'a>(record: &'a RunRecord, trial: &'a Trial) -> Identity<'a> {
    let mut line = Identity {
        run_started_at: &record.started_at,
        plan: &record.plan.name,
        target: target_name(&record.plan, trial.target),
        connections: trial.job.fleet.connections,
        setting: trial.setting,
        repeat: trial.repeat,
        order: trial.order,
        server_ordinal: trial.server_ordinal,
        verdict: verdict(trial),
        failed_checks: checks_that(trial, CheckResult::Failed),
        qualified_checks: checks_that(trial, CheckResult::Qualified),
        disturbed_checks: checks_that(trial, CheckResult::Disturbed),
        is_superseded: trial.is_superseded,
        message: "",
        limit: limit_word(trial.limit),
    };
    if let Outcome::Failed { message } | Outcome::Spared { because: message } = &trial.outcome {
        line.message = message;
        line.limit = limit_word(Limit::Unknown);
    }
    line
}

fn verdict(trial: &Trial) -> &'static str {
    match Worth::of(trial) {
        Worth::Valid if trial.verdict == Verdict::Disturbed => "disturbed",
        Worth::Valid => "valid",
        Worth::Qualified => "qualified",
        Worth::Partial => "partial",
        Worth::Invalid => "invalid",
        Worth::Failed => "failed",
        Worth::Spared => "spared",
        Worth::Interrupted => "interrupted",
    }
}

fn checks_that(trial: &Trial, result: CheckResult) -> String {
    let names: Vec<&str> = trial
        .checks
        .iter()
        .filter(|check| check.result == result)
        .map(|check| checks::words(check.kind))
        .collect();
    names.join("; ")
}

/// The names of its findings, each once where they follow one another.
fn findings(trial: &Trial) -> String {
    let mut names: Vec<&str> = trial
        .findings
        .iter()
        .map(|found| kind(found).name)
        .collect();
    names.dedup();
    names.join("; ")
}

/// `not delivered 3; reset 1`, of whichever phase.
fn errors(trial: &Trial) -> String {
    let errors = crowd::errors_of(trial);
    let kinds = errors.counts.iter();
    let kinds = kinds.map(|(kind, count)| format!("{} {count}", kind.words()));
    kinds.collect::<Vec<_>>().join("; ")
}

/// Median, 99th percentile and greatest; nothing of nothing.
fn quantiles(latency: &Histogram) -> [Option<u64>; 3] {
    let is_there = latency.count > 0;
    [latency.p50_ns, latency.p99_ns, latency.max_ns].map(|figure| is_there.then_some(figure))
}

fn sides(trial: &Trial) -> Sides {
    let mut line = Sides::default();
    if let Some(server) = &trial.server {
        line.server_cpu_per_message_ns = server.cpu_per_message_ns;
        line.server_utilisation = Some(server.utilisation);
        line.server_memory_per_connection_bytes = server.memory_per_connection_bytes;
        line.server_rss_connected_bytes = Some(server.memory_connected.rss_bytes);
        line.server_rss_measured_bytes = Some(server.memory_measured.rss_bytes);
        line.server_processes_max = Some(server.processes_max);
        line.server_threads_max = Some(server.threads_max);
        line.server_voluntary_switches = Some(server.voluntary_switches);
        line.server_involuntary_switches = Some(server.involuntary_switches);
    }
    if let Some(generator) = &trial.generator {
        line.generator_cpu_per_message_ns = generator.cpu_per_message_ns;
        line.generator_utilisation = Some(generator.utilisation);
    }
    line
}
