//! What a row has beside its figures: curves, parts and places, of the experiments that ask for them.

use serde::Serialize;

use crate::experiments::accept::along::Along;
use crate::experiments::capacity::searched::Searched;
use crate::experiments::fanout::order::Order;
use crate::experiments::hold::curve::Point;
use crate::experiments::hold::memory::KernelMemory;
use crate::experiments::services::failed::FailedService;

/// By experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// What an accept and a byte cost along the idle connections.
    Multiplexer {
        /// Numbers of idle connections at which costs are told.
        idle: Vec<u32>,
        /// From the wait's call to the accepted descriptor.
        accept: Along,
        /// From the wait's call to the end of the read.
        data: Along,
    },
    /// Who heard the greeting, and who the line, how late; of the trial whose get took the median time.
    Fanout {
        /// Empty where the record does not tell.
        order: Vec<Order>,
    },
    /// Where one of several services failed.
    Services {
        /// Of every trial that the row shows, by number.
        failed: Vec<FailedService>,
    },
    /// The search behind a capacity.
    Capacity(Box<Searched>),
    /// Of the trial whose connecting took the median time.
    Hold {
        /// Connects over time, at most 60 points.
        curve: Vec<Point>,
        /// What of the kernel's memory grew, and what was left of it in the end.
        kernel: Option<KernelMemory>,
    },
}
