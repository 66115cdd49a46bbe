//! Unserved connections: some got no reply at all, so the others' figures are not those of all.

use throng_record::{Check, CheckKind, CheckResult, ExchangePhase, Pacing};

use super::{made, not_applicable};

pub(super) fn check(pacing: &Pacing, connected: u32, exchange: &ExchangePhase) -> Check {
    let kind = CheckKind::UnservedConnections;
    if connected == 0 {
        return not_applicable(kind, "no connection was opened");
    }
    let sent = exchange.warmup_replies + exchange.sent;
    if sent < enough_for_all(pacing, connected) {
        return not_applicable(
            kind,
            format!(
                "{sent} messages are too few to reach each of {connected} connections; send more, or open fewer"
            ),
        );
    }
    let unserved = connected.saturating_sub(exchange.connections_served);
    if unserved == 0 {
        let detail = format!("each of {connected} connections got a reply");
        return made(kind, CheckResult::Passed, 0.0, 0.0, detail);
    }
    let detail = format!(
        "{unserved} of {connected} connections got no reply at all: the server serves fewer at once, or left them in its accept queue; open fewer, or give the server more workers"
    );
    made(kind, CheckResult::Failed, f64::from(unserved), 0.0, detail)
}

/// So many messages reach every connection. A closed loop begins with all of them; an open loop takes the longest free
/// first, with `outstanding` places for each, and may take some again while others wait.
fn enough_for_all(pacing: &Pacing, connected: u32) -> u64 {
    match *pacing {
        Pacing::Closed { .. } | Pacing::Lockstep { .. } => u64::from(connected),
        Pacing::Open { outstanding, .. } => 2 * u64::from(connected) * u64::from(outstanding),
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Arrivals;

    use super::*;

    const CLOSED: Pacing = Pacing::Closed { outstanding: 1 };

    fn exchange(sent: u64, connections_served: u32) -> ExchangePhase {
        ExchangePhase {
            sent,
            connections_served,
            ..ExchangePhase::default()
        }
    }

    #[test]
    fn a_single_unserved_connection_fails() {
        assert_eq!(
            check(&CLOSED, 10, &exchange(100, 10)).result,
            CheckResult::Passed
        );
        let failed = check(&CLOSED, 10, &exchange(100, 9));
        assert_eq!(failed.result, CheckResult::Failed);
        assert!(failed.detail.contains("1 of 10"), "{}", failed.detail);
    }

    #[test]
    fn too_few_messages_prove_nothing() {
        assert_eq!(
            check(&CLOSED, 10, &exchange(9, 9)).result,
            CheckResult::NotApplicable
        );
        let open = Pacing::Open {
            rate_per_second: 1.0,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin: true,
        };
        assert_eq!(
            check(&open, 10, &exchange(19, 9)).result,
            CheckResult::NotApplicable
        );
        assert_eq!(
            check(&open, 10, &exchange(20, 9)).result,
            CheckResult::Failed
        );
        assert_eq!(
            check(&CLOSED, 0, &exchange(0, 0)).result,
            CheckResult::NotApplicable
        );
    }
}
