//! One line for each trial, for spreadsheets and data frames.
//!
//! The header is derived from [`Line`], so that it cannot drift from the columns. Absent figures are empty fields. Failed
//! and interrupted trials have their line too, with what was measured. Behind the fixed columns stands one for each swept key, as in
//! the plan; connections have a fixed one.

use serde::Serialize;
use throng_record::{
    Backend, CheckResult, Histogram, Limit, Outcome, Pacing, Protocol, RunRecord, Trial,
};

use crate::checks;
use crate::columns::limit_word;
use crate::row::Worth;
use crate::summary::target_name;

/// A trial. Field names are the column names.
#[derive(Default, Serialize)]
struct Line<'a> {
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
    message: &'a str,
    limit: &'static str,
    pacing: &'static str,
    outstanding_per_connection: u32,
    rate_asked_per_second: Option<f64>,
    message_size_bytes: u64,
    backend: &'static str,
    shards: u32,
    window_ns: Option<u64>,
    messages_sent: Option<u64>,
    messages_replied: Option<u64>,
    messages_per_second: Option<f64>,
    latency_ns_mean: Option<f64>,
    latency_ns_p50: Option<u64>,
    latency_ns_p90: Option<u64>,
    latency_ns_p99: Option<u64>,
    latency_ns_p99_9: Option<u64>,
    latency_ns_p99_99: Option<u64>,
    latency_ns_max: Option<u64>,
    scheduling_error_ns_p99: Option<u64>,
    messages_waited_for_connection: Option<u64>,
    connections_opened: Option<u32>,
    connections_served: Option<u32>,
    connect_duration_ns: Option<u64>,
    connect_latency_ns_p50: Option<u64>,
    connect_latency_ns_p99: Option<u64>,
    errors: u64,
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
    let mut header = written(true, [Line::default()]);
    header.truncate(header.find('\n').unwrap_or(header.len()));
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
        (line(record, trial), values)
    });
    format!("{header}\n{}", written(false, lines))
}

/// The swept keys that have no fixed column of the same meaning.
fn swept(record: &RunRecord) -> impl Iterator<Item = &String> {
    let keys = record.plan.swept.iter();
    keys.filter(|key| *key != "connections")
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

fn line<'a>(record: &'a RunRecord, trial: &'a Trial) -> Line<'a> {
    let mut line = Line {
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
        limit: limit_word(trial.limit),
        ..Line::default()
    };
    if let Outcome::Failed { message } = &trial.outcome {
        line.message = message;
        line.limit = limit_word(Limit::Unknown);
    }
    fill_circumstances(&mut line, trial);
    fill_phases(&mut line, trial);
    fill_sides(&mut line, trial);
    line
}

fn verdict(trial: &Trial) -> &'static str {
    match Worth::of(trial) {
        Worth::Valid => "valid",
        Worth::Qualified => "qualified",
        Worth::Partial => "partial",
        Worth::Invalid => "invalid",
        Worth::Failed => "failed",
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

fn fill_circumstances(line: &mut Line<'_>, trial: &Trial) {
    let exchange = &trial.job.exchange;
    line.outstanding_per_connection = exchange.pacing.outstanding();
    (line.pacing, line.rate_asked_per_second) = match exchange.pacing {
        Pacing::Closed { .. } => ("closed", None),
        Pacing::Lockstep { .. } => ("lockstep", None),
        Pacing::Open {
            rate_per_second, ..
        } => ("open", Some(rate_per_second)),
    };
    line.message_size_bytes = match &exchange.protocol {
        Protocol::Echo { size_bytes } => u64::from(*size_bytes),
        Protocol::Request { send, .. } => send.len() as u64,
    };
    line.backend = Backend::name(trial.job.fleet.backend);
    line.shards = trial.job.fleet.shards;
}

fn fill_phases(line: &mut Line<'_>, trial: &Trial) {
    if let Some(connect) = &trial.connect {
        line.connections_opened = Some(connect.connected);
        line.connect_duration_ns = Some(connect.duration_ns);
        if connect.latency.count > 0 {
            line.connect_latency_ns_p50 = Some(connect.latency.p50_ns);
            line.connect_latency_ns_p99 = Some(connect.latency.p99_ns);
        }
        line.errors += connect.errors.total();
    }
    if let Some(exchange) = &trial.exchange {
        line.window_ns = Some(exchange.duration_ns);
        line.messages_sent = Some(exchange.sent);
        line.messages_replied = Some(exchange.replies);
        line.messages_per_second = Some(exchange.replies_per_second);
        line.scheduling_error_ns_p99 = exchange.scheduling_error.as_ref().map(|h| h.p99_ns);
        line.messages_waited_for_connection = exchange
            .scheduling_error
            .as_ref()
            .map(|_| exchange.waited_for_connection);
        line.connections_served = Some(exchange.connections_served);
        line.errors += exchange.errors.total();
        fill_latency(line, &exchange.latency);
    }
    if let Some(close) = &trial.close {
        line.errors += close.errors.total();
    }
}

fn fill_latency(line: &mut Line<'_>, latency: &Histogram) {
    if latency.count == 0 {
        return;
    }
    line.latency_ns_mean = Some(latency.mean_ns);
    line.latency_ns_p50 = Some(latency.p50_ns);
    line.latency_ns_p90 = Some(latency.p90_ns);
    line.latency_ns_p99 = Some(latency.p99_ns);
    line.latency_ns_p99_9 = Some(latency.p99_9_ns);
    line.latency_ns_p99_99 = Some(latency.p99_99_ns);
    line.latency_ns_max = Some(latency.max_ns);
}

fn fill_sides(line: &mut Line<'_>, trial: &Trial) {
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
}
