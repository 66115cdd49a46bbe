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
use super::keys::own::OwnKeys;
use super::phases::PhaseDraft;
use super::sweep::{Sweep, Swept};
use super::value::{self, Addresses, BackendChoice, CpuChoice, ListenerChoice, Pings, TlsChoice};
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
        #[expect(missing_docs, reason = "the table of keys describes each")]
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
            /// The experiment's words on the keys, whose defaults hold.
            pub(super) own: &'static OwnKeys,
            /// The values of the keys that are swept, the one that varies slowest first.
            pub(super) swept: Vec<SweptValue>,
            /// Kernel settings, by dotted name.
            pub(super) kernel: BTreeMap<String, String>,
            $(pub(super) $swept: Option<$swept_type>,)*
        }

        impl Point {
            fn mentioned_text(&self, key: &str) -> Option<String> {
                match key.replace('-', "_").as_str() {
                    $(stringify!($swept) => self.$swept.as_ref().map(Swept::text),)*
                    _ => None,
                }
            }
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

            /// The keys that may be swept, the one that varies slowest first.
            pub(super) fn sweepable() -> Vec<String> {
                [$(stringify!($swept)),*].map(name_of).to_vec()
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
            pub(super) fn points(&self, kernel: &[KernelSweep], own: &'static OwnKeys) -> Vec<Point> {
                let mut points = vec![Point {
                    own,
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
        name: String,
        title: String,
        experiment: Experiment,
        targets: Vec<TargetDraft>,
        phase: Vec<PhaseDraft>,
        quick: Box<PlanDraft>,
    }

    once {
        published: bool,
        baseline: String,
        repeats: u32,
        seed: u64,
        server: ServerLifetime,
        #[serde(deserialize_with = "value::some_or_many")]
        source: Vec<IpAddr>,
        net: Network,
        kernel: KernelDraft,
        method: String,
        #[serde(deserialize_with = "value::some_or_many")]
        header: Vec<String>,
        body: String,
        body_file: String,
        #[serde(deserialize_with = "value::some_or_many")]
        bound: Vec<String>,
        within: value::Share,
        #[serde(deserialize_with = "value::some_duration")]
        time_limit: Duration,
        curve: u32,
        ca: String,
        sni: String,
        insecure: bool,
        status: String,
    }

    // The first varies slowest, behind the kernel settings: what a server is launched with, what the generator is, what it does, and last the connections or clients.
    swept {
        cpus: CpuChoice,
        family: ListenFamily,
        backlog: u32,
        workers: u32,
        accept_threads: u32,
        services: u32,
        listeners: u32,
        workload: Workload,
        service_time: Duration,
        delay_inline: bool,
        tls: TlsChoice,
        ready_timeout: Duration,

        backend: BackendChoice,
        shards: u32,
        addresses: Addresses,
        nodelay: bool,
        tls_resumption: bool,
        observe: bool,
        connect_concurrency: u32,
        connect_rate: f64,
        closing: Closing,
        connect_timeout: Duration,
        timeout: Duration,

        warmup: Amount,
        messages: u64,
        requests: u64,
        requests_total: u64,
        duration: Duration,
        confidence: f64,
        max_duration: Duration,

        greeting: String,
        line: String,
        hold: Duration,
        pings: Pings,

        size: u64,
        send: String,
        expect: String,
        verify: bool,
        arrivals: Arrivals,
        spin: bool,
        rate: f64,
        lockstep: u32,
        outstanding: u32,
        reuse: bool,
        choice: ListenerChoice,
        count: u64,
        tasks: u32,
        connections: u32,
        clients: u32,
    }
}

impl PlanDraft {
    /// One that mentions the experiment only.
    #[must_use]
    pub fn of(experiment: Experiment) -> Self {
        Self {
            experiment: Some(experiment),
            ..Self::default()
        }
    }
}

impl Point {
    /// What holds where this key is not mentioned.
    pub(super) fn usual<T: Swept>(&self, key: &str) -> T {
        let usual: Sweep<T> = keys::usual(key, self.own);
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

impl Point {
    /// The value of a key that may be swept, as a plan file has it; the usual one where it is not mentioned.
    pub(super) fn text(&self, key: &str) -> String {
        let usual = || keys::find(key).map(|known| known.usual_with(self.own).text().to_owned());
        self.mentioned_text(key).or_else(usual).unwrap_or_default()
    }
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
