//! The hosts that generated the load, where those were others than the machine itself: who they are, what each did, and how well their clocks agree.
//!
//! A host has one line for the whole run. Of several trials it has the worst of each figure, and all replies: what a reader asks of it is whether
//! any of them was held up, and each trial's own figures stand in the record.

use serde::Serialize;
use throng_record::{ClockOffset, Host, HostPart, RunRecord};

use crate::checks::some_of;
use crate::format::{exact, plural, time_ns};
use crate::standing::Standing;
use crate::summary::Summary;
use crate::table::{Column, Line, Sheet, absent};

/// A host that generated load, over all trials that count.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostRow {
    /// Its number among all, the lab being 0.
    pub rank: u32,
    /// What it calls itself.
    pub name: String,
    /// CPU model as its kernel names it.
    pub cpu_model: String,
    /// CPUs that its generator may use.
    pub cpus_allowed: u32,
    /// Kernel release.
    pub kernel: String,
    /// Its connections, or clients, where it had most.
    pub connections_max: u32,
    /// Its replies in the measured windows of all trials.
    pub replies: u64,
    /// The 99th percentile of its latencies in the trial where that is greatest; absent where none was measured.
    pub latency_ns_p99_max: Option<u64>,
    /// Its generator's CPU time ÷ what its CPUs could give in the window, 0 to 1, in the trial where that is greatest; absent where it was not seen.
    pub generator_utilisation_max: Option<f64>,
    /// Share of the time of its generator's CPUs that the hypervisor took, 0 to 1, at most; absent where it could not be read.
    pub stolen_share_max: Option<f64>,
    /// The same of what other programs used.
    pub others_share_max: Option<f64>,
    /// Share of the time of its CPUs, in the window, for which a quota held its generator up, 0 to 1, at most; absent where it has none.
    pub throttled_share_max: Option<f64>,
    /// Its clock − the lab's, in the trial where that is known worst; absent where none was made.
    pub clock_offset_ns: Option<i64>,
    /// That offset errs by no more than this.
    pub clock_uncertainty_ns_max: Option<u64>,
    /// How much later than the first of all hosts it began to measure, or, where no phase has a window, a phase; at most.
    pub start_skew_ns_max: u64,
}

/// A row for each host, in the order of their ranks.
pub(crate) fn rows(record: &RunRecord) -> Vec<HostRow> {
    let hosts = record.hosts.iter();
    hosts.map(|host| row(record, host)).collect()
}

fn row(record: &RunRecord, host: &Host) -> HostRow {
    let parts = || {
        let parts = record.counted().flat_map(|trial| &trial.hosts);
        parts.filter(|part| part.rank == host.rank)
    };
    let most = |share: fn(&HostPart) -> Option<f64>| parts().filter_map(share).reduce(f64::max);
    let clocks = parts().map(|part| part.clock);
    let clock: Option<ClockOffset> = clocks.max_by_key(|clock| clock.uncertainty_ns);
    let p99s = parts().filter_map(|part| Some(part.latency.as_ref()?.p99_ns));
    HostRow {
        rank: host.rank,
        name: host.name.clone(),
        cpu_model: host.machine.cpu_model.clone(),
        cpus_allowed: host.machine.cpus_allowed.len() as u32,
        kernel: host.machine.kernel.clone(),
        connections_max: parts().map(|part| part.connections).max().unwrap_or(0),
        replies: parts().map(|part| part.replies).sum(),
        latency_ns_p99_max: p99s.max(),
        generator_utilisation_max: most(|part| Some(part.generator.as_ref()?.utilisation)),
        stolen_share_max: most(|part| part.stolen_share),
        others_share_max: most(|part| part.others_share),
        throttled_share_max: most(|part| part.throttled_share),
        clock_offset_ns: clock.map(|clock| clock.offset_ns),
        clock_uncertainty_ns_max: clock.map(|clock| clock.uncertainty_ns),
        start_skew_ns_max: parts().map(HostPart::skew_ns).max().unwrap_or(0),
    }
}

