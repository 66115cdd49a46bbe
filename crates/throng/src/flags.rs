//! The flags of an experiment, by the same names as the keys of a plan file: one struct for every command that measures.
//!
//! Where a value cannot hold a comma itself, commas part the values of a sweep.

use std::net::IpAddr;
use std::time::Duration;

use clap::Args;
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser};
use throng_lab::plan::value::{self, Addresses, BackendChoice, CpuChoice};
use throng_lab::plan::{KernelDraft, KernelSetting, PlanDraft, Sweep};
use throng_record::plan::{ListenFamily, ServerLifetime};
use throng_record::{Amount, Arrivals, Network};

/// What is measured, and how. Everything left out is the plan's, or the default.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LoadFlags {
    /// Connections [default: 100]
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
    /// Repeats of each target and setting [default: 6]
    #[arg(long, value_name = "N", help_heading = "Load")]
    repeats: Option<u32>,
    /// Target that the others are compared with [default: the first]
    #[arg(long, value_name = "TARGET", help_heading = "Load")]
    baseline: Option<String>,
    /// Seed of the order of trials, the payloads and the arrivals [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    seed: Option<u64>,

    /// Bytes of an echoed message, 1 to 1048576 [default: 6]
    #[arg(
        long,
        value_name = "BYTES,…",
        value_delimiter = ',',
        help_heading = "Message"
    )]
    size: Option<Vec<u64>>,
    /// Send this request instead; \r \n \t \0 \\ \xNN are escapes
    #[arg(long, value_name = "TEXT", help_heading = "Message")]
    send: Option<String>,
    /// What ends the reply to --send: a text, 'N bytes' or 'until DELIMITER'; escapes as there
    #[arg(
        long,
        value_name = "REPLY",
        allow_hyphen_values = true,
        help_heading = "Message"
    )]
    expect: Option<String>,
    /// Do not compare the returned bytes with the expected ones
    #[arg(long, help_heading = "Message")]
    no_verify: bool,

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

    /// Kernel interface of the generator [default: auto]
    #[arg(long, value_name = "BACKEND,…", value_delimiter = ',', value_parser = words::<BackendChoice>(&["auto", "epoll", "io-uring"]), help_heading = "Generator")]
    backend: Option<Vec<BackendChoice>>,
    /// Threads of the generator [default: one for each of its CPUs]
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        help_heading = "Generator"
    )]
    shards: Option<Vec<u32>>,
    /// Local addresses to connect from: all of these together, no sweep
    #[arg(
        long,
        value_name = "IP,…",
        value_delimiter = ',',
        help_heading = "Generator"
    )]
    source: Option<Vec<IpAddr>>,
    /// Local addresses where --source names none: spread over 127.0.0.0/8, or the kernel's choice [default: spread]
    #[arg(long, value_name = "ADDRESSES,…", value_delimiter = ',', value_parser = words::<Addresses>(&["spread", "kernel"]), help_heading = "Generator")]
    addresses: Option<Vec<Addresses>>,
    /// Whether the generator sets TCP_NODELAY [default: true]
    #[arg(long, value_name = "BOOL,…", value_delimiter = ',', value_parser = BoolishValueParser::new(), help_heading = "Generator")]
    nodelay: Option<Vec<bool>>,
    /// How long one connect may take [default: 10s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Generator")]
    connect_timeout: Option<Vec<Duration>>,
    /// How long one reply may take [default: 10s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Generator")]
    timeout: Option<Vec<Duration>>,

    /// How long one process serves: a trial, or all that differ only in what the generator does [default: per-trial]
    #[arg(long, value_name = "LIFETIME", value_parser = words::<ServerLifetime>(&["per-trial", "per-sweep"]), help_heading = "Launched servers")]
    server: Option<ServerLifetime>,
    /// CPUs of the two sides: SERVER:GENERATOR, such as 0:1 or 0-3:4-7, or any [default: half each]
    #[arg(long, value_name = "CPUS", help_heading = "Launched servers")]
    cpus: Option<CpuChoice>,
    /// Length of the accept queue asked for [default: 1024]
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        help_heading = "Launched servers"
    )]
    backlog: Option<Vec<u32>>,
    /// Worker threads or processes of built-in models in which that is a choice
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        help_heading = "Launched servers"
    )]
    workers: Option<Vec<u32>>,
    /// Address family on which they listen [default: ipv4]
    #[arg(long, value_name = "FAMILY,…", value_delimiter = ',', value_parser = words::<ListenFamily>(&["ipv4", "ipv6", "unix"]), help_heading = "Launched servers")]
    family: Option<Vec<ListenFamily>>,
    /// Their network and the generator's: a private one with its own settings and counters, or the host's [default: private]
    #[arg(long, value_parser = words::<Network>(&["private", "host"]), help_heading = "Launched servers")]
    net: Option<Network>,
    /// Kernel setting of the private network, such as somaxconn=16,4096; the host's is left as it is. A value that holds a comma itself is for plan files. Repeatable
    #[arg(long, value_name = "NAME=VALUE,…", help_heading = "Launched servers")]
    kernel: Vec<KernelSetting>,
    /// How long one may take to listen [default: 10s]
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = value::duration, help_heading = "Launched servers")]
    ready_timeout: Option<Vec<Duration>>,
}

