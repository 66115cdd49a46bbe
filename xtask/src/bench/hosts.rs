//! Load from several ranks: whether two generators make the load that one does, and what merging the records of many costs.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use throng_record::histogram::empty;
use throng_record::merge::{Part, merge};
use throng_record::{
    ConnectPhase, ExchangePhase, Histogram, HoldPhase, LoadRecord, Measured, Phases, PingPhase,
    RunRecord, Timeline,
};
use throng_sys::clock::monotonic_ns;

use super::peers::{Server, release};
use super::ratios::{Measured as Side, compare};
use super::{Bench, CONNECTIONS, GENERATOR_CPU, SERVER_CPU};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The ranks whose records are merged, and their connections together.
const RANKS: u32 = 64;
const ALL_CONNECTIONS: u32 = 1_000_000;
/// Latencies that each histogram holds: as many different ones as it can tell apart, and some.
const LATENCIES: u64 = 50_000;
/// Slices of a timeline: the most that a shard keeps.
const SLICES: usize = 4_096;

pub(super) fn run(bench: &Bench) -> Result<()> {
    rates(bench)?;
    merging()
}

fn rates(bench: &Bench) -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", "throng-mpi"])
        .status()?;
    if !status.success() {
        return Err("throng-mpi is not built; docs/machines.md says what it needs".into());
    }
    let server = Server::model("epoll-edge")?;
    let of_ranks = |generators: u32| {
        let address = server.address.clone();
        Box::new(move || rate(bench, generators, &address))
    };
    let measured: [Side<'_>; 2] = [
        ("one generator", of_ranks(1)),
        ("two generators of the same total", of_ranks(2)),
    ];
    compare(
        bench,
        "messages/s to epoll-edge, 100 connections, all generators on one CPU (bound: within 0.05)",
        "messages/s",
        &measured,
    )
}

/// Replies a second, with the lab and so many generators on this machine.
fn rate(bench: &Bench, generators: u32, address: &str) -> Result<f64> {
    let folder = std::env::temp_dir().join(format!("throng-bench-{}", std::process::id()));
    let output = Command::new("mpirun")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .args(["--oversubscribe", "--bind-to", "none"])
        .args(["-np", &(generators + 1).to_string()])
        .arg(release("throng-mpi"))
        .args(["echo", address, "--shards", "1", "--repeats", "1"])
        .args(["--cpus", &format!("{SERVER_CPU}:{GENERATOR_CPU}")])
        .args(["--connections", &CONNECTIONS.to_string()])
        .args(["--duration", &format!("{}s", bench.seconds)])
        .args(["--patience", "0", "--no-html", "--runs-dir"])
        .arg(&folder)
        .output()?;
    let measured = replies_per_second(&folder);
    // Not there where nothing was measured, which is told below.
    let _ = std::fs::remove_dir_all(&folder);
    measured.map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("{error}\n{said}").into()
    })
}

fn replies_per_second(folder: &Path) -> Result<f64> {
    let run = std::fs::read_dir(folder)?
        .next()
        .ok_or("no run is kept")??;
    let text = std::fs::read_to_string(run.path().join("run.json"))?;
    let record: RunRecord = serde_json::from_str(&text)?;
    let trial = record.trials.first().ok_or("no trial was made")?;
    let exchange = trial.phases.exchange().ok_or("nothing was exchanged")?;
    Ok(exchange.replies as f64 / (exchange.duration_ns as f64 / 1e9))
}

fn merging() -> Result<()> {
    let records: Vec<String> = (0..RANKS)
        .map(|rank| serde_json::to_string(&record(rank)))
        .collect::<std::result::Result<_, _>>()?;
    let before_bytes = peak_memory_bytes()?;
    let start_ns = monotonic_ns();
    let parts = records.iter().map(|text| {
        let record = serde_json::from_str(text)?;
        Ok(Part {
            record,
            clock_offset_ns: 0,
        })
    });
    let parts = parts.collect::<std::result::Result<Vec<_>, serde_json::Error>>()?;
    let merged = merge(parts)?;
    let took_ns = monotonic_ns() - start_ns;
    let connected = merged.phases.connect().map(|phase| phase.connected);
    if connected != Some(ALL_CONNECTIONS) {
        return Err(format!("{connected:?} connections came out of the merge").into());
    }
    println!(
        "reading and merging the records of {RANKS} ranks with {ALL_CONNECTIONS} connections (bounds: 1,000 ms, 256 MiB)\n  {:>34} ms\n  {:>34} MiB",
        took_ns / 1_000_000,
        (peak_memory_bytes()? - before_bytes) >> 20
    );
    Ok(())
}

/// What a rank tells of its part of a run in all phases whose figures have a size.
fn record(rank: u32) -> LoadRecord {
    let connections = ALL_CONNECTIONS / RANKS;
    let latency = histogram(rank);
    let timeline = Timeline {
        slice_ns: 1_000_000,
        replies: vec![u64::from(rank) + 1_000; SLICES],
        latency_sum_ns: vec![1_000_000_000; SLICES],
    };
    let mut phases = Phases::default();
    phases.push(Measured::Connect(ConnectPhase {
        connected: connections,
        latency: latency.clone(),
        timeline: timeline.clone(),
        ..ConnectPhase::default()
    }));
    phases.push(Measured::Hold(HoldPhase::default()));
    phases.push(Measured::Ping(PingPhase {
        pinged: connections,
        latency: latency.clone(),
        ..PingPhase::default()
    }));
    phases.push(Measured::Exchange(ExchangePhase {
        replies: LATENCIES,
        warmup_latency: latency.clone(),
        scheduling_error: Some(latency.clone()),
        latency,
        timeline,
        ..ExchangePhase::default()
    }));
    LoadRecord {
        phases,
        ..LoadRecord::default()
    }
}

/// From a microsecond to minutes, each rank with values of its own.
fn histogram(rank: u32) -> Histogram {
    let mut live = empty();
    for number in 0..LATENCIES {
        let value = 1_000.0 * 1.0004_f64.powi((number % 45_000) as i32) + f64::from(rank);
        live.record(value as u64).expect("within the bounds");
    }
    Histogram::from(&live)
}

/// `VmHWM` of `/proc/self/status`.
fn peak_memory_bytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kibibytes.ok_or("no VmHWM")?.parse::<u64>()? << 10)
}
