//! The flags of the accept experiment, which has no server and exchanges nothing.

use clap::Args;
use throng_lab::plan::value::{self, CpuChoice};
use throng_lab::plan::{KernelDraft, KernelSetting, PlanDraft, Sweep};
use throng_record::Network;

use super::{PublishedFlag, RepeatFlags, lists};

/// How many connections pile up, how often, and where.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AcceptFlags {
    /// Idle connections at the end; each number of a list is a measurement of its own [default: 10000]
    #[arg(short, long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Load")]
    connections: Option<Vec<Sweep<u32>>>,
    #[command(flatten)]
    published: PublishedFlag,
    #[command(flatten)]
    repeats: RepeatFlags,
    /// CPU of the one process, such as :1, or any [default: the last one]
    #[arg(long, value_name = "CPUS", help_heading = "Surroundings")]
    cpus: Option<CpuChoice>,
    /// Network of the process: a private one with its own settings, or the host's [default: private]
    #[arg(long, value_parser = super::words::<Network>(&["private", "host"]), help_heading = "Surroundings")]
    net: Option<Network>,
    /// Kernel setting of the private network; the host's stays as it is. Repeatable
    #[arg(long, value_name = "NAME=VALUE,…", help_heading = "Surroundings")]
    kernel: Vec<KernelSetting>,
}

impl AcceptFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            connections: lists(flags.connections),
            cpus: flags.cpus.map(Sweep::from),
            net: flags.net,
            kernel: (!flags.kernel.is_empty()).then_some(KernelDraft(flags.kernel)),
            ..flags.published.draft().overlay(flags.repeats.draft())
        }
    }
}
