//! Checks: what a trial must satisfy before its number is ranked.
//!
//! Each is a file with its names and one small function, on plain numbers, so that both sides of each bound are tested by hand-made inputs. It
//! says in its detail what was compared; a failed one also the likely cause and what to do. A check that cannot be made is
//! recorded as not applicable, with the reason: that it was not forgotten must be visible.

mod accepted;
mod answered;
mod contract;
mod drift;
mod errors;
mod generator_bound;
mod handshake_account;
mod littles_law;
mod other_programs;
mod outstanding;
mod phases;
mod rate_kept;
mod scheduling;
mod server_count;
mod server_died;
mod start_skew;
mod steal;
mod unserved;

use throng_record::{
    Check, CheckKind, CheckResult, ConnectionsPhase, ExchangePhase, ExchangeSpec, Pacing,
    TargetKind,
};

use crate::cpu_time::Others;
use crate::evidence::Evidence;
use crate::hosts;
use crate::lost::Lost;
pub use errors::in_words as errors_in_words;

/// The page on all checks, a section for each.
const PAGE: &str = include_str!("../../../docs/checks.md");

/// What all checks of a kind have in common.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word for it, by which `throng explain` knows it.
    pub name: &'static str,
    /// What reports call it where it was missed.
    pub title: &'static str,
    /// The heading of its section in `docs/checks.md`.
    heading: &'static str,
    /// Whether a failure is an error even once: no noisy machine can fail it all by itself.
    pub is_the_servers_fault: bool,
}

impl Kind {
    /// Definition, bound, reason and remedy, as Markdown.
    #[must_use]
    pub fn page(&self) -> String {
        let mut sections = PAGE.split("\n## ").skip(1);
        let section = sections.find(|section| section.lines().next() == Some(self.heading));
        format!("# {}", section.unwrap_or(self.heading))
    }
}

/// Makes all that goes through the kinds from one list of them.
macro_rules! kinds {
    ($($module:ident: $variant:ident),+ $(,)?) => {
        /// Every kind, as the page on checks orders them.
        pub const KINDS: &[&Kind] = &[$(&$module::KIND),+];

        /// What stands in the record, with its words.
        #[must_use]
        pub fn kind(check: CheckKind) -> &'static Kind {
            match check {
                $(CheckKind::$variant => &$module::KIND),+
            }
        }
    };
}

kinds! {
    littles_law: LittlesLaw,
    outstanding: Outstanding,
    rate_kept: RateKept,
    generator_bound: GeneratorBound,
    scheduling: SchedulingError,
    start_skew: StartSkew,
    steal: Steal,
    other_programs: OtherPrograms,
    unserved: UnservedConnections,
    drift: Drift,
    errors: UnexpectedErrors,
    handshake_account: HandshakeAccount,
    server_count: ServerCount,
    server_died: ServerDied,
    contract: Contract,
}

impl Evidence<'_> {
    /// What a disturbance can have changed.
    fn lost(&self) -> Lost {
        let connections = self.phases().connections();
        let has_least = connections.is_some_and(|phase| phase.duration_least_ns.is_some());
        let busy = self.busy();
        Lost::of(has_least, busy.server, busy.generator)
    }

    /// What the machine did to both sides, or each machine to its own.
    fn of_machine(&self) -> [Check; 2] {
        let lost = self.lost();
        // A server may end its threads with its connections, and what these waited is then in no account.
        let is_waiting_known = self.phases().connections().is_none();
        let others = self.seen.others.iter();
        let others: Vec<_> = others
            .map(|others| Others {
                waited_ns: others.waited_ns.filter(|_| is_waiting_known),
                ..*others
            })
            .collect();
        let mut stolen = vec![steal::check(self.seen.stolen, lost)];
        let is_visible = self.trial.server.is_some();
        let mut used = vec![other_programs::check(&others, is_visible, lost)];
        for host in self.hosts() {
            let name = host.in_words(self.hosts());
            // The threads of a generator live to its end, and what they waited is known.
            let others = hosts::others(host);
            stolen.push(steal::on_host(&name, hosts::stolen(host), lost));
            used.extend(other_programs::on_host(&name, others.as_ref(), lost));
            let throttled = host.throttled_share;
            used.extend(throttled.map(|share| other_programs::throttled(&name, share, lost)));
        }
        [worst(stolen), worst(used)]
    }

    /// Whether the generator, or one of several, was the limit.
    fn of_generators(&self, pacing: &Pacing) -> Check {
        let hosts = hosts::busy_by_name(self.trial);
        let is_visible = self.trial.server.is_some();
        generator_bound::check(pacing, self.busy(), &hosts, is_visible)
    }
}

