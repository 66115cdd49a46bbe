//! Unserved connections: some got no reply at all, so the others' figures are not those of all.
//!
//! A model that declares to serve k connections at once (one for an iterative server, a pool's size) leaves the others in
//! the accept queue: with more than k that is what it is, "serves k of N", and no fault. Serving fewer than it declares is one.

use throng_record::{Check, CheckKind, CheckResult, ExchangePhase, Pacing};

use super::{Kind, made, not_applicable};

pub(super) const KIND: Kind = Kind {
    name: "unserved-connections",
    title: "unserved connections",
    heading: "Unserved connections",
    is_the_servers_fault: false,
};

pub(super) fn check(
    pacing: &Pacing,
    connected: u32,
    exchange: &ExchangePhase,
    asked: u32,
    serves_at_once: Option<u32>,
) -> Check {
    let kind = CheckKind::UnservedConnections;
    if connected == 0 {
        return not_applicable(kind, "no connection was opened");
    }
    let served = exchange.connections_served;
    let unserved = connected.saturating_sub(served);
    let silent = exchange.connections_silent.min(unserved);
    let failed = unserved - silent;
    let declared = serves_at_once.filter(|&declared| declared < asked);
    if declared == Some(served) {
        let failed = match failed {
            0 => String::new(),
            failed => format!(", and {failed} failed"),
        };
        let detail = format!(
            "serves {served} of {asked}: by its design it serves {served} connections at once; {silent} more waited in its accept queue{failed}; open fewer, or give a pool more workers"
        );
        return made(kind, CheckResult::Partial, f64::from(unserved), 0.0, detail);
    }
    if exchange.replies == 0 {
        let why = if exchange.errors.total() >= u64::from(connected) {
            "every connection failed; see the errors"
        } else {
            "the server hangs, or is slower than the window is long; measure longer"
        };
        let detail = format!("no reply came in the measured window: {why}");
        return made(kind, CheckResult::Failed, f64::from(connected), 0.0, detail);
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
    if unserved == 0 {
        let detail = format!("each of {connected} connections got a reply");
        return made(kind, CheckResult::Passed, 0.0, 0.0, detail);
    }
    let declares = declared.map_or_else(String::new, |declared| {
        format!(", although it declares to serve {declared}")
    });
    let silent = match silent {
        0 => String::new(),
        silent => format!(
            "; {silent} of these were open and silent to the end: the server serves fewer at once, or left them in its accept queue; open fewer, or give the server more workers"
        ),
    };
    let failed = match failed {
        0 => String::new(),
        failed => format!("; {failed} of these failed before a whole reply: see the errors"),
    };
    let detail = format!(
        "{unserved} of {connected} connections got no whole reply{declares}{silent}{failed}"
    );
    made(kind, CheckResult::Failed, f64::from(unserved), 0.0, detail)
}

/// So many messages reach every connection. A closed loop begins with all of them; an open loop takes the longest free
/// first, with `outstanding` places for each, and may take some again while others wait.
fn enough_for_all(pacing: &Pacing, connected: u32) -> u64 {
    match *pacing {
        // Which of its connections a task uses is left to chance.
        Pacing::Tasks(tasks) if tasks.choices > 1 => u64::MAX,
        Pacing::Closed { .. } | Pacing::Lockstep { .. } | Pacing::Tasks(_) => u64::from(connected),
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
            replies: sent,
            connections_served,
            connections_silent: u32::MAX,
            ..ExchangePhase::default()
        }
    }

    /// Of ten two failed, one is silent.
    #[test]
    fn connections_that_failed_are_not_said_to_wait() {
        let told = |connections_silent| {
            let exchange = ExchangePhase {
                connections_silent,
                ..exchange(100, 7)
            };
            check(&CLOSED, 10, &exchange, 10, None).detail
        };
        let mixed = told(1);
        for part in [
            "3 of 10 connections got no whole reply",
            "1 of these were open and silent",
            "2 of these failed",
        ] {
            assert!(mixed.contains(part), "{part} in {mixed}");
        }
        assert!(!told(0).contains("accept queue"), "{}", told(0));
        assert!(!told(3).contains("failed"), "{}", told(3));
    }

    #[test]
    fn where_every_connection_failed_nobody_hangs() {
        let mut reset = ExchangePhase::default();
        for _ in 0..10 {
            reset
                .errors
                .count(throng_record::ErrorKind::Reset, String::new);
        }
        let told = check(&CLOSED, 10, &reset, 10, None).detail;
        assert!(
            told.ends_with("every connection failed; see the errors"),
            "{told}"
        );
        let told = check(&CLOSED, 10, &ExchangePhase::default(), 10, None).detail;
        assert!(told.contains("hangs"), "{told}");
    }

    #[test]
    fn a_single_unserved_connection_fails() {
        assert_eq!(
            check(&CLOSED, 10, &exchange(100, 10), 10, None).result,
            CheckResult::Passed
        );
        let failed = check(&CLOSED, 10, &exchange(100, 9), 10, None);
        assert_eq!(failed.result, CheckResult::Failed);
        assert!(failed.detail.contains("1 of 10"), "{}", failed.detail);
    }

    #[test]
    fn a_window_without_a_reply_is_no_measurement() {
        let silent = ExchangePhase {
            warmup_replies: 50,
            connections_served: 10,
            ..ExchangePhase::default()
        };
        assert_eq!(
            check(&CLOSED, 10, &silent, 10, None).result,
            CheckResult::Failed
        );
    }

    #[test]
    fn a_full_accept_queue_keeps_the_rest_away() {
        let check = check(&CLOSED, 7, &exchange(100, 4), 50, Some(4));
        assert_eq!(check.result, CheckResult::Partial);
        assert!(
            check.detail.starts_with("serves 4 of 50"),
            "{}",
            check.detail
        );
    }

    #[test]
    fn too_few_messages_prove_nothing() {
        assert_eq!(
            check(&CLOSED, 10, &exchange(9, 9), 10, None).result,
            CheckResult::NotApplicable
        );
        let open = Pacing::Open {
            rate_per_second: 1.0,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin: true,
        };
        assert_eq!(
            check(&open, 10, &exchange(19, 9), 10, None).result,
            CheckResult::NotApplicable
        );
        assert_eq!(
            check(&open, 10, &exchange(20, 9), 10, None).result,
            CheckResult::Failed
        );
        assert_eq!(
            check(&CLOSED, 0, &exchange(0, 0), 0, None).result,
            CheckResult::NotApplicable
        );
    }

    #[test]
    fn a_bounded_server_may_leave_the_others_waiting_and_no_more() {
        let check =
            |served, declared| check(&CLOSED, 10, &exchange(100, served), 10, Some(declared));
        let partial = check(4, 4);
        assert_eq!(partial.result, CheckResult::Partial);
        assert!(
            partial.detail.starts_with("serves 4 of 10"),
            "{}",
            partial.detail
        );
        assert_eq!(check(10, 10).result, CheckResult::Passed);
        assert_eq!(
            check(3, 4).result,
            CheckResult::Failed,
            "fewer than declared"
        );
        assert_eq!(
            check(9, 20).result,
            CheckResult::Failed,
            "fewer than there are"
        );
    }
}
