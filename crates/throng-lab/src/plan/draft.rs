//! A plan as people write it: every key optional, by the flags' names.
//!
//! One struct for a plan file and for the command line, so that a flag and a key can never differ in name, form or
//! meaning. Its keys stand in one list, below: those that are no flags, those that hold for the whole run, and those that may be
//! swept. From the last the list also makes [`Point`], the same keys with a single value each. All else that is said of a key stands in
//! [`super::keys`]. The kernel settings, which may be swept too, are a
//! table of their own and join it when their names have been found. Nothing is validated here beyond the form of each
//! value; [`super::resolve()`] does that in one place.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use throng_record::plan::{Experiment, ListenFamily, ServerLifetime};
use throng_record::{Amount, Arrivals, Closing, Network, SweptValue, Workload};

use super::KernelDraft;
use super::flag::FromFlag;
use super::kernel::KernelSweep;
use super::keys;
use super::sweep::{Sweep, Swept};
use super::value::{self, Addresses, BackendChoice, CpuChoice, Pings};
use crate::target::TargetDraft;

macro_rules! keys {
    (
        file { $($(#[$file_meta:meta])* $file:ident: $file_type:ty,)* }
        once { $($(#[$once_meta:meta])* $once:ident: $once_type:ty,)* }
        swept { $($(#[$swept_meta:meta])* $swept:ident: $swept_type:ty,)* }
    ) => {
        /// What a plan file or the command line asked for. `None`: not mentioned.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub struct PlanDraft {
            $($(#[$file_meta])* pub $file: Option<$file_type>,)*
            $($(#[$once_meta])* pub $once: Option<$once_type>,)*
            $($(#[$swept_meta])* pub $swept: Option<Sweep<$swept_type>>,)*
            /// Whether [`PlanDraft::shortened`] made it.
            #[serde(skip)]
            pub is_shortened: bool,
        }

        /// A single value for each key that may be swept.
        #[derive(Clone, Debug, Default)]
        pub(super) struct Point {
            /// Whose defaults hold.
            pub(super) experiment: Experiment,
            /// The values of the keys that are swept, the one that varies slowest first.
            pub(super) swept: Vec<SweptValue>,
            /// Kernel settings, by dotted name.
            pub(super) kernel: BTreeMap<String, String>,
            $(pub(super) $swept: Option<$swept_type>,)*
        }

        impl PlanDraft {
            /// Takes over a flag with its value; where it is given again, the values are put together if there may be several.
            ///
            /// # Errors
            /// Says how a value is written, or that there is no such flag.
            pub fn add(&mut self, key: &str, text: &str) -> Result<(), String> {
                match key.replace('-', "_").as_str() {
                    $(stringify!($once) => add(&mut self.$once, text),)*
                    $(stringify!($swept) => add(&mut self.$swept, text),)*
                    _ => Err(format!("no flag is called --{key}")),
                }
            }

            /// Takes over what `over` mentions.
            pub(super) fn take(&mut self, over: Self) {
                $(if over.$file.is_some() { self.$file = over.$file; })*
                $(if over.$once.is_some() { self.$once = over.$once; })*
                $(if over.$swept.is_some() { self.$swept = over.$swept; })*
                self.is_shortened |= over.is_shortened;
            }

            /// All keys, by their names in a plan file.
            #[cfg(test)]
            pub(super) fn names() -> Vec<String> {
                let file = [$(stringify!($file)),*].into_iter();
                let fields = file.chain([$(stringify!($once)),*]).chain([$(stringify!($swept)),*]);
                fields.map(name_of).collect()
            }

            /// The keys that are mentioned, by their names in a plan file.
            pub(super) fn mentioned(&self) -> Vec<String> {
                let mut keys = Vec::new();
                $(if self.$file.is_some() { keys.push(name_of(stringify!($file))); })*
                $(if self.$once.is_some() { keys.push(name_of(stringify!($once))); })*
                $(if self.$swept.is_some() { keys.push(name_of(stringify!($swept))); })*
                keys
            }

            /// The keys that have several values, and how many, the one that varies slowest first.
            pub(super) fn swept(&self, kernel: &[KernelSweep]) -> Vec<(String, usize)> {
                let mut swept: Vec<(String, usize)> = kernel
                    .iter()
                    .filter(|setting| setting.values.is_swept())
                    .map(|setting| (setting.key.clone(), setting.values.values().len()))
                    .collect();
                $(if let Some(sweep) = self.$swept.as_ref().filter(|sweep| sweep.is_swept()) {
                    swept.push((name_of(stringify!($swept)), sweep.values().len()));
                })*
                swept
            }

            /// Every combination of the values of all keys.
            pub(super) fn points(&self, kernel: &[KernelSweep]) -> Vec<Point> {
                let mut points = vec![Point {
                    experiment: self.experiment.unwrap_or_default(),
                    ..Point::default()
                }];
                for KernelSweep { name, key, values } in kernel {
                    points = combined(points, key.clone(), values, |point, value| {
                        point.kernel.insert(name.clone(), value);
                    });
                }
                $(if let Some(sweep) = &self.$swept {
                    points = combined(points, name_of(stringify!($swept)), sweep, |point, value| {
                        point.$swept = Some(value);
                    });
                })*
                points
            }
        }
    };
}

keys! {
    file {
        /// Short name, part of the run's folder: letters, digits, `-`, `_` and `.`.
        name: String,
        /// What the plan shows, in one sentence.
        title: String,
        /// The question.
        experiment: Experiment,
        /// The servers to measure.
        targets: Vec<TargetDraft>,
        /// The same keys again, laid over the plan when it is shortened.
        quick: Box<PlanDraft>,
    }

    once {
        /// Whether `poll` is called as the published program calls it.
        published: bool,
        /// Name of the target that the others are compared with; the first where absent.
        baseline: String,
        /// Repeats of each target and setting.
        repeats: u32,
        /// Seed of the order, the payloads and the arrivals.
        seed: u64,
        /// How long a launched server lives.
        server: ServerLifetime,
        /// Local addresses to connect from, all of them together; in a file one address or a list.
        #[serde(deserialize_with = "value::some_or_many")]
        source: Vec<IpAddr>,
        /// The network of launched servers and the generator.
        net: Network,
        /// Settings of the private network; each may be swept.
        kernel: KernelDraft,
    }

    // The first varies slowest, behind the kernel settings: what a server is launched with, what the generator is, what it does, and last the connections or clients.
    swept {
        /// CPUs of both sides.
        cpus: CpuChoice,
        /// Address family on which launched servers listen.
        family: ListenFamily,
        /// Accept queue asked of launched servers.
        backlog: u32,
        /// Worker threads asked of launched built-in servers.
        workers: u32,
        /// Accepting threads asked of launched built-in servers.
        accept_threads: u32,
        /// What launched built-in servers answer; what the generator asks, where `send` does not say it.
        workload: Workload,
        /// How long a server is asked, or said, to take for a request.
        service_time: Duration,
        /// Whether event loops wait for that time inline, so that nobody else is served meanwhile.
        delay_inline: bool,
        /// How long a launched server may take to listen.
        ready_timeout: Duration,

        /// Kernel interface of the generator.
        backend: BackendChoice,
        /// Threads of the generator.
        shards: u32,
        /// Which local addresses, where `source` does not name them.
        addresses: Addresses,
        /// Whether the generator sets `TCP_NODELAY`.
        nodelay: bool,
        /// Whether the accept queue and the handshakes are observed.
        observe: bool,
        /// Connects in flight at once: 1 is one after another over the whole fleet, more is per shard.
        connect_concurrency: u32,
        /// Connects that begin per second over the whole fleet.
        connect_rate: f64,
        /// How the generator ends a connection.
        closing: Closing,
        /// How long one connect may take.
        connect_timeout: Duration,
        /// How long one reply may take.
        timeout: Duration,

        /// What is exchanged before the measurement: `300ms` or `1000 messages`.
        warmup: Amount,
        /// Measured messages over the whole fleet.
        messages: u64,
        /// Requests of each client.
        requests: u64,
        /// Requests of all clients together, the same number for each.
        requests_total: u64,
        /// Length of the measurement.
        duration: Duration,
        /// Measure until the confidence interval's half-width ÷ mean is at most this.
        confidence: f64,
        /// The longest that `confidence` is waited for.
        max_duration: Duration,

        /// The line that each connection is greeted with, without its newline; empty where the server greets nobody. Escapes as in `send`.
        greeting: String,
        /// The line that is put and comes out of every connection, without its newline; escapes as in `send`.
        line: String,
        /// How long all connections are held before any is pinged.
        hold: Duration,
        /// Connections that are pinged: a number or `all`.
        pings: Pings,

        /// Bytes of an echoed message.
        size: u64,
        /// The request of any request–reply protocol; `\r`, `\n`, `\t`, `\0`, `\\` and `\xNN` are read as escapes.
        send: String,
        /// What ends its reply: a text, `N bytes` or `until DELIMITER`; escapes as in `send`.
        expect: String,
        /// Whether the returned bytes are compared.
        verify: bool,
        /// How the due times of an open loop are spaced.
        arrivals: Arrivals,
        /// Whether an open loop spins for the last microseconds before a due time.
        spin: bool,
        /// Messages per second over the whole fleet: an open loop.
        rate: f64,
        /// Connections that go in step.
        lockstep: u32,
        /// Unanswered messages per connection.
        outstanding: u32,
        /// Connections; several are measured in ascending order.
        connections: u32,
        /// Clients, each with one connection at a time; in ascending order too.
        clients: u32,
    }
}

impl Point {
    /// What holds where this key is not mentioned.
    pub(super) fn usual<T: Swept>(&self, key: &str) -> T {
        let usual: Sweep<T> = keys::usual(key, self.experiment);
        usual.values()[0].clone()
    }
}

fn add<T: FromFlag>(field: &mut Option<T>, text: &str) -> Result<(), String> {
    let read = T::from_flag(text)?;
    *field = Some(match field.take() {
        Some(before) => before.and(read),
        None => read,
    });
    Ok(())
}

/// A field's name as the key of a plan file.
fn name_of(field: &str) -> String {
    field.replace('_', "-")
}

/// Each point with each value of one more key, which varies faster than those before it.
fn combined<T: Swept>(
    points: Vec<Point>,
    key: String,
    sweep: &Sweep<T>,
    set: impl Fn(&mut Point, T),
) -> Vec<Point> {
    let with = |point: &Point, value: &T| {
        let mut point = point.clone();
        if sweep.is_swept() {
            point.swept.push(SweptValue {
                key: key.clone(),
                value: value.text(),
            });
        }
        set(&mut point, value.clone());
        point
    };
    points
        .iter()
        .flat_map(|point| sweep.values().iter().map(move |value| with(point, value)))
        .collect()
}
