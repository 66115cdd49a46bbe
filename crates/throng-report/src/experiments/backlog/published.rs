//! The published accept-queue tables (`reference/backlog.toml`), and which of their cells stands beside a measured one.
//!
//! A cell is matched by how requests are handled, by backlog, clients, requests and service time; tables whose backlog is not known are beside no
//! cell. Amplifications are made here, against the service time of all requests, shared by the clients where each request has a handler.
//!
//! Left out on purpose: event loops and pools. The published servers were none, however alike their figures may be.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use throng_record::{Setting, Stop, TargetRecord};

use crate::reference::built_in;

/// All that is published of this experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Where the figures stand.
    pub source: String,
    /// Service time of every request.
    pub service_time_ms: u64,
    /// Requests of each cell: clients × requests of each.
    pub requests_total: u64,
    /// The tables, in the order of the source.
    #[serde(rename = "table")]
    pub tables: Vec<PublishedTable>,
}

/// How the published server came to its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Handling {
    /// One request after the other.
    OneAtATime,
    /// Each in a process or thread of its own; one thread accepts.
    HandlerPerRequest,
    /// The same, and four threads accept.
    FourAcceptThreads,
}

/// One published table.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// What it is called here.
    pub title: String,
    /// The operating system, as far as it is known.
    pub system: String,
    /// How its server handled requests.
    pub handling: Handling,
    /// The backlog; absent where it is not known.
    pub backlog: Option<u32>,
    /// The machine, as far as it is known.
    pub machine: String,
    /// The date, as far as it is known.
    pub date: String,
    /// The kernel, as far as it is known.
    pub kernel: String,
    /// Its rows.
    #[serde(rename = "row", skip_serializing)]
    pub rows: Vec<PublishedRow>,
}

/// What several published values of one cell mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// There is one.
    #[default]
    Single,
    /// One or the other.
    Either,
    /// The ends between which runs varied.
    Range,
    /// One value for each run.
    Runs,
}

/// One published cell.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Clients.
    pub clients: u32,
    /// Requests of each.
    pub requests: u64,
    /// Total times, in milliseconds.
    pub times_ms: Vec<u64>,
    /// What several times mean.
    #[serde(default)]
    pub reading: Reading,
    /// Requests whose connection was closed without an answer.
    pub closed: Option<u64>,
    /// Connects that were refused.
    pub refused: Option<u64>,
    /// Overflows as counted: one value, or the ends of a range.
    #[serde(default)]
    pub overflows: Vec<u64>,
    /// What the source says of this cell, or what is inferred.
    pub remark: Option<String>,
}

/// What is published of a measured cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Published {
    /// Its table.
    pub table: &'static PublishedTable,
    /// The cell.
    pub row: &'static PublishedRow,
    /// Each of its times ÷ the least possible, in the same order.
    pub amplifications: Vec<f64>,
}

/// The tables, parsed once.
#[must_use]
pub fn reference() -> &'static Reference {
    static REFERENCE: LazyLock<Reference> =
        LazyLock::new(|| built_in(include_str!("../../../../../reference/backlog.toml")));
    &REFERENCE
}

impl PublishedTable {
    /// The least possible time of a row, in milliseconds.
    #[must_use]
    pub fn least_ms(&self, row: &PublishedRow) -> f64 {
        let all = (reference().service_time_ms * row.requests * u64::from(row.clients)) as f64;
        match self.handling {
            Handling::OneAtATime => all,
            Handling::HandlerPerRequest | Handling::FourAcceptThreads => {
                all / f64::from(row.clients)
            }
        }
    }
}

/// What is published of this target at this setting.
#[must_use]
pub fn beside(target: &TargetRecord, setting: &Setting) -> Option<Published> {
    let reference = reference();
    let handling = handling(target, setting)?;
    let Stop::MessagesEach(requests) = setting.phases.exchange()?.stop else {
        return None;
    };
    let service_time_ns = setting.service_time_ns?;
    if service_time_ns != reference.service_time_ms * 1_000_000 {
        return None;
    }
    let table = reference.tables.iter().find(|table| {
        table.handling == handling && table.backlog.is_some_and(|found| found == setting.backlog)
    })?;
    let row = table
        .rows
        .iter()
        .find(|row| (row.clients, row.requests) == (setting.connections, requests))?;
    let least_ms = table.least_ms(row);
    Some(Published {
        table,
        row,
        amplifications: row
            .times_ms
            .iter()
            .map(|&time| time as f64 / least_ms)
            .collect(),
    })
}

