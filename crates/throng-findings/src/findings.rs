//! Findings: what explains a trial's figures. Each is a file with how it is found, what it is called, its evidence in a sentence, cause, remedy, and by
//! what one is worse than another of its kind; `throng explain` shows its page.
//!
//! A finding claims something, so each has thresholds above what chance makes, with their reasons beside them. None is made from
//! counters that somebody else may have moved: in the host's network they are believed only where the trial's own connections show the
//! same (`Evidence::counter_of_overflow`).

mod accept_queue_overflow;
mod backlog_clamped;
mod capacity;
mod clause;
mod connecting_costs;
mod connections_refused;
mod cost_grows_with_idle;
mod delayed_ack;
mod descriptors_exhausted;
mod final_ack_dropped;
mod full_unix_queue;
mod generator_bound;
mod half_the_ports_gone;
mod head_of_line_blocking;
mod idle_server;
mod one_core_of_many;
mod ports_exhausted;
mod scan_without_rest;
mod stalls;
mod starved_connections;
mod syn_cookies;
mod syn_retransmission_steps;
pub(crate) mod threads_exhausted;
mod too_few_acceptors;
mod unbalanced_listeners;
mod uneven_services;
mod unfair_service;

use throng_record::{Finding, HostPart, Side, Trial};

use crate::evidence::Evidence;
use crate::hosts::busy_by_name;
use crate::limit::GENERATOR_BUSY;

/// What all findings of a kind have in common.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word for it, by which `throng explain` knows it.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// All that is to be said of it, as Markdown: `docs/findings/NAME.md`.
    pub page: &'static str,
}

/// A finding in words.
pub trait Words {
    /// What happened, with the evidence, in a sentence or two.
    fn happened(&self) -> String;

    /// Why it comes about.
    fn cause(&self) -> &'static str;

    /// What to do.
    fn remedy(&self) -> String;

    /// By what it is worse than another of its kind: the worst has most.
    fn gravity(&self) -> f64;
}

/// Makes all that goes through the kinds from one list of them.
macro_rules! kinds {
    ($($module:ident: $variant:ident),+ $(,)?) => {
        /// Every kind, the gravest first.
        pub const KINDS: &[&Kind] = &[$(&$module::KIND),+];

        /// Every finding of a trial whose checks have been made, the gravest first.
        #[must_use]
        pub fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
            let mut all = Vec::new();
            $(all.extend($module::find(evidence).into_iter().map(Finding::$variant));)+
            all
        }

        /// The kind of a finding.
        #[must_use]
        pub fn kind(finding: &Finding) -> &'static Kind {
            match finding {
                $(Finding::$variant(_) => &$module::KIND),+
            }
        }

        /// Its words.
        #[must_use]
        pub fn words(finding: &Finding) -> &dyn Words {
            match finding {
                $(Finding::$variant(found) => found),+
            }
        }
    };
}

// The gravest first: what lost requests, what cost them seconds, what cost them the server's time, what qualifies the figures.
kinds! {
    connections_refused: ConnectionsRefused,
    ports_exhausted: PortsExhausted,
    descriptors_exhausted: DescriptorsExhausted,
    threads_exhausted: ThreadsExhausted,
    accept_queue_overflow: AcceptQueueOverflow,
    backlog_clamped: BacklogClamped,
    syn_retransmission_steps: SynRetransmissionSteps,
    half_the_ports_gone: HalfThePortsGone,
    final_ack_dropped: FinalAckDropped,
    syn_cookies: SynCookies,
    unbalanced_listeners: UnbalancedListeners,
    too_few_acceptors: TooFewAcceptors,
    head_of_line_blocking: HeadOfLineBlocking,
    delayed_ack: DelayedAck,
    full_unix_queue: FullUnixQueue,
    scan_without_rest: ScanWithoutRest,
    uneven_services: UnevenServices,
    cost_grows_with_idle: CostGrowsWithIdle,
    stalls: Stalls,
    starved_connections: StarvedConnections,
    one_core_of_many: OneCoreOfMany,
    unfair_service: UnfairService,
    connecting_costs: ConnectingCosts,
    generator_bound: GeneratorBound,
}

/// The hosts of whose generators a finding of this trial tells, by name; none where it tells of the server, and where no other host generated.
#[must_use]
pub fn hosts(finding: &Finding, trial: &Trial) -> Vec<String> {
    let are = |is_of: fn(&HostPart) -> bool| {
        let hosts = trial.hosts.iter().filter(|host| is_of(host));
        hosts.map(|host| host.in_words(&trial.hosts)).collect()
    };
    match finding {
        Finding::PortsExhausted(_) => are(ports_exhausted::is_of),
        Finding::DescriptorsExhausted(found) if found.side == Side::Generator => {
            are(descriptors_exhausted::is_of)
        }
        Finding::HalfThePortsGone(_) => are(half_the_ports_gone::is_of),
        Finding::GeneratorBound(_) => {
            let busy = busy_by_name(trial).into_iter();
            let bound = busy.filter(|(_, busy)| *busy >= GENERATOR_BUSY);
            bound.map(|(name, _)| name).collect()
        }
        _ => vec![],
    }
}

#[cfg(test)]
mod tests;
