//! `mpirun … throng-mpi doctor`: a table over the hosts that would generate load, and what messages cost between each two.

use serde::Serialize;
use throng_lab::plan::{GeneratorHost, Interface};
use throng_lab::stations::{Pair, Stations, StationsError};
use throng_record::format::{exact, list, plural};
use throng_record::{ClockOffset, Host};

use crate::table::{self, Column};

/// Of more pairs the slowest are shown.
const PAIRS_MAX: usize = 20;

/// All hosts, the lab's included.
#[derive(Serialize)]
pub(super) struct Examination {
    throng_version: &'static str,
    hosts: Vec<Row>,
    pairs: Vec<PairRow>,
    /// Where a launched server would listen, or why that has to be said.
    listen: String,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    rank: u32,
    name: String,
    cpus_allowed: usize,
    cpus_online: u32,
    kernel: String,
    memory_available_bytes: Option<u64>,
    open_files_hard: u64,
    ip_local_port_range: Option<(u16, u16)>,
    addresses: Vec<String>,
    /// Of the lab's: none.
    clock_offset_ns: Option<i64>,
    clock_uncertainty_ns: Option<u64>,
}

#[derive(Serialize)]
struct PairRow {
    one: String,
    other: String,
    round_trip_ns: u64,
    bytes_per_second: f64,
}

impl Examination {
    pub(super) fn of(stations: &Stations<'_>) -> Result<Self, StationsError> {
        let lab = GeneratorHost::here("lab");
        let machine = throng_lab::machine::describe();
        let mut hosts = vec![row(0, &lab, (machine.cpus_online, &machine.kernel), None)];
        let named = stations.hosts().iter().zip(stations.generators());
        for ((Host { rank, machine, .. }, generator), clock) in named.zip(stations.clocks()?) {
            let own = (machine.cpus_online, machine.kernel.as_str());
            hosts.push(row(*rank, generator, own, Some(clock)));
        }
        let name = |rank: u32| hosts[rank as usize].name.clone();
        let pair = |pair: Pair| PairRow {
            one: name(pair.one),
            other: name(pair.other),
            round_trip_ns: pair.round_trip_ns,
            bytes_per_second: pair.bytes_per_second,
        };
        let mut pairs: Vec<PairRow> = stations.pairs()?.into_iter().map(pair).collect();
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.round_trip_ns));
        Ok(Self {
            throng_version: env!("CARGO_PKG_VERSION"),
            pairs,
            listen: match stations.listening() {
                Ok(address) => address.to_string(),
                Err(error) => error.to_string(),
            },
            remarks: stations.remarks(),
            hosts,
        })
    }

    pub(super) fn for_people(&self) -> String {
        const HOST: Column<Row> = ("host", |row| format!("{} ({})", row.name, row.rank));
        const CPUS: Column<Row> = ("CPUs", |row| match row.cpus_online as usize {
            online if online == row.cpus_allowed => online.to_string(),
            online => format!("{} of {online}", row.cpus_allowed),
        });
        const KERNEL: Column<Row> = ("kernel", |row| row.kernel.clone());
        const MEMORY: Column<Row> = ("memory", |row| row.memory());
        const FILES: Column<Row> = ("descriptors", |row| match row.open_files_hard {
            u64::MAX => "any".to_owned(),
            limit => exact(limit),
        });
        const PORTS: Column<Row> = ("ports × addresses", |row| row.ports());
        const CLOCK: Column<Row> = ("clock, from the lab's", |row| row.clock());
        let hosts = table::list(
            &self.hosts,
            &[
                &[HOST, CPUS, KERNEL, MEMORY, FILES, PORTS, CLOCK],
                &[HOST, CPUS, MEMORY, FILES, PORTS, CLOCK],
            ],
        );
        let number = self.hosts.len() as u64 - 1;
        let mut text = format!(
            "{} and the lab, all with throng {}\n\n{hosts}\n{}",
            plural(number, "generator"),
            self.throng_version,
            self.pairs_in_words()
        );
        text += &format!("\nLaunched servers listen on {}.\n", self.listen);
        for remark in &self.remarks {
            text += &format!("warn: {remark}\n");
        }
        text
    }

    fn pairs_in_words(&self) -> String {
        const BETWEEN: Column<PairRow> = ("between", |pair| {
            list(&[pair.one.clone(), pair.other.clone()])
        });
        const TRIP: Column<PairRow> = ("round trip", |pair| time(pair.round_trip_ns as f64));
        const BYTES: Column<PairRow> = ("each way", |pair| {
            format!("{:.0} MB/s", pair.bytes_per_second / 1e6)
        });
        let shown = &self.pairs[..self.pairs.len().min(PAIRS_MAX)];
        let mut text = table::list(shown, &[&[BETWEEN, TRIP, BYTES]]);
        if let Some(more @ 1..) = self.pairs.len().checked_sub(PAIRS_MAX) {
            text += &format!("{more} more are quicker.\n");
        }
        text
    }
}

fn row(
    rank: u32,
    host: &GeneratorHost,
    (cpus_online, kernel): (u32, &str),
    clock: Option<ClockOffset>,
) -> Row {
    let address = |one: &Interface| one.ip.to_string();
    Row {
        rank,
        name: host.name.clone(),
        cpus_allowed: host.cpus_allowed.len(),
        cpus_online,
        kernel: kernel.to_owned(),
        memory_available_bytes: host.limits.memory_available_bytes,
        open_files_hard: host.limits.open_files_hard,
        ip_local_port_range: host.limits.ip_local_port_range,
        addresses: host.interfaces.iter().map(address).collect(),
        clock_offset_ns: clock.map(|clock| clock.offset_ns),
        clock_uncertainty_ns: clock.map(|clock| clock.uncertainty_ns),
    }
}

impl Row {
    fn memory(&self) -> String {
        const GIB: f64 = (1_u64 << 30) as f64;
        self.memory_available_bytes.map_or_else(
            || "–".to_owned(),
            |bytes| format!("{:.1} GiB", bytes as f64 / GIB),
        )
    }

    fn ports(&self) -> String {
        let range = self.ip_local_port_range;
        let ports = range.map_or(0, |(first, last)| u64::from(last.saturating_sub(first)) + 1);
        format!("{} × {}", exact(ports), self.addresses.len())
    }

    fn clock(&self) -> String {
        let Some((offset_ns, uncertainty_ns)) = self.clock_offset_ns.zip(self.clock_uncertainty_ns)
        else {
            return "–".to_owned();
        };
        let sign = if offset_ns < 0 { "−" } else { "+" };
        format!(
            "{sign}{} ± {}",
            time(offset_ns.unsigned_abs() as f64),
            time(uncertainty_ns as f64)
        )
    }
}

fn time(nanoseconds: f64) -> String {
    throng_report::format::time_ns(nanoseconds)
}
