//! A plan as people write it: every key optional, by the flags' names.
//!
//! One struct for a plan file and for the command line, so that a flag and a key can never differ in name, form or
//! meaning. Nothing is validated here beyond the form of each value; [`super::resolve()`] does that in one place.

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use throng_record::plan::{Experiment, ListenFamily};
use throng_record::{Amount, Arrivals, Network};

use super::KernelDraft;
use super::value::{self, Addresses, BackendChoice, CpuChoice};
use crate::target::TargetDraft;

/// What a plan file or the command line asked for. `None`: not mentioned.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PlanDraft {
    /// Short name, part of the run's folder: letters, digits, `-`, `_` and `.`.
    pub name: Option<String>,
    /// What the plan shows, in one sentence.
    pub title: Option<String>,
    /// The question.
    pub experiment: Option<Experiment>,
    /// The servers to measure.
    pub targets: Option<Vec<TargetDraft>>,
    /// Name of the target that the others are compared with; the first where absent.
    pub baseline: Option<String>,
    /// Repeats of each target and number of connections.
    pub repeats: Option<u32>,
    /// Seed of the order, the payloads and the arrivals.
    pub seed: Option<u64>,

    /// Numbers of connections; in a file one number or a list.
    #[serde(deserialize_with = "value::one_or_many")]
    pub connections: Option<Vec<u32>>,
    /// Measured messages over the whole fleet.
    pub messages: Option<u64>,
    /// Length of the measurement.
    #[serde(deserialize_with = "value::optional_duration")]
    pub duration: Option<Duration>,
    /// Measure until the confidence interval's half-width ÷ mean is at most this.
    pub confidence: Option<f64>,
    /// The longest that `confidence` is waited for.
    #[serde(deserialize_with = "value::optional_duration")]
    pub max_duration: Option<Duration>,
    /// What is exchanged before the measurement: `300ms` or `1000 messages`.
    #[serde(deserialize_with = "value::optional_amount")]
    pub warmup: Option<Amount>,

    /// Bytes of an echoed message.
    pub size: Option<u64>,
    /// The request of any request–reply protocol; `\r`, `\n`, `\t`, `\0`, `\\` and `\xNN` are read as escapes.
    pub send: Option<String>,
    /// What ends its reply: a text, `N bytes` or `until DELIMITER`; escapes as in `send`.
    pub expect: Option<String>,
    /// Whether the returned bytes are compared.
    pub verify: Option<bool>,

    /// Unanswered messages per connection.
    pub outstanding: Option<u32>,
    /// Connections that go in step.
    pub lockstep: Option<u32>,
    /// Messages per second over the whole fleet: an open loop.
    pub rate: Option<f64>,
    /// How the due times of an open loop are spaced.
    pub arrivals: Option<Arrivals>,
    /// Whether an open loop spins for the last microseconds before a due time.
    pub spin: Option<bool>,

    /// Kernel interface of the generator.
    pub backend: Option<BackendChoice>,
    /// Threads of the generator.
    pub shards: Option<u32>,
    /// Local addresses to connect from; in a file one address or a list.
    #[serde(deserialize_with = "value::one_or_many")]
    pub source: Option<Vec<IpAddr>>,
    /// Which local addresses, where `source` does not name them.
    pub addresses: Option<Addresses>,
    /// Whether the generator sets `TCP_NODELAY`.
    pub nodelay: Option<bool>,

    /// Accept queue asked of launched servers.
    pub backlog: Option<u32>,
    /// Worker threads asked of launched built-in servers.
    pub workers: Option<u32>,
    /// Address family on which launched servers listen.
    pub family: Option<ListenFamily>,

    /// The network of launched servers and the generator.
    pub net: Option<Network>,
    /// Settings of the private network.
    pub kernel: Option<KernelDraft>,

    /// How long one connect may take.
    #[serde(deserialize_with = "value::optional_duration")]
    pub connect_timeout: Option<Duration>,
    /// How long one reply may take.
    #[serde(deserialize_with = "value::optional_duration")]
    pub timeout: Option<Duration>,
    /// How long a launched server may take to listen.
    #[serde(deserialize_with = "value::optional_duration")]
    pub ready_timeout: Option<Duration>,

    /// CPUs of both sides.
    pub cpus: Option<CpuChoice>,
    /// The same keys again, laid over the plan when it is shortened.
    pub quick: Option<Box<PlanDraft>>,
    /// Whether [`PlanDraft::shortened`] made it.
    #[serde(skip)]
    pub is_shortened: bool,
}
