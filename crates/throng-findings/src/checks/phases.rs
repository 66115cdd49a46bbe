//! Where many connections are opened once, and spoken to in phases: fan-out and holding.
//!
//! A limit that ends the opening early (ports, descriptors, threads of the server) is a result, "serves k of N", and no fault: what was measured
//! of those k stands, and is not ranked among figures of N.

use std::collections::BTreeMap;
use throng_record::{Check, CheckKind, CheckResult, ErrorCounts, ErrorKind, Pacing, Phases};

use super::{errors, made, not_applicable, rate_kept, scheduling, server_count, server_died};
use crate::asked::{accepted, heard};
use crate::evidence::Evidence;
use crate::server::Ending;

/// How far it went with the connections, and what stopped it.
#[derive(Clone, Copy, Debug)]
struct Served<'a> {
    asked: u32,
    connected: u32,
    /// Of these, greeted and heard; absent where nothing was sent on all.
    heard: Option<u32>,
    /// Of these, accepted and kept.
    accepted: u32,
    /// Open for the generator, and left in the server's accept queue.
    unaccepted: u32,
    /// By the server's design; absent where that has no bound below what was asked.
    declared: Option<u32>,
    /// What a launched server noted of a limit that it met.
    noted: Option<&'a str>,
    /// Whether it noted that it closed connections which it had accepted, since it had nothing to serve them with.
    closes_unserved: bool,
}

impl Served<'_> {
    fn served(&self) -> u32 {
        self.heard.unwrap_or(self.accepted).min(self.connected)
    }

    /// Whether it is the server that had no room for more.
    fn is_bounded_by_server(&self) -> bool {
        self.declared.is_some() || self.noted.is_some() || self.unaccepted > 0
    }

    /// Whether a connection that the server has no room for may fail so. One that waits in the accept queue is silent; only a server that
    /// accepts it can close or reset it.
    fn is_of_no_room(&self, kind: ErrorKind) -> bool {
        match kind {
            ErrorKind::ConnectTimedOut
            | ErrorKind::HandshakeTimedOut
            | ErrorKind::NotDelivered
            | ErrorKind::ReplyTimedOut
            | ErrorKind::NotAcknowledged
            | ErrorKind::CloseTimedOut => true,
            ErrorKind::ClosedEarly | ErrorKind::Reset => self.closes_unserved,
            _ => false,
        }
    }
}

/// Makes every check.
pub(super) fn checks(evidence: &Evidence<'_>) -> Vec<Check> {
    const NO_WINDOW: &str =
        "connections are spoken to in phases: no steady number of messages is outstanding";
    let phases = evidence.phases();
    let unaccepted = evidence.trial.unaccepted.unwrap_or(0);
    let served = Served {
        asked: evidence.setting.connections,
        connected: phases.kept(),
        heard: heard(phases),
        accepted: accepted(phases, unaccepted),
        unaccepted,
        declared: evidence
            .serves_at_once()
            .filter(|&declared| declared < evidence.setting.connections),
        noted: evidence.ending().and_then(|ending| ending.note_of_limit()),
        closes_unserved: evidence.ending().is_some_and(Ending::closed_unserved),
    };
    let [bound, late, rate] = of_sustained(evidence);
    let opened = opened(&served, phases);
    let unexpected = unexpected(phases, opened.result, &served);
    let [stolen, others] = evidence.of_machine();
    let mut checks = vec![
        not_applicable(CheckKind::LittlesLaw, NO_WINDOW),
        not_applicable(CheckKind::Outstanding, NO_WINDOW),
        rate,
        bound,
        late,
        stolen,
        others,
        not_applicable(CheckKind::Drift, NO_WINDOW),
        unexpected,
        server_count::check(evidence.target.kind, &evidence.seen.server),
        server_died::check(evidence.target.kind, &evidence.seen.server),
    ];
    if opened.result == CheckResult::Partial {
        for check in &mut checks {
            super::spare_where_partial(check, false);
        }
    }
    checks.push(opened);
    checks
}

/// Lines at a rate are an open loop that is also to be read: the generator must keep its schedule, and must not be the slower side.
fn of_sustained(evidence: &Evidence<'_>) -> [Check; 3] {
    let kinds = [
        CheckKind::GeneratorBound,
        CheckKind::SchedulingError,
        CheckKind::RateKept,
    ];
    let phases = evidence.phases();
    let Some((asked, sustained)) = evidence.trial.job.phases.sustain().zip(phases.sustained())
    else {
        return kinds.map(|kind| not_applicable(kind, "no lines were put at a rate"));
    };
    [
        evidence.of_generators(&Pacing::Closed { outstanding: 1 }),
        scheduling::of_lines(&sustained.scheduling_error, &sustained.latency),
        rate_kept::of_lines(asked, phases.kept(), sustained, evidence.busy()),
    ]
}