/// Of one check made for several machines the one that counts: whichever is furthest beyond its bound, and none that could not be made.
fn worst(checks: Vec<Check>) -> Check {
    let weight = |check: &Check| {
        let times = check.measured.zip(check.bound);
        let times = times.map_or(-1.0, |(measured, bound)| measured / bound);
        (check.result == CheckResult::Disturbed, times)
    };
    let worse = |one: Check, other: Check| {
        if weight(&other) > weight(&one) {
            other
        } else {
            one
        }
    };
    let worst = checks.into_iter().reduce(worse);
    worst.expect("that of the machine itself is always there")
}

/// Makes every check.
#[must_use]
pub fn all(evidence: &Evidence<'_>) -> Vec<Check> {
    if evidence.target.kind == TargetKind::Multiplexer {
        return of_accept(evidence);
    }
    let exchange = evidence
        .trial
        .job
        .phases
        .exchange()
        .zip(evidence.phases().exchange());
    let mut checks = match (exchange, evidence.phases().connections()) {
        (Some(exchange), Some(connections)) => of_connections(evidence, exchange, connections),
        (Some(exchange), None) => of_exchange(evidence, exchange),
        (None, _) => phases::checks(evidence),
    };
    checks.extend(start_skew::check(evidence));
    checks.push(contract::check(evidence.target.catalogue.as_ref()));
    checks
}

/// Where every message had a connection of its own.
fn of_connections(
    evidence: &Evidence<'_>,
    (asked, exchange): (&ExchangeSpec, &ExchangePhase),
    connections: &ConnectionsPhase,
) -> Vec<Check> {
    const NO_WINDOW: &str =
        "every message has a connection of its own, and clients end one after the other";
    let pacing = &asked.pacing;
    let (outstanding, scheduling) = if pacing.is_closed() {
        (
            not_applicable(CheckKind::Outstanding, NO_WINDOW),
            not_applicable(CheckKind::SchedulingError, "a closed loop has no schedule"),
        )
    } else {
        (
            outstanding::check(pacing, exchange),
            scheduling::check(pacing, exchange.scheduling_error.as_ref()),
        )
    };
    let [stolen, others] = evidence.of_machine();
    vec![
        not_applicable(CheckKind::LittlesLaw, NO_WINDOW),
        outstanding,
        rate_kept::check(evidence, pacing, exchange),
        evidence.of_generators(pacing),
        scheduling,
        stolen,
        others,
        not_applicable(CheckKind::Drift, NO_WINDOW),
        answered::only_explained(&exchange.errors, evidence.kernel_account().as_ref()),
        handshake_account::check(
            connections,
            evidence.trial.handshakes.as_ref(),
            |counter| evidence.change(counter),
            evidence.trial.network,
        ),
        server_count::check(evidence.target.kind, &evidence.seen.server),
        server_died::check(evidence.target.kind, &evidence.seen.server),
        answered::most_were(connections, exchange),
    ]
}

