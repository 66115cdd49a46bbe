//! From what was measured and seen to the trial's checks, verdict, limit and findings.

use throng_findings::{Descriptors, Ending, Evidence, LifeEnd, Observed, checks, findings, limit};
use throng_record::format::{plural, tail_in_words};
use throng_record::{
    Check, CheckKind, CheckResult, LoadRecord, Outcome, Setting, TargetKind, TargetRecord, Trial,
    Verdict,
};

use super::attributing::attribute_requests;
use crate::job::in_force;
use crate::observer::{KernelAccountSeen, Observations};

/// Puts everything together; whether the failure, if it is one, will repeat itself.
pub(super) fn conclude(
    trial: &mut Trial,
    (target, setting): (&TargetRecord, &Setting),
    outcome: Outcome,
    record: Option<LoadRecord>,
    (observed, kernel): (Observations, &KernelAccountSeen),
    server: LifeEnd,
) -> bool {
    trial.outcome = outcome;
    trial.server = observed.server;
    trial.generator = observed.generator;
    trial.kernel_counters = observed.kernel_counters;
    let Some(record) = record else {
        blame_server(&mut trial.outcome, server.ending());
        return false;
    };
    trial.phases = record.phases;
    trial.phases.add_costs(observed.phase_costs);
    let mut seen = Observed {
        account: None,
        was_listening: kernel.was_listening,
        somaxconn: in_force(setting, "net.core.somaxconn"),
        limits: crate::machine::limits(),
        server,
        descriptors: observed.descriptors.map(|table| Descriptors {
            open: table.open,
            limit: table.limit,
        }),
        cores_idle: observed.cores_idle,
        stolen: observed.stolen,
        others: observed.others,
    };
    seen.account = attribute_requests(trial, (target, setting), &seen, kernel);
    let is_unreachable = trial.phases.connected() == 0 && trial.outcome == Outcome::Completed;
    if trial.outcome == Outcome::Completed {
        check(trial, (target, setting), &seen);
    }
    if is_unreachable {
        trial.verdict = Verdict::Invalid;
        trial.outcome = Outcome::Failed {
            message: unreachable_message(trial),
        };
        blame_server(&mut trial.outcome, seen.server.ending());
    }
    trial.findings = findings::find(&Evidence {
        trial,
        target,
        setting,
        seen: &seen,
    });
    if let Some(generator) = &mut trial.generator {
        // From before it made its fleet, which nobody else sees.
        let is_open = trial.phases.kept() > 0;
        generator.memory_per_connection_bytes = is_open.then_some(record.user_bytes_per_connection);
    }
    is_unreachable && target.kind == TargetKind::Running
}

/// Makes the checks of a trial that was carried through.
fn check(trial: &mut Trial, (target, setting): (&TargetRecord, &Setting), seen: &Observed) {
    trial.checks = checks::all(&Evidence {
        trial,
        target,
        setting,
        seen,
    });
    quote_server(&mut trial.checks, seen.server.ending());
    name_services(trial, seen.server.ending());
    trial.verdict = Verdict::of(&trial.checks);
    trial.limit = limit(trial);
}

fn unreachable_message(trial: &Trial) -> String {
    let cause = checks::errors_in_words(&trial.phases.errors());
    let fleet = &trial.job.fleet;
    let connections = match trial.phases.connections() {
        Some(connections) => connections.begun_in_all(),
        None => fleet.connections.into(),
    };
    format!(
        "none of {connections} connections to {} could be opened: {cause}",
        fleet.address_in_words()
    )
}

/// Where connections failed, what a built-in server noted at its end is nearer to the cause than what the generator can say.
fn quote_server(checks: &mut [Check], ending: Option<&Ending>) {
    let notes: Vec<&str> = ending.into_iter().flat_map(Ending::notes).collect();
    for check in checks {
        let failed = check.result == CheckResult::Failed;
        if failed && check.kind == CheckKind::UnexpectedErrors && !notes.is_empty() {
            check.detail = format!("{}\nthe server noted: {}", check.detail, notes.join("; "));
        }
    }
}

/// Where one of several services failed: which, how, and its last words.
fn name_services(trial: &mut Trial, ending: Option<&Ending>) {
    let Some(tasks) = trial.phases.tasks() else {
        return;
    };
    let of = tasks.services.len();
    let failed = tasks.failed_services();
    let lines: Vec<String> = failed
        .map(|(number, service)| {
            let why = service
                .first_failure
                .as_deref()
                .unwrap_or("it is not known how");
            let tail = ending.and_then(|ending| ending.tails.get(number - 1));
            let tail = tail.map_or_else(String::new, |tail| tail_in_words(tail));
            let tasks = plural(service.failed.into(), "task");
            format!("\nservice {number} of {of} failed {tasks}: {why}{tail}")
        })
        .collect();
    // Each task had one reply, and no service answered a second time.
    let keeps_none = !lines.is_empty()
        && tasks
            .services
            .iter()
            .all(|service| service.answered == u64::from(service.failed));
    let hint = "\nevery connection was closed after its first reply: the server keeps none; write --reuse false (in a plan: reuse = false)";
    let hint = keeps_none.then(|| hint.to_owned());
    let mut checks = trial.checks.iter_mut();
    let errors = checks.find(|check| {
        check.kind == CheckKind::UnexpectedErrors && check.result == CheckResult::Failed
    });
    if let Some(errors) = errors {
        errors.detail.extend(lines.into_iter().chain(hint));
    }
}

/// A server that died is the likelier cause of whatever the generator complained about.
fn blame_server(outcome: &mut Outcome, ending: Option<&Ending>) {
    if let (Outcome::Failed { message }, Some(ending)) = (outcome, ending)
        && ending.died_early
    {
        *message = format!(
            "the server ended during the trial ({}); then {message}{}",
            ending.how,
            tail_in_words(&ending.tail)
        );
    }
}
