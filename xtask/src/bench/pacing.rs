//! How late an open loop sends, spinning and sleeping.

use std::error::Error;

use throng_record::{Arrivals, Backend, Pacing};

use super::Bench;
use super::peers::{Server, generate, job};
use super::ratios::{Measured, compare};

const RATE_PER_SECOND: f64 = 20_000.0;

pub(super) fn run(bench: &Bench) -> Result<(), Box<dyn Error>> {
    let server = Server::model("epoll-edge")?;
    let p99_ns = |backend, spin| {
        let mut job = job(bench, &server.address, backend);
        job.phases.exchange_mut().expect("a closed loop").pacing = Pacing::Open {
            rate_per_second: RATE_PER_SECOND,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin,
        };
        let generated = generate(&job)?;
        let errors = generated.exchange()?.scheduling_error.as_ref();
        let errors = errors.ok_or("an open loop records its error")?;
        Ok(errors.p99_ns as f64)
    };
    let measured: [Measured<'_>; 4] = [
        (
            "epoll back end, spinning",
            Box::new(|| p99_ns(Backend::Epoll, true)),
        ),
        (
            "io_uring back end, spinning",
            Box::new(|| p99_ns(Backend::IoUring, true)),
        ),
        (
            "epoll back end, sleeping",
            Box::new(|| p99_ns(Backend::Epoll, false)),
        ),
        (
            "io_uring back end, sleeping",
            Box::new(|| p99_ns(Backend::IoUring, false)),
        ),
    ];
    compare(
        bench,
        "p99 of the scheduling error at 20,000 messages/s",
        "ns",
        &measured,
    )
}
