//! What the lab and its stations say to each other, as JSON.

use crate::plan::GeneratorHost;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use throng_record::side::CounterDeltas;
use throng_record::{LoadJob, LoadRecord, Machine, PhaseName, SeriesSample, SideRecord};

use super::{Link, StationsError};

/// To a station.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Say who you are.
    Describe,
    /// So many [`Order::Tick`]s follow, each to be answered at once by the clock.
    Clocks {
        ticks: u32,
    },
    Tick {
        number: u32,
    },
    /// Do this, phase by phase.
    Work {
        job: Box<LoadJob>,
    },
    /// The phase that you wait before begins at this instant of your clock.
    Begin {
        at_monotonic_ns: u64,
    },
    /// Do not begin the phase that you wait before: another host has failed, and the job is over.
    Stop,
    /// So many messages come from this rank, each to be sent back at once; say first that you are about to.
    Answer {
        to: u32,
        number: u32,
    },
    /// Send so many messages to this rank, which sends them back.
    Exchange {
        with: u32,
        number: u32,
        bytes: u32,
    },
    /// Nothing more is wanted; a job under way ends early.
    Leave,
}

/// From a station.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    Host {
        version: String,
        generator: Box<GeneratorHost>,
        machine: Box<Machine>,
    },
    Clock {
        number: u32,
        at_monotonic_ns: u64,
    },
    /// It waits before this phase.
    Waits {
        phase: PhaseName,
    },
    Done(Box<Done>),
    /// It is about to send back what comes.
    Answers,
    /// What messages to another rank took.
    Exchanged {
        shortest_ns: u64,
        all_ns: u64,
    },
}

/// All that came of a station's part.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    /// Why there is no record.
    pub(super) failure: Option<String>,
    pub(super) record: Option<LoadRecord>,
    /// Addresses that its connections come from, at least.
    pub(super) source_addresses: u32,
    pub(super) generator: Option<SideRecord>,
    pub(super) stolen_share: Option<f64>,
    pub(super) others_share: Option<f64>,
    pub(super) throttled_share: Option<f64>,
    pub(super) kernel_counters: CounterDeltas,
    /// By its own clock, from `started_at_monotonic_ns` on.
    pub(super) series: Vec<SeriesSample>,
    pub(super) started_at_monotonic_ns: u64,
}

impl Report {
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Host { .. } => "who it is",
            Self::Clock { .. } => "a clock's time",
            Self::Waits { .. } => "that it waits",
            Self::Done(_) => "a result",
            Self::Answers => "that it sends messages back",
            Self::Exchanged { .. } => "what messages took",
        }
    }
}

pub(super) fn send(link: &dyn Link, rank: u32, message: &impl Serialize) {
    let bytes = serde_json::to_vec(message).expect("plain data with names as keys");
    link.send(rank, bytes);
}

pub(super) fn read<T: DeserializeOwned>(rank: u32, bytes: &[u8]) -> Result<T, StationsError> {
    serde_json::from_slice(bytes).map_err(|error| StationsError::Garbled {
        rank,
        problem: error.to_string(),
    })
}