/// How a built-in server handles requests, where that is how a published one did.
#[must_use]
pub fn handling(target: &TargetRecord, setting: &Setting) -> Option<Handling> {
    let accept_threads = target.options.accept_threads.or(setting.accept_threads);
    match (target.model.as_deref()?, accept_threads) {
        ("iterative", _) => Some(Handling::OneAtATime),
        ("fork-per-connection" | "thread-per-connection", None | Some(1)) => {
            Some(Handling::HandlerPerRequest)
        }
        ("thread-per-connection", Some(4)) => Some(Handling::FourAcceptThreads),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(title: &str, clients: u32) -> (&'static [u64], Reading) {
        let tables = &reference().tables;
        let table = tables
            .iter()
            .find(|table| table.title == title)
            .expect("there");
        let row = table
            .rows
            .iter()
            .find(|row| row.clients == clients)
            .expect("there");
        (&row.times_ms, row.reading)
    }

    #[test]
    fn every_cell_is_there_and_makes_160_requests() {
        let reference = reference();
        let rows: Vec<usize> = reference
            .tables
            .iter()
            .map(|table| table.rows.len())
            .collect();
        assert_eq!(rows, [8, 7, 8, 8, 8, 6]);
        for row in reference.tables.iter().flat_map(|table| &table.rows) {
            assert_eq!(
                u64::from(row.clients) * row.requests,
                reference.requests_total,
                "{row:?}"
            );
            let fits = match row.reading {
                Reading::Single => row.times_ms.len() == 1,
                Reading::Either | Reading::Range => {
                    row.times_ms.len() == 2 && row.times_ms.is_sorted()
                }
                Reading::Runs => row.times_ms.len() > 2,
            };
            assert!(fits, "{row:?}");
        }
    }

    #[test]
    fn the_figures_are_the_published_ones() {
        use Reading::{Either, Range, Runs, Single};
        let one = "backlog 5, one at a time";
        assert_eq!(times(one, 1), (&[6562][..], Single));
        assert_eq!(times(one, 80), (&[113_951][..], Single));
        assert_eq!(times(one, 160), (&[107_960][..], Single));
        assert_eq!(times("backlog 256, one at a time", 32).0, [6575]);
        assert_eq!(times("backlog 256, one process each", 160).0, [77]);
        let each = "backlog 5, one process each";
        assert_eq!(times(each, 16), (&[450, 1492][..], Either));
        assert_eq!(times(each, 160), (&[4441, 27_481][..], Range));
        let four = "backlog 5, 4 accept threads";
        assert_eq!(times(four, 80), (&[1373, 3422][..], Range));
        assert_eq!(
            times(four, 160),
            (&[2783, 3547, 1530, 2788, 7698][..], Runs)
        );
        assert_eq!(times("Windows, one at a time", 32).0, [6680]);
    }

    #[test]
    fn what_failed_and_overflowed_stands_with_its_cell() {
        let counts: Vec<(u32, Option<u64>, Option<u64>)> = reference()
            .tables
            .iter()
            .flat_map(|table| &table.rows)
            .filter(|row| row.closed.is_some() || row.refused.is_some())
            .map(|row| (row.clients, row.closed, row.refused))
            .collect();
        assert_eq!(
            counts,
            [
                (80, Some(8), None),
                (160, Some(71), None),
                (8, None, Some(4)),
                (16, None, Some(15)),
                (32, None, Some(20))
            ]
        );
        let overflows: Vec<&[u64]> = reference()
            .tables
            .iter()
            .flat_map(|table| &table.rows)
            .map(|row| &row.overflows[..])
            .filter(|overflows| !overflows.is_empty())
            .collect();
        let expected: [&[u64]; 7] = [&[1], &[10], &[141, 155], &[325], &[9], &[33], &[191]];
        assert_eq!(overflows, expected);
    }

    #[test]
    fn the_least_possible_is_shared_by_the_clients_where_each_request_has_a_handler() {
        let least = |title: &str, clients: u32| {
            let mut tables = reference().tables.iter();
            let table = tables.find(|table| table.title == title).expect("there");
            let mut rows = table.rows.iter();
            table.least_ms(rows.find(|row| row.clients == clients).expect("there"))
        };
        assert_eq!(least("backlog 5, one at a time", 32), 6_400.0);
        assert_eq!(least("backlog 256, one process each", 80), 80.0);
        assert_eq!(least("backlog 256, one process each", 160), 40.0);
    }
}