/// A closed vocabulary, read as a plan file reads it; listed here so that help and completions know it.
fn words<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: for<'text> serde::Deserialize<'text> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|text: String| value::word::<T>(&text))
}

/// The values of a sweep.
fn list<T: PartialEq>(values: Option<Vec<T>>) -> Option<Sweep<T>> {
    values.and_then(Sweep::of)
}

impl LoadFlags {
    /// The flags in the form that a plan file has.
    pub(crate) fn draft(&self) -> PlanDraft {
        let flags = self.clone();
        PlanDraft {
            baseline: flags.baseline,
            repeats: flags.repeats,
            seed: flags.seed,
            server: flags.server,
            connections: list(flags.connections),
            messages: list(flags.messages),
            duration: list(flags.duration),
            confidence: list(flags.confidence),
            max_duration: list(flags.max_duration),
            warmup: list(flags.warmup),
            size: list(flags.size),
            send: flags.send.map(Sweep::from),
            expect: flags.expect.map(Sweep::from),
            verify: flags.no_verify.then(|| Sweep::from(false)),
            outstanding: list(flags.outstanding),
            lockstep: list(flags.lockstep),
            rate: list(flags.rate),
            arrivals: list(flags.arrivals),
            spin: flags.no_spin.then(|| Sweep::from(false)),
            backend: list(flags.backend),
            shards: list(flags.shards),
            source: flags.source,
            addresses: list(flags.addresses),
            nodelay: list(flags.nodelay),
            backlog: list(flags.backlog),
            workers: list(flags.workers),
            family: list(flags.family),
            net: flags.net,
            kernel: (!flags.kernel.is_empty()).then_some(KernelDraft(flags.kernel)),
            connect_timeout: list(flags.connect_timeout),
            timeout: list(flags.timeout),
            ready_timeout: list(flags.ready_timeout),
            cpus: flags.cpus.map(Sweep::from),
            ..PlanDraft::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_flags_are_those_of_plan_files() {
        for word in ["auto", "epoll", "io-uring"] {
            assert!(value::word::<BackendChoice>(word).is_ok(), "{word}");
        }
        for word in ["constant", "exponential"] {
            assert!(value::word::<Arrivals>(word).is_ok(), "{word}");
        }
        for word in ["private", "host"] {
            assert!(value::word::<Network>(word).is_ok(), "{word}");
        }
        for word in ["spread", "kernel"] {
            assert!(value::word::<Addresses>(word).is_ok(), "{word}");
        }
        for word in ["per-trial", "per-sweep"] {
            assert!(value::word::<ServerLifetime>(word).is_ok(), "{word}");
        }
        for word in ["ipv4", "ipv6", "unix"] {
            assert!(value::word::<ListenFamily>(word).is_ok(), "{word}");
        }
    }

    #[test]
    fn no_flag_mentions_nothing() {
        assert_eq!(LoadFlags::default().draft(), PlanDraft::default());
    }
}
