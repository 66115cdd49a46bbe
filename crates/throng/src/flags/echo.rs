//! The flags that only the echo experiment has: how many connections, for how long, in which rhythm.

use std::time::Duration;

use clap::Args;
use throng_lab::plan::{PlanDraft, Sweep, value};
use throng_record::plan::ServerLifetime;

use super::{LengthFlags, ScheduleFlags, list, lists, words};

/// The load over connections that are kept.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EchoFlags {
    /// Connections [default: 100; experiments accept and hold: 10000; fanout: 1000]
    #[arg(short, long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Load")]
    connections: Option<Vec<Sweep<u32>>>,
    #[command(flatten)]
    length: LengthFlags,
    /// Stop when the 95 % confidence interval's half-width ÷ mean is at most this, such as 0.01
    #[arg(
        long,
        value_name = "WIDTH,…",
        value_delimiter = ',',
        help_heading = "Load"
    )]
    confidence: Option<Vec<f64>>,
    /// Longest measurement with --confidence [default: 30s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Load")]
    max_duration: Option<Vec<Duration>>,
    /// Unanswered messages on each connection: exactly so many in a closed loop, at most in an open loop [default: 1]
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Pacing")]
    outstanding: Option<Vec<Sweep<u32>>>,
    /// Lockstep: groups of this many connections send one message each and wait for all replies
    #[arg(long, value_name = "GROUP,…", value_parser = value::counts::<u32>, help_heading = "Pacing")]
    lockstep: Option<Vec<Sweep<u32>>>,
    #[command(flatten)]
    schedule: ScheduleFlags,
}

impl EchoFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        // Not laid over one another: what contradicts itself is to be seen.
        let schedule = flags.schedule.draft();
        PlanDraft {
            connections: lists(flags.connections),
            confidence: list(flags.confidence),
            max_duration: list(flags.max_duration),
            outstanding: lists(flags.outstanding),
            lockstep: lists(flags.lockstep),
            rate: schedule.rate,
            arrivals: schedule.arrivals,
            spin: schedule.spin,
            ..flags.length.draft()
        }
    }
}

/// How long a launched server lives, where trials may share one.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LifetimeFlag {
    /// Lifetime of a server process: one trial, or all trials that differ only in what the generator does [default: per-trial]
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
