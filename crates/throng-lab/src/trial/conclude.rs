//! From what was measured and seen to the trial's checks, verdict and limit.

use throng_record::{
    Check, CheckKind, CheckResult, LoadJob, LoadRecord, Outcome, Pacing, Phases, Setting,
    SideRecord, TargetKind, TargetRecord, Trial, Verdict,
};

use super::explaining;
use crate::checks::{self, Evidence};
use crate::launcher::{Ending, LifeEnd};
use crate::limit::{Busy, SERVER_BUSY, Sides, are_crowded_out, cores, cores_used, left, limit};
use crate::observer::{KernelAccountSeen, Observations};

/// Puts everything together; whether the failure, if it is one, will repeat itself.
pub(super) fn conclude(
    trial: &mut Trial,
    (target, setting): (&TargetRecord, &Setting),
    outcome: Outcome,
    record: Option<LoadRecord>,
    (seen, kernel): (Observations, &KernelAccountSeen),
    server: &LifeEnd,
) -> bool {
    let ending = server.ending();
    trial.outcome = outcome;
    let shards = trial.job.fleet.shards;
    let [of_server, of_generator] = [&seen.server, &seen.generator].map(Option::as_ref);
    let busy = Busy {
        server: of_server.and_then(server_busy),
        generator: of_generator.and_then(|side| busy(side, shards)),
    };
    let with_cores: Vec<_> = of_server
        .map(|side| (side, side.threads_max))
        .into_iter()
        .chain(of_generator.map(|side| (side, shards)))
        .collect();
    let sides = Sides {
        busy,
        is_server_visible: of_server.is_some(),
        are_crowded_out: are_crowded_out(&with_cores),
    };
    trial.server = seen.server;
    trial.generator = seen.generator;
    trial.kernel_counters = seen.kernel_counters;
    let Some(mut record) = record else {
        blame_server(&mut trial.outcome, ending);
        return false;
    };
    record.phases.add_costs(seen.phase_costs);
    let account = explaining::attribute_requests(trial, (target, setting), &mut record, kernel);
    let is_unreachable = record.phases.connected() == 0 && trial.outcome == Outcome::Completed;
    if trial.outcome == Outcome::Completed {
        let kernel_account = account
            .as_ref()
            .map(|account| explaining::kernel_account(trial, target, (&record, account), kernel));
        let checks = checks::all(&Evidence {
            job: &trial.job,
            is_cold: is_cold(setting),
            target: target.kind,
            catalogue: target.catalogue.as_ref(),
            load: &record,
            busy,
            asked: setting.connections,
            unaccepted: trial.unaccepted.unwrap_or(0),
            stolen: seen.stolen,
            others: &seen.others,
            is_server_visible: trial.server.is_some(),
            server,
            handshakes: trial.handshakes.as_ref(),
            counters: &trial.kernel_counters,
            network: trial.network,
            kernel: kernel_account,
        });
        trial.checks = checks;
        quote_server(&mut trial.checks, ending);
        trial.verdict = Verdict::of(&trial.checks);
        let (pacing, rate) = pace(&trial.job, &record.phases);
        trial.limit = limit(&pacing, rate, &sides);
    }
    if is_unreachable {
        trial.verdict = Verdict::Invalid;
        trial.outcome = Outcome::Failed {
            message: unreachable_message(&trial.job, &record),
        };
        blame_server(&mut trial.outcome, ending);
    }
    let seen = explaining::TrialSeen {
        busy,
        was_listening: kernel.was_listening,
        cores_idle: seen.cores_idle,
        descriptors: seen.descriptors,
        ending,
    };
    explaining::find(trial, (target, setting), &record, account.as_ref(), &seen);
    if let Some(generator) = &mut trial.generator {
        // From before it made its fleet, which nobody else sees.
        let is_open = record.phases.kept() > 0;
        generator.memory_per_connection_bytes = is_open.then_some(record.user_bytes_per_connection);
    }
    trial.phases = record.phases;
    is_unreachable && target.kind == TargetKind::Running
}

