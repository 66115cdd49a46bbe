//! What two findings share: requests wait although the server has CPU time to spare, so that its design makes them wait.

use throng_record::ConnectionsPhase;

use crate::account::Account;
use crate::evidence::Evidence;
use crate::hosts::generators;

/// A server that uses less than half of what it could is not what its CPUs make of it. Well below the 90 % of a busy server, since readings of
/// short trials err.
const SERVER_BUSY_MAX: f64 = 0.5;
/// One slow request in twenty: fewer are the tail that any run has.
const SLOW_ONE_IN: u64 = 20;
/// Delays that are not slow are told only where half of the requests have one: they are the typical case then, not a scheduler's mood.
const DELAYED_ONE_IN: u64 = 2;
/// And where the cause in question has at least half of those: an event loop that blocks makes requests wait in both places.
const DELAYED_BY_CAUSE_ONE_IN: u64 = 4;

/// A trial with connections of their own, several clients, and a server that was seen idle.
pub(super) struct IdleServer<'a> {
    pub(super) phase: &'a ConnectionsPhase,
    pub(super) account: &'a Account,
    pub(super) busy: f64,
}

pub(super) fn idle_server<'a>(evidence: &Evidence<'a>) -> Option<IdleServer<'a>> {
    let (phase, account) = evidence.requests()?;
    // Who is alone waits for nobody else, whatever the server is made like.
    if evidence.setting.connections < 2 {
        return None;
    }
    let busy = evidence
        .busy()
        .server
        .filter(|&busy| busy < SERVER_BUSY_MAX)?;
    // Somebody else had the CPUs: what looks like a wait by design was a wait for those.
    let wanted = [evidence.wanted().server, evidence.wanted().generator];
    if wanted
        .into_iter()
        .flatten()
        .any(|share| share >= SERVER_BUSY_MAX)
    {
        return None;
    }
    if may_be_the_machines(evidence, account) {
        return None;
    }
    Some(IdleServer {
        phase,
        account,
        busy,
    })
}

/// Whether waits for a CPU, of either side, can explain half of the delays. While a side waits, the requests of all clients wait for it.
fn may_be_the_machines(evidence: &Evidence<'_>, account: &Account) -> bool {
    let generators = generators(evidence.trial).into_iter().flatten();
    let generators = generators.map(|(side, _)| side);
    let sides = evidence.trial.server.iter().chain(generators);
    let waited_ns = sides
        .filter_map(|side| side.run_delay_ns)
        .fold(0, u64::saturating_add);
    let delays_ns = waited_ns.saturating_mul(evidence.setting.connections.into());
    account.delayed_ns > 0 && delays_ns >= account.delayed_ns / 2
}

impl IdleServer<'_> {
    /// Whether so many slow requests are more than a tail.
    pub(super) fn is_slow(&self, slow: u64) -> bool {
        slow > 0 && slow.saturating_mul(SLOW_ONE_IN) >= self.phase.begun
    }

    /// Whether delays are typical, and so many of them by one cause make it the cause.
    pub(super) fn is_delayed(&self, delayed_by_cause: u64) -> bool {
        let begun = self.phase.begun;
        delayed_by_cause > 0
            && self.account.delayed.saturating_mul(DELAYED_ONE_IN) >= begun
            && delayed_by_cause.saturating_mul(DELAYED_BY_CAUSE_ONE_IN) >= begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::Case;

    /// Ten of twenty requests of ten clients took 31 ms longer than the service.
    fn is_judged(server_ms: u64, generator_ms: u64) -> bool {
        let mut case = Case::backlog();
        case.setting.connections = 10;
        case.account().delayed = 10;
        case.account().delayed_ns = 10 * 31_000_000;
        case.server().run_delay_ns = Some(server_ms * 1_000_000);
        case.generator().run_delay_ns = Some(generator_ms * 1_000_000);
        idle_server(&case.evidence()).is_some()
    }

    #[test]
    fn a_server_or_a_generator_that_had_no_cpu_delays_all_that_ask_at_once() {
        assert!(is_judged(0, 0));
        assert!(is_judged(10, 5));
        assert!(!is_judged(16, 0));
        assert!(!is_judged(0, 16));
        assert!(
            !is_judged(15, 20),
            "as it was seen on a machine that others used"
        );
    }
}