fn opened(served: &Served<'_>, phases: &Phases) -> Check {
    let kind = CheckKind::UnservedConnections;
    let Served {
        asked, connected, ..
    } = *served;
    let (k, missing) = (
        served.served(),
        f64::from(asked.saturating_sub(served.served())),
    );
    let made = |result, detail| made(kind, result, missing, 0.0, detail);
    if let Some(declared) = served.declared.filter(|_| k > 0) {
        let by_design = format!(
            "serves {} of {asked}: by its design it serves {declared} connections at once; open fewer, or give a pool more workers",
            k.min(declared)
        );
        // Connections beyond those that it serves are open, and wait in the accept queue.
        if served.heard.is_none() || k == declared {
            return made(CheckResult::Partial, by_design);
        }
    }
    if k >= asked {
        let what = match served.heard {
            Some(_) => "was opened, and got what was due to it",
            None => "was opened",
        };
        let detail = format!("each of {asked} connections {what}");
        return made(CheckResult::Passed, detail);
    }
    let stop = phases.connect().and_then(|phase| phase.stop.as_ref());
    if let Some(stop) = stop.filter(|stop| is_limit_of_generator(stop.kind) && k == connected) {
        let detail = format!("opened {connected} of {asked}: {}", stop.message);
        return made(CheckResult::Partial, detail);
    }
    if let Some(noted) = served.noted.filter(|_| k > 0) {
        return made(
            CheckResult::Partial,
            format!("serves {k} of {asked}: {noted}"),
        );
    }
    let is_silent = phases
        .ping()
        .is_some_and(|phase| phase.pinged > 0 && phase.answered == 0);
    if served.unaccepted > 0 && k > 0 && !is_silent {
        return made(
            CheckResult::Partial,
            format!(
                "serves {k} of {asked}: {} more were open and stood in its accept queue to the end; raise its limits (descriptors, threads), or open fewer",
                served.unaccepted
            ),
        );
    }
    let why = match stop {
        Some(stop) => stop.message.clone(),
        None if connected < asked => "the connects were cut short".to_owned(),
        None => "the others did not get what was due to them".to_owned(),
    };
    made(
        CheckResult::Failed,
        format!(
            "serves {k} of {asked} connections ({connected} were opened): {why}; see the errors, and look at the server's own log"
        ),
    )
}

fn is_limit_of_generator(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::PortsExhausted | ErrorKind::DescriptorsExhausted
    )
}

/// Failures that are not what "serves k of N" says already.
fn unexpected(phases: &Phases, opened: CheckResult, served: &Served<'_>) -> Check {
    let errors = &phases.errors();
    let not_pinged = phases.ping().map_or(0, |phase| phase.not_pinged);
    let kind = CheckKind::UnexpectedErrors;
    // By then everything else has been measured.
    let closed_late = errors.of(ErrorKind::CloseTimedOut);
    let is_told = |error: ErrorKind| {
        error == ErrorKind::CloseTimedOut
            || opened == CheckResult::Partial
                && (is_limit_of_generator(error)
                    || (served.is_bounded_by_server() && served.is_of_no_room(error)))
    };
    let counts: BTreeMap<ErrorKind, u64> = errors
        .counts
        .iter()
        .filter(|(error, _)| !is_told(**error))
        .map(|(&error, &count)| (error, count))
        .collect();
    let unexpected = ErrorCounts {
        counts,
        ..errors.clone()
    };
    let (failed, told) = (unexpected.total(), errors.total() - closed_late);
    let (result, mut detail) = match (failed, told) {
        (0, 0) => (CheckResult::Passed, "no connection failed".to_owned()),
        (0, told) => (
            CheckResult::Passed,
            format!("{told} connections failed for want of room, and none otherwise"),
        ),
        (_, _) => (CheckResult::Failed, errors::in_words(&unexpected)),
    };
    if closed_late > 0 {
        detail += &format!(
            "; {closed_late} × {}, after everything had been measured: a server with many threads may be slow to close",
            ErrorKind::CloseTimedOut.words()
        );
    }
    if not_pinged > 0 {
        detail += &format!(
            "; {not_pinged} pings were not sent, since as many as are sent at once had not been answered in time, one like the other"
        );
    }
    made(kind, result, failed as f64, 0.0, detail)
}

#[cfg(test)]
mod tests;
