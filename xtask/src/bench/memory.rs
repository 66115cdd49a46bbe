//! User memory of the generator for an idle connection, beyond its fixed part: the slope between two fleets.

use std::error::Error;

use throng_record::{Backend, Stop};

use super::Bench;
use super::peers::{Server, generate, job};
use super::ratios::{Measured, compare};

const FEW: u32 = 1_000;
const MANY: u32 = 15_000;

pub(super) fn run(bench: &Bench) -> Result<(), Box<dyn Error>> {
    let grown_bytes = |backend, connections| -> Result<f64, Box<dyn Error>> {
        // A server of its own for each run: what it keeps of the last one's connections is not our matter.
        let server = Server::model("epoll-edge")?;
        let mut job = job(bench, &server.address, backend);
        job.fleet.connections = connections;
        job.exchange.stop = Stop::Messages(u64::from(connections));
        Ok(generate(&job)?.record.user_bytes_per_connection * f64::from(connections))
    };
    let per_connection = |backend| {
        Ok((grown_bytes(backend, MANY)? - grown_bytes(backend, FEW)?) / f64::from(MANY - FEW))
    };
    let measured: [Measured<'_>; 2] = [
        (
            "epoll back end",
            Box::new(|| per_connection(Backend::Epoll)),
        ),
        (
            "io_uring back end",
            Box::new(|| per_connection(Backend::IoUring)),
        ),
    ];
    compare(
        bench,
        "generator's user memory for an idle connection",
        "bytes",
        &measured,
    )
}
