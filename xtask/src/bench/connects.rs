//! The connect rate to a server that keeps all connections, against a bare loop that connects and one that accepts; and whether it stays
//! what it was. A machine's memory may get slower the more of it the kernel's objects take: the bare loop's curve shows how much of a fall
//! is that, and `--ballast` takes a virtual machine's host out of it.

use std::error::Error;

use throng_record::{Backend, PhaseSpec, Sequence};
use throng_report::median;
use throng_sys::namespace::Network;

use super::curve::Curve;
use super::peers::{Server, floor, generate_in, job};
use super::ratios::tell;
use super::{Bench, GENERATOR_CPU, ballast, network, tables};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The floor looks at the clock at each of so many.
const STAMPED: u32 = 1_000;
const SIDES: [(&str, Option<Backend>); 3] = [
    ("bare connect and accept loops", None),
    ("epoll back end, epoll-shared", Some(Backend::Epoll)),
    ("io_uring back end, epoll-shared", Some(Backend::IoUring)),
];

pub(super) fn run(bench: &Bench) -> Result<()> {
    let mut curves = SIDES.map(|_| Vec::new());
    for _ in 0..bench.rounds {
        for ((_, backend), curves) in SIDES.iter().zip(&mut curves) {
            let network = network::private()?;
            let measure = || match backend {
                None => bare(bench, &network),
                Some(backend) => of_throng(bench, *backend, &network),
            };
            curves.push(if bench.ballast {
                ballast::beside(measure)?
            } else {
                measure()?
            });
        }
    }
    let names = SIDES.map(|(name, _)| name);
    let figures = |of: &dyn Fn(&Curve) -> f64| -> Vec<Vec<f64>> {
        let of_side = |curves: &Vec<Curve>| curves.iter().map(of).collect();
        curves.iter().map(of_side).collect()
    };
    let title = format!("opening {} connections", bench.connections);
    tell(&title, "connects/s", &names, &figures(&Curve::rate))?;
    let lowest = |curve: &Curve| curve.flatness().into_iter().fold(f64::INFINITY, f64::min);
    if lowest(&curves[0][0]).is_finite() {
        tell(
            "the slowest slice from 10,000 on, in % of the rate of the first 10,000",
            "%",
            &names,
            &figures(&|curve| 100.0 * lowest(curve)),
        )?;
        println!("slice by slice: 10,000 to 14,000, then equal ones, medians in %");
        for (name, curves) in names.iter().zip(&curves) {
            println!("  {name:<34} {}", slices(curves));
        }
    }
    Ok(())
}

fn slices(curves: &[Curve]) -> String {
    let rounds: Vec<Vec<f64>> = curves.iter().map(Curve::flatness).collect();
    let of_slice = |slice: usize| {
        let values: Vec<f64> = rounds.iter().map(|round| 100.0 * round[slice]).collect();
        median::estimate(&values).map_or_else(String::new, |of| format!("{:.0}", of.median))
    };
    let slices: Vec<String> = (0..rounds[0].len()).map(of_slice).collect();
    slices.join(" ")
}

fn bare(bench: &Bench, network: &Network) -> Result<Curve> {
    let server = Server::floor_in("floor-accept-server", &[], network)?;
    let concurrency = job(bench, "", Backend::Epoll).fleet.connect_concurrency;
    let tables = tables::needed(bench.connections);
    let arguments = [bench.connections, tables, concurrency, GENERATOR_CPU];
    let output = floor("floor-connect-client", &server.address, &arguments, network)?;
    let stamps_ns = output
        .lines()
        .map(str::parse)
        .collect::<std::result::Result<Vec<u64>, _>>()?;
    whole(bench, Curve::of_stamps(&stamps_ns, STAMPED))
}

fn of_throng(bench: &Bench, backend: Backend, network: &Network) -> Result<Curve> {
    let tables = tables::needed(bench.connections);
    let workers = ["--workers", &tables.to_string()];
    let server = Server::model_in("epoll-shared", "echo", &workers, network)?;
    let mut job = job(bench, &server.address, backend);
    job.fleet.connections = bench.connections;
    job.fleet.shards = tables;
    job.phases = Sequence::on_open_connections([PhaseSpec::Hold { duration_ns: 0 }]);
    let record = generate_in(&job, network, &mut |_| Ok(()))?.record;
    let connect = record.phases.connect().ok_or("nothing was connected")?;
    whole(
        bench,
        Curve::of_timeline(&connect.timeline, connect.duration_ns),
    )
}

/// Whichever side has fewer connections has not done the same.
fn whole(bench: &Bench, curve: Curve) -> Result<Curve> {
    if curve.connections() < f64::from(bench.connections) {
        return Err(format!(
            "{} of {} connections opened; `throng hold {0}` says why",
            curve.connections(),
            bench.connections
        )
        .into());
    }
    Ok(curve)
}
