//! The flags that every experiment with a server has.

use std::net::IpAddr;
use std::time::Duration;

use clap::Args;
use clap::builder::BoolishValueParser;
use throng_lab::plan::value::{self, Addresses, BackendChoice, CpuChoice};
use throng_lab::plan::{KernelDraft, KernelSetting, PlanDraft, Sweep};
use throng_record::Network;
use throng_record::plan::ListenFamily;

use super::{RepeatFlags, list, lists, words};

/// How often, by which generator, and against servers launched how.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CommonFlags {
    #[command(flatten)]
    repeats: RepeatFlags,

    /// Kernel interface of the generator [default: auto]
    #[arg(long, value_name = "BACKEND,…", value_delimiter = ',', value_parser = words::<BackendChoice>(&["auto", "epoll", "io-uring"]), help_heading = "Generator")]
    backend: Option<Vec<BackendChoice>>,
    /// Threads of the generator [default: one for each of its CPUs, more if connections need more descriptors]
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Generator")]
    shards: Option<Vec<Sweep<u32>>>,
    /// Local addresses to connect from, all of them in every trial (not a sweep)
    #[arg(
        long,
        value_name = "IP,…",
        value_delimiter = ',',
        help_heading = "Generator"
    )]
    source: Option<Vec<IpAddr>>,
    /// Local addresses without --source: spread over 127.0.0.0/8, or chosen by the kernel [default: spread]
    #[arg(long, value_name = "ADDRESSES,…", value_delimiter = ',', value_parser = words::<Addresses>(&["spread", "kernel"]), help_heading = "Generator")]
    addresses: Option<Vec<Addresses>>,
    /// Whether the generator sets TCP_NODELAY [default: true]
    #[arg(long, value_name = "BOOL,…", value_delimiter = ',', value_parser = BoolishValueParser::new(), help_heading = "Generator")]
    nodelay: Option<Vec<bool>>,
    /// Timeout of a connect [default: 10s; backlog experiment: 140s, beyond the kernel's own]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Generator")]
    connect_timeout: Option<Vec<Duration>>,
    /// Timeout of a reply [default: 10s; backlog experiment: 120s; fanout: 60s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Generator")]
    timeout: Option<Vec<Duration>>,

    /// CPUs of server and generator: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]
    #[arg(long, value_name = "CPUS", help_heading = "Launched servers")]
    cpus: Option<CpuChoice>,
    /// Backlog of listen(2), the length of the accept queue [default: 1024; backlog experiment: 5]
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Launched servers")]
    backlog: Option<Vec<Sweep<u32>>>,
    /// Worker threads or processes of built-in models that have a choice
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Launched servers")]
    workers: Option<Vec<Sweep<u32>>>,
    /// Threads that only accept, of the built-in model that has a choice
    #[arg(long, value_name = "N,…", value_parser = value::counts::<u32>, help_heading = "Launched servers")]
    accept_threads: Option<Vec<Sweep<u32>>>,
    /// Address family that servers listen on: ipv4, ipv6 or, in echo, fanout and hold, unix [default: ipv4]
    #[arg(long, value_name = "FAMILY,…", value_delimiter = ',', value_parser = words::<ListenFamily>(&["ipv4", "ipv6", "unix"]), hide_possible_values = true, help_heading = "Launched servers")]
    family: Option<Vec<ListenFamily>>,
    /// Network of servers and generator: a private one with its own settings and counters, or the host's [default: private]
    #[arg(long, value_parser = words::<Network>(&["private", "host"]), help_heading = "Launched servers")]
    net: Option<Network>,
    /// Kernel setting of the private network, such as somaxconn=16,4096; the host's stays as it is. Values with a comma go into a plan file. Repeatable
    #[arg(long, value_name = "NAME=VALUE,…", help_heading = "Launched servers")]
    kernel: Vec<KernelSetting>,
    /// Timeout for a server to listen [default: 10s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Launched servers")]
    ready_timeout: Option<Vec<Duration>>,
}

impl CommonFlags {
    /// These flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            backend: list(flags.backend),
            shards: lists(flags.shards),
            source: flags.source,
            addresses: list(flags.addresses),
            nodelay: list(flags.nodelay),
            backlog: lists(flags.backlog),
            workers: lists(flags.workers),
            accept_threads: lists(flags.accept_threads),
            family: list(flags.family),
            net: flags.net,
            kernel: (!flags.kernel.is_empty()).then_some(KernelDraft(flags.kernel)),
            connect_timeout: list(flags.connect_timeout),
            timeout: list(flags.timeout),
            ready_timeout: list(flags.ready_timeout),
            cpus: flags.cpus.map(Sweep::from),
            ..flags.repeats.draft()
        }
    }
}
