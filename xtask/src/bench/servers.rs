//! Every event-loop server against a minimal loop of its kind, both driven by the generator's faster back end.
//!
//! All of them have one CPU, so those with a loop for each CPU have one loop, as their floors do: what is compared is the cost
//! of a message, not what several CPUs bring.

use std::error::Error;

use throng_record::Backend;

use super::Bench;
use super::peers::{Server, generate, job};
use super::ratios::{Measured, compare};

/// The models, and the examples that are their floors: those of throng-sys over the kernel's own interfaces, and those of
/// throng-servers over a runtime.
const FLOORS: &[(&str, &str)] = &[
    ("select", "floor-select-server"),
    ("poll", "floor-poll-server"),
    ("epoll-level", "floor-epoll-level-server"),
    ("epoll-edge", "floor-epoll-server"),
    ("epoll-shared", "floor-epoll-shared-server"),
    ("epoll-reuseport", "floor-epoll-reuseport-server"),
    ("io-uring", "floor-uring-server"),
    ("mio", "floor-mio-server"),
    ("tokio-current-thread", "floor-tokio-current-thread-server"),
    ("tokio", "floor-tokio-server"),
    ("smol", "floor-smol-server"),
    ("may", "floor-may-server"),
    ("compio", "floor-compio-server"),
];

pub(super) fn run(bench: &Bench) -> Result<(), Box<dyn Error>> {
    for (model, floor) in FLOORS {
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
