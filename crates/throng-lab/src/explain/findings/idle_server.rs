//! What two findings share: requests wait although the server has CPU time to spare, so that its design makes them wait.

use throng_record::ConnectionsPhase;

use super::Evidence;
use crate::explain::account::Account;

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
    let (phase, account) = evidence.connections?;
    // Who is alone waits for nobody else, whatever the server is made like.
    if evidence.setting.connections < 2 {
        return None;
    }
    let busy = evidence
        .busy
        .server
        .filter(|&busy| busy < SERVER_BUSY_MAX)?;
    // Somebody else had the CPUs: what looks like a wait by design was a wait for those.
    let wanted = [evidence.wanted.server, evidence.wanted.generator];
    if wanted
        .into_iter()
        .flatten()
        .any(|share| share >= SERVER_BUSY_MAX)
    {
        return None;
    }
    Some(IdleServer {
        phase,
        account,
        busy,
    })
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
