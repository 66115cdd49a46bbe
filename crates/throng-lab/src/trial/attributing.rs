//! From the generator's account of every request and what the observers saw to the causes of the slow and failed ones.

use throng_findings::{Account, Evidence, Observed};
use throng_record::{Setting, TargetRecord, Trial};

use crate::explain::{self, FlowsSeen, QueueSeen, attribute, duration_least_ns};
use crate::job::in_force;
use crate::observer::KernelAccountSeen;

/// Where every message had a connection of its own: puts what was observed into the trial, and attributes the slow and failed
/// requests, which alone are kept.
pub(super) fn attribute_requests(
    trial: &mut Trial,
    (target, setting): (&TargetRecord, &Setting),
    seen: &Observed,
    kernel: &KernelAccountSeen,
) -> Option<Account> {
    let started_at_ns = trial.phases.connections()?.started_at_monotonic_ns;
    if trial.phases.tasks().is_some() {
        // Over Unix sockets there are no handshakes to be joined, and how long connects waited for a full queue is counted.
        let connections = trial.phases.connections_mut()?;
        connections.requests.clear();
        connections.requests_left_out = 0;
        return None;
    }
    let asked = target.takes_backlog().then_some(setting.backlog);
    trial.accept_queue = kernel
        .queue
        .as_ref()
        .map(|queue| queue.record(asked, seen.somaxconn, started_at_ns));
    trial.handshakes = kernel.handshakes.as_ref().map(|seen| seen.record());
    trial.unseen.clone_from(&kernel.unseen);
    let aborts = in_force(setting, "net.ipv4.tcp_abort_on_overflow").unwrap_or(0) > 0;
    let evidence = Evidence {
        trial,
        target,
        setting,
        seen,
    };
    let is_in_sight = evidence.is_in_sight();
    let of_requests = explain::Accounts {
        service_time_ns: setting.service_time_ns,
        syn_linear_timeouts: in_force(setting, "net.ipv4.tcp_syn_linear_timeouts").unwrap_or(0),
        aborts_on_overflow: is_in_sight && aborts,
        overflows: is_in_sight.then(|| evidence.counter("TcpExt.ListenOverflows")),
        queue: kernel.queue.as_ref().map(|seen| seen as &dyn QueueSeen),
        flows: kernel
            .handshakes
            .as_ref()
            .map(|seen| seen as &dyn FlowsSeen),
    };
    let is_inline = setting.delay_inline || target.options.delay_inline;
    let loops = trial.workers.filter(|_| is_inline);
    let serves_at_once = trial.job.fleet.serves_at_once;
    let connections = trial.phases.connections_mut()?;
    let account = attribute(connections, &of_requests);
    connections.duration_least_ns = duration_least_ns((target, setting), serves_at_once, loops);
    Some(account)
}
