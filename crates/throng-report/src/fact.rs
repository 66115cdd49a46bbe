//! A fact tells one trial from the others, in words or as it was asked for: which it is, what was asked of it, what it is worth, what happened to it.
//!
//! Numbers that were measured are figures ([`crate::figure`]).

use throng_findings::checks;
use throng_findings::findings::kind;
use throng_record::{CheckResult, Limit, Outcome, Pacing, Protocol, RunRecord, Trial, Verdict};

use crate::experiments::backlog::published;
use crate::figure::OneTrial;
use crate::listener;
use crate::outcome::limit_word;
use crate::setting::requests_each;
use crate::stop;
use crate::target;
use crate::worth::Worth;

/// A fact of a trial: its name, and how it is told; empty where there is nothing to tell.
pub(crate) struct Fact {
    pub(crate) key: &'static str,
    pub(crate) of: fn(&RunRecord, &OneTrial<'_>) -> String,
}

const fn fact(key: &'static str, of: fn(&RunRecord, &OneTrial<'_>) -> String) -> Fact {
    Fact { key, of }
}

/// All of them, in the order of columns.
pub(crate) const FACTS: &[Fact] = &[
    fact("run_started_at", |record, _| record.started_at.clone()),
    fact("plan", |record, _| record.plan.name.clone()),
    fact("experiment", |record, _| {
        record.plan.experiment.name().to_owned()
    }),
    fact("target", |_, one| {
        target::name(one.plan, one.trial.target).to_owned()
    }),
    fact("connections", |_, one| {
        one.trial.job.fleet.connections.to_string()
    }),
    fact("setting", |_, one| one.trial.setting.to_string()),
    fact("repeat", |_, one| one.trial.repeat.to_string()),
    fact("order", |_, one| one.trial.order.to_string()),
    fact("server_ordinal", |_, one| maybe(one.trial.server_ordinal)),
    fact("verdict", |_, one| verdict(one.trial).to_owned()),
    fact("failed_checks", |_, one| {
        checks_that(one.trial, CheckResult::Failed)
    }),
    fact("qualified_checks", |_, one| {
        checks_that(one.trial, CheckResult::Qualified)
    }),
    fact("disturbed_checks", |_, one| {
        checks_that(one.trial, CheckResult::Disturbed)
    }),
    fact("is_superseded", |_, one| {
        one.trial.is_superseded.to_string()
    }),
    fact("message", |_, one| {
        message(one.trial).unwrap_or_default().to_owned()
    }),
    fact("limit", |_, one| limit(one.trial).to_owned()),
    fact("findings", |_, one| findings(one.trial)),
    fact("errors_by_kind", |_, one| errors(one.trial)),
    fact("stopped_by", |_, one| maybe(stop::of_trial(one.trial))),
    fact("workload", |_, one| {
        maybe(one.setting().map(|setting| setting.workload.name()))
    }),
    fact("closing", |_, one| {
        one.trial.job.fleet.closing.name().to_owned()
    }),
    fact("backend", |_, one| {
        one.trial.job.fleet.backend.name().to_owned()
    }),
    fact("shards", |_, one| one.trial.job.fleet.shards.to_string()),
    fact("pacing", |_, one| maybe(pacing(one).map(pacing_word))),
    fact("outstanding_per_connection", |_, one| {
        maybe(pacing(one).map(|pacing| pacing.outstanding()))
    }),
    fact("rate_asked_per_second", |_, one| {
        maybe(pacing(one).and_then(rate_asked))
    }),
    fact("message_size_bytes", |_, one| {
        maybe(message_size_bytes(one))
    }),
    fact("requests_each", |_, one| {
        maybe(one.setting().and_then(requests_each))
    }),
    fact("backlog_asked", |_, one| maybe(backlog_asked(one))),
    fact("service_time_ns", |_, one| {
        maybe(one.setting().and_then(|setting| setting.service_time_ns))
    }),
    fact("multiplexer", |_, one| {
        maybe(
            one.trial
                .job
                .phases
                .multiplexer()
                .map(|spec| spec.multiplexer.name()),
        )
    }),
    fact("entries_as_published", |_, one| {
        maybe(
            one.trial
                .job
                .phases
                .multiplexer()
                .map(|spec| spec.published),
        )
    }),
    fact("published_times_ms", |_, one| {
        published_times_ms(one).unwrap_or_default()
    }),
];

fn maybe(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn message(trial: &Trial) -> Option<&str> {
    match &trial.outcome {
        Outcome::Failed { message } | Outcome::Spared { because: message } => Some(message),
        Outcome::Completed | Outcome::Interrupted => None,
    }
}

fn limit(trial: &Trial) -> &'static str {
    limit_word(match message(trial) {
        Some(_) => Limit::Unknown,
        None => trial.limit,
    })
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
        .map(|check| checks::kind(check.kind).title)
        .collect();
    names.join("; ")
}

/// Each once where they follow one another.
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
    let errors = trial.phases.errors();
    let kinds = errors.counts.iter();
    let kinds = kinds.map(|(kind, count)| format!("{} {count}", kind.words()));
    kinds.collect::<Vec<_>>().join("; ")
}

fn pacing<'a>(one: &OneTrial<'a>) -> Option<&'a Pacing> {
    Some(&one.trial.job.phases.exchange()?.pacing)
}

fn pacing_word(pacing: &Pacing) -> &'static str {
    match pacing {
        Pacing::Closed { .. } => "closed",
        Pacing::Lockstep { .. } => "lockstep",
        Pacing::Tasks(_) => "tasks",
        Pacing::Open { .. } => "open",
    }
}

fn rate_asked(pacing: &Pacing) -> Option<f64> {
    match pacing {
        Pacing::Open {
            rate_per_second, ..
        } => Some(*rate_per_second),
        Pacing::Closed { .. } | Pacing::Lockstep { .. } | Pacing::Tasks(_) => None,
    }
}

fn message_size_bytes(one: &OneTrial<'_>) -> Option<u64> {
    Some(match one.trial.job.phases.protocol()? {
        Protocol::Echo { size_bytes } => (*size_bytes).into(),
        Protocol::Request { send, .. } => send.len() as u64,
        Protocol::Pages(pages) => match &pages.requests[..] {
            [one] => one.bytes().len() as u64,
            _ => return None,
        },
    })
}

fn backlog_asked(one: &OneTrial<'_>) -> Option<u32> {
    let takes_backlog = one.target()?.takes_backlog();
    Some(one.setting()?.backlog).filter(|_| takes_backlog)
}

/// Of a trial whose backlog is known to be another one nothing is published.
fn published_times_ms(one: &OneTrial<'_>) -> Option<String> {
    let setting = one.setting()?;
    let is_as_asked = listener::is_as_asked(&[one.trial], setting.backlog);
    let published = published::beside(one.target()?, setting).filter(|_| is_as_asked)?;
    let times = published.row.times_ms.iter();
    Some(
        times
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; "),
    )
}