/// Where the load came from, each circumstance a phrase; nothing where that was the machine itself.
pub(crate) fn circumstances(summary: &Summary<'_>) -> Vec<String> {
    let hosts = &summary.hosts;
    if hosts.is_empty() {
        return vec![];
    }
    let mut sizes = summary.plan.settings.iter().map(|one| one.connections);
    let first = sizes.next();
    let up_to = match sizes.any(|other| Some(other) != first) {
        true => "up to ",
        false => "",
    };
    let shares = hosts.iter().enumerate().map(|(index, host)| {
        let is_namesake = |other: &&HostRow| other.name == host.name;
        let name = match hosts.iter().filter(is_namesake).count() {
            1 => host.name.clone(),
            _ => format!("{} rank {}", host.name, host.rank),
        };
        // No trial came so far.
        if host.connections_max == 0 {
            return name;
        }
        let number = u64::from(host.connections_max);
        let connections = match index {
            0 => plural(number, "connection"),
            _ => exact(number),
        };
        format!("{name} ({up_to}{connections})")
    });
    let from = match hosts.len() {
        1 => "load from host".to_owned(),
        several => format!("load from {several} hosts:"),
    };
    let mut phrases = vec![format!("{from} {}", some_of(shares))];
    phrases.extend(together(hosts));
    phrases
}

/// How well they began together; nothing before the first trial is over.
fn together(hosts: &[HostRow]) -> Option<String> {
    let time = |length_ns: u64| time_ns(length_ns as f64);
    let clocks = hosts
        .iter()
        .filter_map(|host| host.clock_uncertainty_ns_max);
    let known = time(clocks.max()?);
    let skews = hosts.iter().map(|host| host.start_skew_ns_max);
    Some(match hosts.len() {
        1 => format!("its clock known to {known}"),
        _ => {
            let skew = time(skews.max()?);
            format!("started within {skew} of each other, clocks known to {known}")
        }
    })
}

/// How to read the table.
pub(crate) fn legend(summary: &Summary<'_>) -> Option<String> {
    (!summary.hosts.is_empty()).then(|| {
        "Hosts: of several trials the worst of each figure, and all replies. clock: how far its clock is from the lab's, and what that errs by at most. start: how much later than the first host it began to measure.".to_owned()
    })
}

impl Line for HostRow {
    fn standing(&self) -> Standing {
        Standing::Ranked
    }

    fn has_figures(&self) -> bool {
        true
    }
}

/// The table of hosts; nothing where there are none.
pub(crate) fn sheet(summary: &Summary<'_>) -> Option<Sheet<HostRow>> {
    (!summary.hosts.is_empty()).then(|| Sheet {
        labels: vec![
            Column::words("host", |row: &HostRow| row.name.clone()),
            number("rank", |row| row.rank.into()),
        ],
        themes: vec![machine(), work(), clock()],
        is_joined: true,
        groups: vec![("Hosts".to_owned(), summary.hosts.clone())],
    })
}

fn machine() -> Vec<Column<HostRow>> {
    vec![
        Column::words("CPU", |row: &HostRow| row.cpu_model.clone()),
        number("CPUs", |row| row.cpus_allowed.into()),
        Column::words("kernel", |row: &HostRow| row.kernel.clone()),
    ]
}

fn work() -> Vec<Column<HostRow>> {
    vec![
        number("connec-\ntions", |row| row.connections_max.into()),
        number("replies", |row| row.replies),
        of("p99", time_ns, |row| Some(row.latency_ns_p99_max? as f64)),
        of("generator\nbusy", percent, |row| {
            row.generator_utilisation_max
        }),
        of("stolen", percent, |row| row.stolen_share_max),
        of("other\nprograms", percent, |row| row.others_share_max),
        of("held up\nby quota", percent, |row| row.throttled_share_max),
    ]
}

fn clock() -> Vec<Column<HostRow>> {
    let offset = |row: &HostRow| {
        let (offset, uncertainty) = row.clock_offset_ns.zip(row.clock_uncertainty_ns_max)?;
        let [offset, uncertainty] = [offset as f64, uncertainty as f64].map(time_ns);
        Some(format!("{offset} ± {uncertainty}"))
    };
    vec![
        Column::words("clock", move |row: &HostRow| {
            offset(row).unwrap_or_else(absent)
        })
        .aligned_right()
        .of_number(|row: &HostRow| Some(row.clock_offset_ns? as f64)),
        of("start", time_ns, |row| Some(row.start_skew_ns_max as f64)),
    ]
}

fn number(heading: &str, of_row: fn(&HostRow) -> u64) -> Column<HostRow> {
    Column::words(heading, move |row: &HostRow| exact(of_row(row)))
        .aligned_right()
        .of_number(move |row: &HostRow| Some(of_row(row) as f64))
}

fn of(
    heading: &str,
    words: fn(f64) -> String,
    of_row: fn(&HostRow) -> Option<f64>,
) -> Column<HostRow> {
    Column::words(heading, move |row: &HostRow| {
        of_row(row).map_or_else(absent, words)
    })
    .aligned_right()
    .of_number(of_row)
}

/// With a decimal: a share of a percent is much of what a neighbour may take.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
