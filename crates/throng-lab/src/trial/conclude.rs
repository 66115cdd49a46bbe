//! From what was measured and seen to the trial's checks, verdict and limit.

use throng_record::{
    LoadJob, LoadRecord, Outcome, SideRecord, TargetKind, TargetRecord, Trial, Verdict,
};

use crate::checks::{self, Evidence};
use crate::launcher::Ending;
use crate::limit::{Busy, limit};
use crate::observer::Observations;

/// Puts everything together; whether the failure, if it is one, will repeat itself.
pub(super) fn conclude(
    trial: &mut Trial,
    target: &TargetRecord,
    outcome: Outcome,
    record: Option<LoadRecord>,
    seen: Observations,
    ending: Option<&Ending>,
) -> bool {
    trial.outcome = outcome;
    let busy = Busy {
        server: seen
            .server
            .as_ref()
            .and_then(|side| busy(side, side.threads_max)),
        generator: seen
            .generator
            .as_ref()
            .and_then(|side| busy(side, trial.job.fleet.shards)),
    };
    trial.server = seen.server;
    trial.generator = seen.generator;
    trial.kernel_counters = seen.kernel_counters;
    let Some(record) = record else {
        blame_server(&mut trial.outcome, ending);
        return false;
    };
    let is_unreachable = record.connect.connected == 0 && trial.outcome == Outcome::Completed;
    if trial.outcome == Outcome::Completed {
        let pacing = &trial.job.exchange.pacing;
        trial.checks = checks::all(&Evidence {
            pacing,
            target: target.kind,
            load: &record,
            busy,
            stolen: seen.stolen,
            ending,
        });
        trial.verdict = Verdict::of(&trial.checks);
        trial.limit = limit(pacing, record.exchange.replies_per_second, busy);
    }
    if is_unreachable {
        trial.verdict = Verdict::Invalid;
        trial.outcome = Outcome::Failed {
            message: unreachable_message(&trial.job, &record),
        };
        blame_server(&mut trial.outcome, ending);
    }
    trial.connect = Some(record.connect);
    trial.exchange = Some(record.exchange);
    trial.close = Some(record.close);
    is_unreachable && target.kind == TargetKind::Running
}

/// CPU time ÷ (window × cores that this side can use at once); `None` without a window.
fn busy(side: &SideRecord, at_once: u32) -> Option<f64> {
    let cores = (side.cpus.len() as u32).min(at_once.max(1)).max(1);
    (side.window_ns > 0).then(|| side.cpu_ns as f64 / (side.window_ns as f64 * f64::from(cores)))
}

fn unreachable_message(job: &LoadJob, record: &LoadRecord) -> String {
    let cause = checks::errors::in_words(&record.connect.errors);
    format!(
        "none of {} connections to {} could be opened: {cause}",
        job.fleet.connections, job.fleet.address
    )
}

/// A server that died is the likelier cause of whatever the generator complained about.
fn blame_server(outcome: &mut Outcome, ending: Option<&Ending>) {
    if let (Outcome::Failed { message }, Some(ending)) = (outcome, ending)
        && ending.died_early
    {
        *message = format!(
            "the server ended during the trial ({}); then {message}{}",
            ending.how,
            ending.tail_in_words()
        );
    }
}
