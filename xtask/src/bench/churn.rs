//! Connections that each serve one message, against a minimal loop of as many clients over epoll, and one of a client that blocks, with the
//! same server.

use std::error::Error;

use throng_record::{Backend, ConnectionUse, PhaseSpec};

use super::peers::{Server, floor, generate_in, job};
use super::ratios::{Measured, compare};
use super::{Bench, CONNECTIONS, GENERATOR_CPU, SIZE_BYTES, network};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(super) fn run(bench: &Bench) -> Result<()> {
    let measured: [Measured<'_>; 4] = [
        (
            "minimal loop, as many clients",
            Box::new(|| minimal(bench, CONNECTIONS)),
        ),
        (
            "minimal loop, one that blocks",
            Box::new(|| minimal(bench, 1)),
        ),
        (
            "epoll back end",
            Box::new(|| of_throng(bench, Backend::Epoll)),
        ),
        (
            "io_uring back end",
            Box::new(|| of_throng(bench, Backend::IoUring)),
        ),
    ];
    let title = "connections, each with one message, closed by a FIN, epoll-edge";
    compare(bench, title, "cycles/s", &measured)
}

fn minimal(bench: &Bench, clients: u32) -> Result<f64> {
    let network = network::private()?;
    let server = Server::model_in("epoll-edge", "echo", &[], &network)?;
    let arguments = [clients, SIZE_BYTES, bench.seconds as u32, GENERATOR_CPU];
    let output = floor("floor-churn-client", &server.address, &arguments, &network)?;
    Ok(output.trim().parse()?)
}

fn of_throng(bench: &Bench, backend: Backend) -> Result<f64> {
    let network = network::private()?;
    let server = Server::model_in("epoll-edge", "echo", &[], &network)?;
    let mut job = job(bench, &server.address, backend);
    // Its connections are opened and closed within it.
    job.phases
        .0
        .retain(|phase| matches!(phase, PhaseSpec::Exchange(_)));
    job.phases.exchange_mut().expect("it is left").connection = ConnectionUse::PerMessage {
        slow_first_byte_ns: throng_record::connections::SLOW_FIRST_BYTE_SPARE_NS,
        tells_every_request: false,
    };
    let generated = generate_in(&job, &network, &mut |_| Ok(()))?;
    Ok(generated.exchange()?.replies_per_second)
}
