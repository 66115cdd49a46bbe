//! The slowest requests of a run, each with where its time went.
//!
//! Only requests whose causes were found out are told of: the slow and the failed ones of experiments in which each has a connection of
//! its own, in trials that may be quoted. All of them are in the record.

use std::cmp::Reverse;

use serde::Serialize;
use throng_record::{Cause, RequestRecord, RunRecord};

use crate::findings::{Place, place};
use crate::format::{self, times};
use crate::worth::may_be_quoted;

/// More would say no more.
const SHOWN: usize = 10;

/// A slow request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SlowRequest<'a> {
    /// The row that it belongs to.
    #[serde(flatten)]
    pub place: Place<'a>,
    /// The repeat.
    pub repeat: u32,
    /// The request.
    #[cfg_attr(test, schemars(with = "crate::schema::RequestRecord"))]
    pub request: &'a RequestRecord,
}

/// The slowest first.
#[must_use]
pub fn slowest(record: &RunRecord) -> Vec<SlowRequest<'_>> {
    let mut slow: Vec<_> = record
        .counted()
        .filter(|trial| may_be_quoted(record, trial))
        .flat_map(|trial| {
            let phases = trial.phases.connections().into_iter();
            let requests = phases.flat_map(|phase| &phase.requests);
            requests.map(move |request| (trial, request))
        })
        .filter(|(_, request)| !request.causes.is_empty())
        .collect();
    slow.sort_by_key(|(_, request)| Reverse(request.duration_ns));
    let shown = slow.into_iter().take(SHOWN);
    shown
        .map(|(trial, request)| SlowRequest {
            place: place(record, trial),
            repeat: trial.repeat,
            request,
        })
        .collect()
}

impl SlowRequest<'_> {
    /// `repeat 0, client 7, request 2 of iterative at 32 × 5 requests: 7.30 s: SYN sent again 3 times (7.00 s), service 40.0 ms`.
    #[must_use]
    pub fn line(&self) -> String {
        let RequestRecord {
            client,
            number,
            duration_ns,
            error,
            causes,
            ..
        } = self.request;
        let Place {
            target, heading, ..
        } = &self.place;
        let took = format::time_ns(*duration_ns as f64);
        let end = error.map_or_else(String::new, |error| format!(", then {}", error.words()));
        let causes: Vec<String> = causes.iter().map(words).collect();
        format!(
            "repeat {}, client {client}, request {number} of {target} at {heading}: {took}{end}: {}",
            self.repeat,
            causes.join(", ")
        )
    }
}

fn words(cause: &Cause) -> String {
    let time = |nanoseconds: &u64| format::time_ns(*nanoseconds as f64);
    match cause {
        Cause::SynRetransmissions {
            retransmissions,
            waited_ns,
        } => format!(
            "SYN sent again {} ({})",
            times((*retransmissions).into()),
            time(waited_ns)
        ),
        Cause::FinalAckDropped {
            data_retransmissions,
            syn_ack_retransmissions,
            waited_ns,
        } => {
            let syn_acks = syn_ack_retransmissions
                .filter(|&again| again > 0)
                .map_or_else(String::new, |again| {
                    format!(", SYN-ACK {}", times(again.into()))
                });
            let data = times((*data_retransmissions).into());
            format!(
                "final ACK dropped, data sent again {data}{syn_acks} ({})",
                time(waited_ns)
            )
        }
        Cause::AcceptQueue { waited_ns, depth } => {
            format!("accept queue {} at depth {depth}", time(waited_ns))
        }
        Cause::Service { waited_ns } => format!("service {}", time(waited_ns)),
        Cause::GeneratorLate { waited_ns } => format!("generator late {}", time(waited_ns)),
        Cause::NotExplained { waited_ns } => format!("not explained {}", time(waited_ns)),
    }
}
