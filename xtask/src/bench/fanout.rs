//! One line to many connections, against a bare write loop and a bare reading loop with the same threads and descriptor tables.
//!
//! `epoll-edge` has one table and so is measured at the most that one holds; `epoll-shared` at the most of the published experiment, which
//! takes two.

use std::error::Error;

use throng_record::{Backend, FanoutSpec, Work};

use super::peers::{Server, floor, generate_in, job};
use super::ratios::{Measured, compare};
use super::{Bench, GENERATOR_CPU, network, tables};

const LOADS: [(&str, u32); 2] = [("epoll-edge", 19_000), ("epoll-shared", 28_000)];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(super) fn run(bench: &Bench) -> Result<()> {
    for (model, connections) in LOADS {
        let of_throng = |backend| get_per_second(bench, model, connections, backend);
        let measured: [Measured<'_>; 3] = [
            (
                "bare write and read loops",
                Box::new(|| bare_per_second(connections)),
            ),
            ("epoll back end", Box::new(|| of_throng(Backend::Epoll))),
            (
                "io_uring back end",
                Box::new(|| of_throng(Backend::IoUring)),
            ),
        ];
        let title = format!("{model}: one line to {connections} connections");
        compare(bench, &title, "deliveries/s", &measured)?;
    }
    Ok(())
}

fn bare_per_second(connections: u32) -> Result<f64> {
    let network = network::private()?;
    let tables = tables::needed(connections);
    let server = Server::floor_in("floor-broadcast-server", &[connections, tables], &network)?;
    let arguments = [connections, tables, GENERATOR_CPU];
    let name = "floor-broadcast-client";
    let took_ns: f64 = floor(name, &server.address, &arguments, &network)?
        .trim()
        .parse()?;
    Ok(f64::from(connections) * 1e9 / took_ns)
}

/// From just before the put to the last line.
fn get_per_second(bench: &Bench, model: &str, connections: u32, backend: Backend) -> Result<f64> {
    let network = network::private()?;
    let tables = tables::needed(connections);
    let workers = ["--workers", &tables.to_string()];
    let options = if tables > 1 { &workers[..] } else { &[] };
    let server = Server::model_in(model, "broadcast", options, &network)?;
    let mut job = job(bench, &server.address, backend);
    job.fleet.connections = connections;
    job.fleet.shards = tables;
    job.work = Work::Fanout(FanoutSpec {
        greeting: Some(b"connected\n".to_vec()),
        line: b"hello\n".to_vec(),
        speaker: connections / 2,
        sustain: None,
    });
    let record = generate_in(&job, &network, &mut |_| Ok(()))?.record;
    match record.fanout.and_then(|phases| phases.get) {
        Some(get) if get.received == connections => {
            Ok(f64::from(connections) * 1e9 / get.duration_ns as f64)
        }
        get => Err(format!(
            "{} of {connections} connections heard the line; `throng fanout {model}` says why",
            get.map_or(0, |get| get.received)
        )
        .into()),
    }
}