/// Whether no warm-up was asked for.
fn is_cold(setting: &Setting) -> bool {
    let exchange = setting.phases.exchange();
    exchange.is_none_or(|exchange| exchange.warmup.is_nothing())
}

/// What has no rate of its own is as fast as it goes.
const UNPACED: Pacing = Pacing::Closed { outstanding: 1 };

/// How fast the measured work was to go, and how fast it went.
fn pace(job: &LoadJob, phases: &Phases) -> (Pacing, f64) {
    if let Some((asked, measured)) = job.phases.exchange().zip(phases.exchange()) {
        return (asked.pacing.clone(), measured.replies_per_second);
    }
    let Some((asked, measured)) = job.phases.sustain().zip(phases.sustained()) else {
        return (UNPACED, 0.0);
    };
    // Lines at a rate are that many deliveries for each connection that was open.
    let of_all = Pacing::Open {
        rate_per_second: asked.rate_per_second * f64::from(phases.kept()),
        arrivals: asked.arrivals,
        outstanding: 1,
        spin: false,
    };
    (of_all, measured.deliveries_per_second)
}

/// CPU time ÷ (window × cores that this side could use at once); `None` without a window.
fn busy(side: &SideRecord, at_once: u32) -> Option<f64> {
    Some(cores_used(side)? / cores(side, at_once))
}

/// The same for a server, of which it is not known how many threads serve: many have one that does and some that idle (Redis,
/// Node.js, anything under a global lock). One core's worth of CPU time, and no more, is their signature.
fn server_busy(side: &SideRecord) -> Option<f64> {
    const ONE_CORE: std::ops::RangeInclusive<f64> = SERVER_BUSY..=1.05;
    let used = cores_used(side)? / left(side);
    if ONE_CORE.contains(&used) {
        Some(used.min(1.0))
    } else {
        busy(side, side.threads_max)
    }
}

fn unreachable_message(job: &LoadJob, record: &LoadRecord) -> String {
    let cause = checks::errors::in_words(&record.phases.errors());
    let connections = match record.phases.connections() {
        Some(connections) => connections.begun_in_all(),
        None => job.fleet.connections.into(),
    };
    format!(
        "none of {connections} connections to {} could be opened: {cause}",
        job.fleet.address
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

#[cfg(test)]
mod tests {
    use super::*;

    fn side(cpus: u32, used_cores: f64) -> SideRecord {
        SideRecord {
            cpus: (0..cpus).collect(),
            window_ns: 1_000_000_000,
            cpu_ns: (used_cores * 1e9) as u64,
            ..SideRecord::default()
        }
    }

    #[test]
    fn a_side_is_busy_by_the_cores_that_it_can_use() {
        assert_eq!(busy(&side(1, 0.5), 1), Some(0.5));
        assert_eq!(busy(&side(4, 2.0), 4), Some(0.5));
        assert_eq!(busy(&side(4, 0.5), 1), Some(0.5), "one thread, one core");
        assert_eq!(busy(&SideRecord::default(), 1), None);
        let stolen = SideRecord {
            stolen_ns: Some(60_000_000),
            ..side(1, 0.95)
        };
        assert_eq!(busy(&stolen, 1), Some(1.0), "a twentieth was taken");
    }

    #[test]
    fn one_cores_worth_is_one_thread_at_its_limit_whatever_idles_beside_it() {
        let server_busy = |side: SideRecord| {
            server_busy(&SideRecord {
                threads_max: 5,
                ..side
            })
        };
        assert_eq!(server_busy(side(2, 0.97)), Some(0.97));
        assert_eq!(server_busy(side(2, 1.02)), Some(1.0));
        assert_eq!(server_busy(side(2, 1.2)), Some(0.6));
        assert_eq!(server_busy(side(2, 0.5)), Some(0.25));
        let stolen = SideRecord {
            stolen_ns: Some(520_000_000),
            ..side(2, 0.75)
        };
        assert_eq!(server_busy(stolen), Some(1.0), "a quarter was taken");
    }
}