/// Where a multiplexer was timed alone.
fn of_accept(evidence: &Evidence<'_>) -> Vec<Check> {
    const ALONE: &str =
        "a multiplexer is timed alone: no server answers, and no messages are paced";
    let all = [
        CheckKind::LittlesLaw,
        CheckKind::Outstanding,
        CheckKind::RateKept,
        CheckKind::GeneratorBound,
        CheckKind::SchedulingError,
        CheckKind::Steal,
        CheckKind::OtherPrograms,
        CheckKind::Drift,
        CheckKind::UnexpectedErrors,
        CheckKind::HandshakeAccount,
        CheckKind::ServerCount,
        CheckKind::ServerDied,
        CheckKind::UnservedConnections,
        CheckKind::Contract,
    ];
    let check = |kind| match kind {
        CheckKind::Steal => steal::check(evidence.seen.stolen, Lost::CpuTime),
        CheckKind::OtherPrograms => {
            other_programs::check(&evidence.seen.others, true, Lost::CpuTime)
        }
        CheckKind::UnservedConnections => {
            let phase = evidence.phases().multiplexer().cloned();
            accepted::check(&phase.unwrap_or_default(), evidence.setting.connections)
        }
        kind => not_applicable(kind, ALONE),
    };
    all.into_iter().map(check).collect()
}

/// Where connections were opened first and kept.
fn of_exchange(
    evidence: &Evidence<'_>,
    (asked, exchange): (&ExchangeSpec, &ExchangePhase),
) -> Vec<Check> {
    let pacing = &asked.pacing;
    let errors = evidence.phases().errors();
    let unserved = unserved::check(
        pacing,
        evidence.phases().kept(),
        exchange,
        evidence.setting.connections,
        evidence.serves_at_once(),
    );
    let [stolen, others] = evidence.of_machine();
    let mut checks = vec![
        littles_law::check(pacing, exchange.steady.as_ref(), errors.total()),
        outstanding::check(pacing, exchange),
        rate_kept::check(evidence, pacing, exchange),
        evidence.of_generators(pacing),
        scheduling::check(pacing, exchange.scheduling_error.as_ref()),
        stolen,
        others,
        match exchange.tasks {
            Some(_) => not_applicable(
                CheckKind::Drift,
                "each client has so many requests, and ends when it has had them",
            ),
            None => drift::check(&exchange.timeline, exchange.duration_ns, is_cold(evidence)),
        },
        errors::check(&errors),
        server_count::check(evidence.target.kind, &evidence.seen.server),
        server_died::check(evidence.target.kind, &evidence.seen.server),
    ];
    if unserved.result == CheckResult::Partial {
        let only_waiting = errors::only_timeouts(&errors);
        for check in &mut checks {
            spare_where_partial(check, only_waiting);
        }
    }
    checks.push(unserved);
    checks
}

/// Where a server keeps some connections waiting there is no figure to rank, and no doubt about one. What it did wrong
/// still counts; that those who waited got no reply in time does not.
fn spare_where_partial(check: &mut Check, only_waiting: bool) {
    let is_spared = match check.kind {
        CheckKind::ServerDied | CheckKind::ServerCount | CheckKind::UnservedConnections => false,
        CheckKind::UnexpectedErrors => only_waiting,
        _ => true,
    };
    if is_spared && check.result != CheckResult::Passed {
        let why = format!("not every connection is served at once; {}", check.detail);
        *check = not_applicable(check.kind, why);
    }
}

fn not_applicable(kind: CheckKind, why: impl Into<String>) -> Check {
    Check {
        kind,
        result: CheckResult::NotApplicable,
        measured: None,
        bound: None,
        detail: why.into(),
    }
}

fn made(
    kind: CheckKind,
    result: CheckResult,
    measured: impl Into<Option<f64>>,
    bound: impl Into<Option<f64>>,
    detail: String,
) -> Check {
    Check {
        kind,
        result,
        measured: measured.into(),
        bound: bound.into(),
        detail,
    }
}

/// A share as a percentage for a sentence: one decimal.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Whether no warm-up was asked for.
fn is_cold(evidence: &Evidence<'_>) -> bool {
    let exchange = evidence.setting.phases.exchange();
    exchange.is_none_or(|exchange| exchange.warmup.is_nothing())
}

#[cfg(test)]
mod tests;
