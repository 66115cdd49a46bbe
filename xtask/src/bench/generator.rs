//! The generator's back ends, verifying and recording, against the epoll floor: at full speed, and its CPU at a fixed rate.

use std::error::Error;

use throng_record::{Arrivals, Backend, Pacing};

use super::Bench;
use super::peers::{Server, floor_client, generate, job};
use super::ratios::{Measured, compare};

const FIXED_RATE_PER_SECOND: f64 = 50_000.0;

pub(super) fn run(bench: &Bench) -> Result<(), Box<dyn Error>> {
    for model in ["epoll-edge", "io-uring"] {
        let server = Server::model(model)?;
        let at_full_speed = |backend| {
            move |server: &Server| {
                let generated = generate(&job(bench, &server.address, backend))?;
                Ok(generated.exchange()?.replies_per_second)
            }
        };
        let measured: [Measured<'_>; 4] = [
            (
                "epoll floor, no recording",
                Box::new(|| floor_client(bench, "floor-epoll-client", &server.address)),
            ),
            (
                "epoll back end",
                Box::new(|| at_full_speed(Backend::Epoll)(&server)),
            ),
            (
                "io_uring back end",
                Box::new(|| at_full_speed(Backend::IoUring)(&server)),
            ),
            // Not a bound: it shows what io_uring has to give here.
            (
                "bare io_uring loop, no recording",
                Box::new(|| floor_client(bench, "floor-uring-client", &server.address)),
            ),
        ];
        compare(
            bench,
            &format!("generator against the {model} server, closed loop"),
            "messages/s",
            &measured,
        )?;
    }
    let server = Server::model("epoll-edge")?;
    let at_fixed_rate = |backend| {
        let mut job = job(bench, &server.address, backend);
        job.phases.exchange_mut().expect("a closed loop").pacing = Pacing::Open {
            rate_per_second: FIXED_RATE_PER_SECOND,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin: false,
        };
        let generated = generate(&job)?;
        Ok(generated.cpu_ns as f64 / generated.exchange()?.replies as f64)
    };
    let measured: [Measured<'_>; 2] = [
        ("epoll back end", Box::new(|| at_fixed_rate(Backend::Epoll))),
        (
            "io_uring back end",
            Box::new(|| at_fixed_rate(Backend::IoUring)),
        ),
    ];
    compare(
        bench,
        "generator's CPU at 50,000 messages/s, not spinning",
        "ns/message",
        &measured,
    )
}
