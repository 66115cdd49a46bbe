//! What observing the accept queue and the handshakes costs of throughput: with the service time of the published experiment, and where
//! connections are all that happens, both cores are full, and the observers have no core of their own. Beside it what writing the handshakes to a
//! file costs.

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::peers::release;
use super::ratios::{Measured, compare};
use super::{Bench, CONNECTIONS, GENERATOR_CPU, SERVER_CPU};

/// A load: the service time, and the requests of each client in a second of the bench's runs, about as many as are served in it.
const LOADS: [(&str, u64); 2] = [("40ms", 25), ("0s", 200)];

pub(super) fn run(bench: &Bench) -> Result<(), Box<dyn Error>> {
    let runs = std::env::temp_dir().join(format!("throng-bench-{}", std::process::id()));
    let capture = runs.with_extension("pcapng");
    let outcome = LOADS.iter().try_for_each(|load| {
        let rate = |flags: &[&OsStr]| requests_per_second(bench, load, &runs, flags);
        let captured = ["--capture".as_ref(), capture.as_os_str()];
        let measured: [Measured<'_>; 3] = [
            (
                "not observed",
                Box::new(|| rate(&["--no-observe".as_ref()])),
            ),
            ("observed", Box::new(|| rate(&[]))),
            (
                "observed, handshakes captured",
                Box::new(|| rate(&captured)),
            ),
        ];
        let title = format!(
            "connections, each with one request of {}, epoll-edge",
            load.0
        );
        compare(bench, &title, "requests/s", &measured)
    });
    // Both are temporary.
    let _ = std::fs::remove_dir_all(&runs);
    let _ = std::fs::remove_file(&capture);
    outcome
}

/// One run of one trial.
fn requests_per_second(
    bench: &Bench,
    (service_time, requests_each_second): &(&str, u64),
    runs: &Path,
    flags: &[&OsStr],
) -> Result<f64, Box<dyn Error>> {
    let requests = requests_each_second * bench.seconds;
    let output = Command::new(release("throng"))
        .args(["backlog", "epoll-edge", "--service-time", service_time])
        .args(["--backlog", "1024", "--repeats", "1", "--patience", "0"])
        .args(["--clients", &CONNECTIONS.to_string()])
        .args(["--requests", &requests.to_string()])
        .args(["--cpus", &format!("{SERVER_CPU}:{GENERATOR_CPU}")])
        .arg("--runs-dir")
        .arg(runs)
        .args(flags)
        .output()?;
    let complaint = || String::from_utf8_lossy(&output.stderr).into_owned();
    let Ok(folder) = only_entry(runs) else {
        return Err(complaint().into());
    };
    let text = std::fs::read_to_string(folder.join("run.json"))?;
    std::fs::remove_dir_all(runs)?;
    let record = throng_record::schema::read(&text)?;
    // A neighbour's steal makes it no trial to rank; here both sides of the ratio have neighbours, and the median of rounds decides.
    let trial = record.trials.first().ok_or_else(complaint)?;
    let exchange = trial.phases.exchange().ok_or_else(complaint)?;
    if exchange.errors.total() > 0 || exchange.replies == 0 {
        return Err(complaint().into());
    }
    Ok(exchange.replies_per_second)
}

fn only_entry(directory: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let mut entries = std::fs::read_dir(directory)?;
    let entry = entries.next().ok_or("the run was not kept")?;
    Ok(entry?.path())
}
