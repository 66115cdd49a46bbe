//! User memory for an idle connection, beyond the fixed part: the slope between a few and many connections. Of the generator, and of the
//! servers that are to hold many.

use std::error::Error;

use throng_record::{Backend, LoadEvent, PhaseName, PhaseSpec, PingSpec, Protocol, Sequence, Stop};
use throng_sys::process;

use super::peers::{Server, generate, generate_in, job};
use super::ratios::{Measured, compare};
use super::{Bench, SIZE_BYTES, network};

const FEW: u32 = 1_000;
const MANY: u32 = 15_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(super) fn run(bench: &Bench) -> Result<()> {
    let of_generator = |backend| per_connection(|count| generator_bytes(bench, backend, count));
    let measured: [Measured<'_>; 2] = [
        ("epoll back end", Box::new(|| of_generator(Backend::Epoll))),
        (
            "io_uring back end",
            Box::new(|| of_generator(Backend::IoUring)),
        ),
    ];
    compare(
        bench,
        "generator's user memory for an idle connection",
        "bytes",
        &measured,
    )?;
    let of_server = |model| per_connection(|count| server_bytes(bench, model, count));
    let measured: [Measured<'_>; 2] = [
        ("epoll-edge", Box::new(|| of_server("epoll-edge"))),
        ("io-uring", Box::new(|| of_server("io-uring"))),
    ];
    compare(
        bench,
        "server's user memory for an idle connection",
        "bytes",
        &measured,
    )
}

fn per_connection(bytes: impl Fn(u32) -> Result<f64>) -> Result<f64> {
    Ok((bytes(MANY)? - bytes(FEW)?) / f64::from(MANY - FEW))
}

fn generator_bytes(bench: &Bench, backend: Backend, connections: u32) -> Result<f64> {
    // A server of its own for each run: what it keeps of the last one's connections is not our matter.
    let server = Server::model("epoll-edge")?;
    let mut job = job(bench, &server.address, backend);
    job.fleet.connections = connections;
    job.phases.exchange_mut().expect("a closed loop").stop = Stop::Messages(u64::from(connections));
    Ok(generate(&job)?.record.user_bytes_per_connection * f64::from(connections))
}

/// All of the server's memory that is no file's, read while the generator waits with every connection open and idle.
fn server_bytes(bench: &Bench, model: &str, connections: u32) -> Result<f64> {
    let network = network::private()?;
    let server = Server::model_in(model, "echo", &[], &network)?;
    let mut job = job(bench, &server.address, Backend::Epoll);
    job.fleet.connections = connections;
    // Answered on every connection: those that wait in the accept queue take nothing of the server's.
    job.phases = Sequence::on_open_connections([
        PhaseSpec::Hold { duration_ns: 0 },
        PhaseSpec::Ping(PingSpec {
            protocol: Protocol::Echo {
                size_bytes: SIZE_BYTES,
            },
            verify: true,
            pings: connections,
            at_once: 64,
        }),
    ]);
    let mut bytes = 0;
    let record = generate_in(&job, &network, &mut |event| {
        if matches!(
            event,
            LoadEvent::Phase {
                phase: PhaseName::Close
            }
        ) {
            bytes = process::memory(server.pid())?.anonymous_pss_bytes;
        }
        Ok(())
    })?
    .record;
    match record.phases.ping() {
        Some(ping) if ping.answered == connections => Ok(bytes as f64),
        _ => Err(format!("{model} did not answer on all of {connections} connections").into()),
    }
}
