//! The event-loop servers against a minimal loop over epoll, all driven by the generator's faster back end.
//!
//! All of them have one CPU, so those with a loop for each CPU have one loop, as the minimal one does: what is compared is the cost
//! of a message, not what several CPUs bring.

use std::error::Error;
use std::process::Command;

use throng_record::Backend;

use super::Bench;
use super::peers::{Server, generate, job, release};
use super::ratios::{Measured, compare};

const FLOOR: &str = "floor-epoll-server";

pub(super) fn run(bench: &Bench) -> Result<(), Box<dyn Error>> {
    for model in &event_driven()? {
        let of = |start: &dyn Fn() -> Result<Server, Box<dyn Error>>| {
            let server = start()?;
            let generated = generate(&job(bench, &server.address, Backend::IoUring))?;
            Ok(generated.exchange()?.replies_per_second)
        };
        let measured: [Measured<'_>; 2] = [
            (FLOOR, Box::new(|| of(&|| Server::floor(FLOOR)))),
            (model.as_str(), Box::new(|| of(&|| Server::model(model)))),
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

/// The models in which a connection that waits blocks no thread or process: the others have no loop to compare.
fn event_driven() -> Result<Vec<String>, Box<dyn Error>> {
    let listed = Command::new(release("throng"))
        .args(["servers", "--format", "json"])
        .output()?;
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout)?;
    let models = listed["built_in"].as_array().ok_or("no list of servers")?;
    let is_blocking = |model: &&serde_json::Value| {
        matches!(model["family"].as_str(), Some("threads" | "processes"))
    };
    Ok(models
        .iter()
        .filter(|model| !is_blocking(model))
        .filter_map(|model| Some(model["model"].as_str()?.to_owned()))
        .collect())
}
