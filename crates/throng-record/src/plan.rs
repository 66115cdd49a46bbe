//! A plan with nothing left open: what a plan file and the flags together resolved to.

use serde::{Deserialize, Serialize};

use crate::{LeftOut, Network, SearchSpec, Setting, TargetRecord};

/// Which question a plan asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// How many messages a second, at what latency?
    #[default]
    Echo,
    /// P clients × R requests at service time S against backlog B: how long in all, against the least possible?
    Backlog,
    /// What does one accept, and one message, cost while N connections sit idle?
    Accept,
    /// N connect, all are greeted, one speaks, all hear: how long is each phase?
    Fanout,
    /// How many connections can be held, at how many bytes each, in the process and in the kernel?
    Hold,
    /// How many cycles of connect, request, reply and close a second?
    Churn,
    /// How long does each client take for its requests to several services?
    Services,
    /// What is the greatest rate at which bounds on latency hold, and how does latency grow up to it?
    Capacity,
    /// What does each phase measure and cost, in the order that the plan has written?
    Phases,
}

impl Experiment {
    /// Each of them.
    pub const ALL: [Self; 9] = [
        Self::Echo,
        Self::Backlog,
        Self::Accept,
        Self::Fanout,
        Self::Hold,
        Self::Churn,
        Self::Services,
        Self::Capacity,
        Self::Phases,
    ];

    /// Their names.
    pub const NAMES: [&str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut place = 0;
        while place < names.len() {
            names[place] = Self::ALL[place].name();
            place += 1;
        }
        names
    };

    /// Its name in plan files, and that of its command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Backlog => "backlog",
            Self::Accept => "accept",
            Self::Fanout => "fanout",
            Self::Hold => "hold",
            Self::Churn => "churn",
            Self::Services => "services",
            Self::Capacity => "capacity",
            Self::Phases => "phases",
        }
    }

    /// Its name in a sentence.
    #[must_use]
    pub const fn in_prose(self) -> &'static str {
        match self {
            Self::Fanout => "fan-out",
            other => other.name(),
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The title of a plan that has none of its own.
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Self::Echo => "How many messages a second, at what latency?",
            Self::Backlog => "How long do all clients' requests take, against the least possible?",
            Self::Accept => {
                "What does one accept, and one message, cost while connections sit idle?"
            }
            Self::Fanout => {
                "N connect, all are greeted, one speaks, all hear: how long is each phase?"
            }
            Self::Hold => "How many connections can be held, at how many bytes each?",
            Self::Churn => "How many cycles of connect, request, reply and close a second?",
            Self::Services => {
                "How long does each client take for its requests to several services?"
            }
            Self::Capacity => "What is the greatest rate at which the bounds hold?",
            Self::Phases => "What does each phase measure, and what does it cost?",
        }
    }
}

/// How long a launched server lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServerLifetime {
    /// Each trial has a process of its own.
    #[default]
    PerTrial,
    /// In each repeat one process serves all settings that it can be launched for alike, connections ascending.
    PerSweep,
}

/// A resolved plan: targets × settings × repeats are its trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plan {
    /// Short name, part of the run's folder.
    pub name: String,
    /// What the plan shows, in one sentence.
    pub title: String,
    /// The question.
    pub experiment: Experiment,
    /// The servers, in the order of the report.
    pub targets: Vec<TargetRecord>,
    /// Servers of the catalogue that were asked for and cannot run on this machine.
    pub left_out: Vec<LeftOut>,
    /// Index of the target that the others are compared with.
    pub baseline: u32,
    /// Repeats of each target and setting.
    pub repeats: u32,
    /// Whether this is the shortened form.
    pub quick: bool,
    /// Seed of the order of trials, of the payloads and of the arrivals.
    pub seed: u64,
    /// How long a launched server lives.
    pub server: ServerLifetime,
    /// The network asked for launched servers and the generator; `run.network` says what was used.
    pub net: Network,
    /// Keys of the plan that have several values, the one that varies slowest first; a setting of `[kernel]` by its shortest name.
    pub swept: Vec<String>,
    /// Every combination of those values, in the order of the report; each is measured on each target.
    pub settings: Vec<Setting>,
    /// For each target the settings that it is measured at, by index; absent where each is measured at all.
    pub measured_at: Option<Vec<Vec<u32>>>,
    /// What is searched for, where the rates of the trials are not known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSpec>,
}

impl Plan {
    /// Whether this target is measured at this setting.
    #[must_use]
    pub fn is_measured(&self, target: u32, setting: u32) -> bool {
        let own = self.measured_at.as_ref();
        own.is_none_or(|all| {
            let own = all.get(target as usize);
            own.is_some_and(|settings| settings.contains(&setting))
        })
    }

    /// Every target at every setting that it is measured at, by index.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u32)> {
        let of_target = |target: usize| match &self.measured_at {
            Some(own) => own.get(target).cloned().unwrap_or_default(),
            None => (0..self.settings.len() as u32).collect(),
        };
        (0..self.targets.len()).flat_map(move |target| {
            let settings = of_target(target).into_iter();
            settings.map(move |setting| (target as u32, setting))
        })
    }
}

/// The address family that launched servers listen on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ListenFamily {
    /// 127.0.0.1.
    #[default]
    Ipv4,
    /// `[::1]`.
    Ipv6,
    /// A Unix stream socket.
    Unix,
}
