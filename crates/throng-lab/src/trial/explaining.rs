//! From the generator's account of every request and what the observers saw to causes and findings.

use throng_record::{LoadRecord, Network, Setting, SideRecord, TargetKind, TargetRecord, Trial};

use throng_sys::limits::{self, MachineLimits};
use throng_sys::open_descriptors::OpenDescriptors;

use crate::checks::answered::KernelAccount;
use crate::checks::phases::{accepted, heard};
use crate::explain::{
    Account, CoresSeen, Evidence, FlowsSeen, Limits, QueueSeen, Seen, ServerSeen, attribute,
    duration_least_ns, findings,
};
use crate::job::in_force;
use crate::launcher::Ending;
use crate::limit::{Busy, cores_used, left, wanted};
use crate::observer::KernelAccountSeen;

const OVERFLOWS: &str = "TcpExt.ListenOverflows";
const DROPS: &str = "TcpExt.ListenDrops";

/// Where every message had a connection of its own: puts what was observed into the trial, and attributes the slow and failed
/// requests, which alone are kept.
pub(super) fn attribute_requests(
    trial: &mut Trial,
    (target, setting): (&TargetRecord, &Setting),
    record: &mut LoadRecord,
    kernel: &KernelAccountSeen,
) -> Option<Account> {
    let connections = record.phases.connections_mut()?;
    let started_at_ns = connections.started_at_monotonic_ns;
    let asked = target.takes_backlog().then_some(setting.backlog);
    let somaxconn = in_force(setting, "net.core.somaxconn");
    trial.accept_queue = kernel
        .queue
        .as_ref()
        .map(|queue| queue.record(asked, somaxconn, started_at_ns));
    trial.handshakes = kernel.handshakes.as_ref().map(|seen| seen.record());
    trial.unseen.clone_from(&kernel.unseen);
    let is_in_sight = server_is_in_sight(target.kind, kernel.was_listening, trial.server.is_some());
    let aborts = in_force(setting, "net.ipv4.tcp_abort_on_overflow").unwrap_or(0) > 0;
    let seen = Seen {
        service_time_ns: setting.service_time_ns,
        syn_linear_timeouts: in_force(setting, "net.ipv4.tcp_syn_linear_timeouts").unwrap_or(0),
        aborts_on_overflow: is_in_sight && aborts,
        overflows: is_in_sight.then(|| grown(trial, OVERFLOWS)),
        queue: kernel.queue.as_ref().map(|seen| seen as &dyn QueueSeen),
        flows: kernel
            .handshakes
            .as_ref()
            .map(|seen| seen as &dyn FlowsSeen),
    };
    let account = attribute(connections, &seen);
    let is_inline = setting.delay_inline || target.options.delay_inline;
    let loops = trial.workers.filter(|_| is_inline);
    let serves_at_once = trial.job.fleet.serves_at_once;
    connections.duration_least_ns = duration_least_ns((target, setting), serves_at_once, loops);
    Some(account)
}

/// What its failed requests are judged by. In the host's network other servers move the counters too: there overflows count only where this
/// trial's own connections have met a full queue.
pub(super) fn kernel_account<'a>(
    trial: &Trial,
    target: &TargetRecord,
    (record, account): (&LoadRecord, &'a Account),
    kernel: &KernelAccountSeen,
) -> KernelAccount<'a> {
    let is_in_sight = server_is_in_sight(target.kind, kernel.was_listening, trial.server.is_some());
    let counter = |name| is_in_sight.then(|| grown(trial, name));
    let attribution = record.phases.connections().map(|phase| phase.attribution);
    let has_met_full_queue = trial.network == Network::Private
        || account.final_acks_dropped > 0
        || attribution.is_some_and(|counts| counts.connects_by_syn_retransmission > 0);
    KernelAccount {
        account,
        overflows: counter(OVERFLOWS).map(|grown| if has_met_full_queue { grown } else { 0 }),
        drops: counter(DROPS),
        is_queue_observed: kernel.queue.is_some(),
    }
}

/// By how much a counter grew.
fn grown(trial: &Trial, name: &str) -> u64 {
    let change = trial.kernel_counters.get(name).copied().unwrap_or(0);
    u64::try_from(change).unwrap_or(0)
}

/// What was seen of a trial beside what stands in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialSeen<'a> {
    pub(super) busy: Busy,
    /// Whether a listener was there when the trial began; absent where it could not be looked up.
    pub(super) was_listening: Option<bool>,
    /// Of the server's CPUs in the measured window; absent where it cannot be told.
    pub(super) cores_idle: Option<f64>,
    /// Of the server, with every connection open.
    pub(super) descriptors: Option<OpenDescriptors>,
    /// Of the server, where it has ended and was ours.
    pub(super) ending: Option<&'a Ending>,
}

