//! The event-loop servers against a minimal loop over epoll, all driven by the generator's faster back end.
//!
//! All of them have one CPU, so those with a loop for each CPU have one loop, as the minimal one does: what is compared is the cost
//! of a message, not what several CPUs bring.

use std::error::Error;

use throng_record::Backend;

use super::Bench;
use super::peers::{Server, generate, job};
use super::ratios::{Measured, compare};

const FLOOR: &str = "floor-epoll-server";
const MODELS: [&str; 13] = [
    "select",
    "poll",
    "epoll-level",
    "epoll-edge",
    "epoll-shared",
    "epoll-reuseport",
    "io-uring",
    "mio",
    "tokio-current-thread",
    "tokio",
    "smol",
    "may",
    "compio",
];

pub(super) fn run(bench: &Bench) -> Result<(), Box<dyn Error>> {
    for model in MODELS {
        let of = |start: &dyn Fn() -> Result<Server, Box<dyn Error>>| {
            let server = start()?;
            let generated = generate(&job(bench, &server.address, Backend::IoUring))?;
            Ok(generated.exchange()?.replies_per_second)
        };
        let measured: [Measured<'_>; 2] = [
            (FLOOR, Box::new(|| of(&|| Server::floor(FLOOR)))),
            (model, Box::new(|| of(&|| Server::model(model)))),
        ];
        compare(
            bench,
            &format!("the {model} server against a minimal epoll loop"),
            "messages/s",
            &measured,
        )?;
    }
    Ok(())
}
