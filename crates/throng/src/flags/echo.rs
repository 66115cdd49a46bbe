//! The flags that only the echo experiment has: how many connections, for how long, in which rhythm.

use std::time::Duration;

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep, value};
use throng_record::plan::ServerLifetime;
use throng_record::{Amount, Arrivals};

use super::{list, words};

/// The load over connections that are kept.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EchoFlags {
    /// Connections [default: 100; accept experiment: 10000]
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = "Load")]
    connections: Option<Vec<u32>>,
    /// Stop after exactly this many messages over all connections
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = "Load")]
    messages: Option<Vec<u64>>,
    /// Stop after this long [default: 2s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Load")]
    duration: Option<Vec<Duration>>,
    /// Stop when the 95 % confidence interval's half-width ÷ mean is at most this, such as 0.01
    #[arg(
        long,
        value_name = "WIDTH,…",
        value_delimiter = ',',
        help_heading = "Load"
    )]
    confidence: Option<Vec<f64>>,
    /// The longest that --confidence is waited for [default: 30s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Load")]
    max_duration: Option<Vec<Duration>>,
    /// What is exchanged before the measurement: 300ms or '1000 messages' [default: 300ms]
    #[arg(long, value_name = "TIME|COUNT,…", value_delimiter = ',', value_parser = value::amount, help_heading = "Load")]
    warmup: Option<Vec<Amount>>,
    /// Closed loop: unanswered messages on each connection; open loop: at most so many [default: 1]
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        help_heading = "Pacing"
    )]
    outstanding: Option<Vec<u32>>,
    /// Send in step: groups of this many connections send one message each and wait for all replies
    #[arg(
        long,
        value_name = "GROUP,…",
        value_delimiter = ',',
        help_heading = "Pacing"
    )]
    lockstep: Option<Vec<u32>>,
    /// Open loop: messages per second over all connections, whatever the replies do
    #[arg(
        long,
        value_name = "PER-SECOND,…",
        value_delimiter = ',',
        help_heading = "Pacing"
    )]
    rate: Option<Vec<f64>>,
    /// Gaps of an open loop [default: constant]
    #[arg(long, value_name = "GAPS,…", value_delimiter = ',', value_parser = words::<Arrivals>(&["constant", "exponential"]), help_heading = "Pacing")]
    arrivals: Option<Vec<Arrivals>>,
    /// Sleep until a message is due rather than spin for the last microseconds: frees a core, errs by up to 75 µs
    #[arg(long, help_heading = "Pacing")]
    no_spin: bool,
}

impl EchoFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            connections: list(flags.connections),
            messages: list(flags.messages),
            duration: list(flags.duration),
            confidence: list(flags.confidence),
            max_duration: list(flags.max_duration),
            warmup: list(flags.warmup),
            outstanding: list(flags.outstanding),
            lockstep: list(flags.lockstep),
            rate: list(flags.rate),
            arrivals: list(flags.arrivals),
            spin: flags.no_spin.then(|| Sweep::from(false)),
            ..PlanDraft::default()
        }
    }
}

/// How long a launched server lives, where trials may share one.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LifetimeFlag {
    /// How long one process serves: a trial, or all that differ only in what the generator does [default: per-trial]
    #[arg(long, value_name = "LIFETIME", value_parser = words::<ServerLifetime>(&["per-trial", "per-sweep"]), help_heading = "Launched servers")]
    server: Option<ServerLifetime>,
}

impl LifetimeFlag {
    /// This flag in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        PlanDraft {
            server: self.server,
            ..PlanDraft::default()
        }
    }
}