/// What explains the trial as a whole. Its checks have been made.
pub(super) fn find(
    trial: &mut Trial,
    (target, setting): (&TargetRecord, &Setting),
    record: &LoadRecord,
    account: Option<&Account>,
    seen: &TrialSeen<'_>,
) {
    let errors = record.phases.errors();
    let none = throng_record::side::CounterDeltas::new();
    let (busy, was_listening) = (seen.busy, seen.was_listening);
    let is_in_sight = server_is_in_sight(target.kind, was_listening, trial.server.is_some());
    let (threads_max, processes_max) = trial
        .server
        .as_ref()
        .map_or((0, 0), |side| (side.threads_max, side.processes_max));
    let found = findings(&Evidence {
        address: &trial.job.fleet.address,
        server: ServerSeen {
            is_built_in: target.kind == TargetKind::BuiltIn,
            is_in_sight,
            backlog_asked: target.takes_backlog().then_some(setting.backlog),
            threads_max,
            processes_max,
            descriptors: seen.descriptors,
            ending: seen.ending,
            served: served(record, trial.unaccepted),
            workers: trial.workers,
            catalogue: target.catalogue.as_ref(),
            cores: trial
                .server
                .as_ref()
                .and_then(|side| cores_seen(side, seen.cores_idle)),
        },
        limits: &limits(),
        setting,
        network: trial.network,
        connect: record.phases.connect(),
        exchange: record.phases.exchange(),
        connections: record.phases.connections().zip(account),
        accept_queue: trial.accept_queue.as_ref(),
        backlog_in_force: trial.backlog_in_force,
        somaxconn: in_force(setting, "net.core.somaxconn").filter(|_| is_in_sight),
        handshakes: trial.handshakes.as_ref(),
        kernel_counters: if is_in_sight {
            &trial.kernel_counters
        } else {
            &none
        },
        errors: &errors,
        server_side: trial.server.as_ref(),
        generator_side: trial.generator.as_ref(),
        busy,
        wanted: Busy {
            server: of_side(trial.server.as_ref(), None),
            generator: of_side(trial.generator.as_ref(), Some(trial.job.fleet.shards)),
        },
        serves_at_once: trial.job.fleet.serves_at_once,
        accepts_any_number: accepts_any_number(
            target.kind,
            trial.job.fleet.serves_at_once,
            setting.connections,
        ),
        was_listening,
        checks: &trial.checks,
    });
    trial.findings = found;
}

/// Connections that were served at once; absent where no message went over all of them.
fn served(record: &LoadRecord, unaccepted: Option<u32>) -> Option<u32> {
    let phases = &record.phases;
    let accepted = phases
        .hold()
        .and_then(|_| Some(accepted(phases, unaccepted?)));
    let answered = || {
        let exchange = phases
            .exchange()
            .filter(|_| phases.connections().is_none())?;
        (exchange.connections_served > 0).then_some(exchange.connections_served)
    };
    heard(phases).or(accepted).or_else(answered)
}

fn limits() -> Limits {
    Limits {
        machine: MachineLimits::read(),
        open_files_max: limits::open_files().hard,
        binds_user_threads: limits::binds_user_threads(),
    }
}

/// Whether the network whose counters and settings we read is the server's. That of a server on another host, or in a container's
/// network, is not: its counters are not ours.
fn server_is_in_sight(kind: TargetKind, was_listening: Option<bool>, is_observed: bool) -> bool {
    let is_launched = kind != TargetKind::Running;
    // Where nobody looked for its listener, a process that was found by its listener tells the same.
    is_launched || was_listening.unwrap_or(is_observed)
}

fn cores_seen(side: &SideRecord, idle: Option<f64>) -> Option<CoresSeen> {
    let cores = |time_ns: u64| time_ns as f64 / side.window_ns as f64;
    Some(CoresSeen {
        used: cores_used(side)?,
        allowed: side.cpus.len() as u32,
        left: left(side),
        idle,
        busiest_thread: side.busiest_thread_ns.map(cores),
    })
}

fn of_side(side: Option<&SideRecord>, threads: Option<u32>) -> Option<f64> {
    side.and_then(|side| wanted(side, threads.unwrap_or(side.threads_max)))
}

/// Whether the server's design lets it accept all of so many clients at once. A built-in server says how many it serves where its design
/// bounds them; nobody else's silence says anything.
fn accepts_any_number(kind: TargetKind, serves_at_once: Option<u32>, clients: u32) -> bool {
    match serves_at_once {
        Some(at_once) => at_once >= clients,
        None => kind.keeps_contract(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_hosts_server_is_not_in_sight() {
        use TargetKind::{BuiltIn, Command, Running};
        for (was_listening, is_observed, expected) in [
            (None, false, false),
            (None, true, true),
            (Some(false), false, false),
            (Some(true), false, true),
        ] {
            assert_eq!(
                server_is_in_sight(Running, was_listening, is_observed),
                expected,
                "{was_listening:?} {is_observed}"
            );
        }
        assert!(server_is_in_sight(BuiltIn, None, false));
        assert!(server_is_in_sight(Command, None, false));
    }

    #[test]
    fn only_a_built_in_server_that_names_no_bound_has_none() {
        use TargetKind::{BuiltIn, Command, Running};
        assert!(accepts_any_number(BuiltIn, None, 1_000));
        assert!(accepts_any_number(BuiltIn, Some(1_020), 32));
        assert!(!accepts_any_number(BuiltIn, Some(1), 2));
        assert!(!accepts_any_number(Command, None, 2));
        assert!(!accepts_any_number(Running, None, 2));
    }
}
