//! The event-loop servers against minimal loops of their kind, both driven by the generator's faster back end.

use std::error::Error;

use throng_record::Backend;

use super::Bench;
use super::peers::{Server, generate, job};
use super::ratios::{Measured, compare};

pub(super) fn run(bench: &Bench) -> Result<(), Box<dyn Error>> {
    for (model, floor) in [
        ("epoll-edge", "floor-epoll-server"),
        ("io-uring", "floor-uring-server"),
    ] {
        let of = |start: &dyn Fn() -> Result<Server, Box<dyn Error>>| {
            let server = start()?;
            Ok(generate(&job(bench, &server.address, Backend::IoUring))?
                .record
                .exchange
                .replies_per_second)
        };
        let measured: [Measured<'_>; 2] = [
            (floor, Box::new(|| of(&|| Server::floor(floor)))),
            (model, Box::new(|| of(&|| Server::model(model)))),
        ];
        compare(
            bench,
            &format!("the {model} server against a minimal loop of its kind"),
            "messages/s",
            &measured,
        )?;
    }
    Ok(())
}
