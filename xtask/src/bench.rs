//! `cargo xtask bench`: what the instrument itself costs, as ratios between two things run in turn.
//!
//! Machines are shared and noisy, so no single figure counts: the two sides of a ratio alternate within a round, each on a
//! core of its own, and the median of at least six rounds is shown with its interval. The floors are minimal loops
//! (`examples/floor-*` of `throng-sys` and `throng-servers`) that neither verify nor record nor handle anything that goes wrong.

mod ballast;
mod churn;
mod connects;
mod curve;
mod generator;
mod hosts;
mod memory;
mod network;
mod noise;
mod observing;
mod pacing;
mod peers;
mod ratios;
mod servers;
mod services;
mod tables;

use std::error::Error;
use std::process::Command;

/// What every part of the bench needs to know.
pub(crate) struct Bench {
    rounds: u32,
    seconds: u64,
    connections: u32,
    ballast: bool,
}

/// Flags of `cargo xtask bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArguments {
    /// Only the parts named so: generator, servers, pacing, memory, observing, connects, churn, services, hosts, noise.
    parts: Vec<String>,
    /// Rounds of each comparison; an interval of the median needs six.
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    /// Seconds of each run.
    #[arg(long, default_value_t = 2)]
    seconds: u64,
    /// Connections that are opened where connecting is measured, in thousands rounded down.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1_000..=1_000_000))]
    connections: u32,
    /// Where connecting is measured, take nearly all memory first and give it back as it is needed: what a virtual machine's host must
    /// find for its guest's fresh pages is then not measured.
    #[arg(long)]
    ballast: bool,
}

/// Connections and bytes of every comparison.
const CONNECTIONS: u32 = 100;
const SIZE_BYTES: u32 = 6;
/// One core for each side.
const SERVER_CPU: u32 = 0;
const GENERATOR_CPU: u32 = 1;

type Part = fn(&Bench) -> Result<(), Box<dyn Error>>;
const PARTS: [(&str, Part); 10] = [
    ("generator", generator::run),
    ("servers", servers::run),
    ("pacing", pacing::run),
    ("memory", memory::run),
    ("observing", observing::run),
    ("connects", connects::run),
    ("churn", churn::run),
    ("services", services::run),
    ("hosts", hosts::run),
    ("noise", noise::run),
];

/// Builds what is measured, and runs the parts asked for (all, where none is).
///
/// # Errors
/// Where the build fails, a peer does not start, or a part's name is unknown.
pub(crate) fn run(arguments: &BenchArguments) -> Result<(), Box<dyn Error>> {
    if let Some(unknown) = arguments
        .parts
        .iter()
        .find(|part| PARTS.iter().all(|(name, _)| name != part))
    {
        let names = PARTS.map(|(name, _)| name).join(", ");
        return Err(format!("there is no part '{unknown}': {names}").into());
    }
    let is_asked = |name: &str| {
        arguments.parts.is_empty() || arguments.parts.iter().any(|asked| asked == name)
    };
    build()?;
    let bench = Bench {
        rounds: arguments.rounds,
        seconds: arguments.seconds,
        connections: arguments.connections / 1_000 * 1_000,
        ballast: arguments.ballast,
    };
    for (name, part) in PARTS {
        if is_asked(name) {
            part(&bench)?;
        }
    }
    Ok(())
}

fn build() -> Result<(), Box<dyn Error>> {
    for what in [
        &["--package", "throng"][..],
        &["--package", "throng-sys", "--examples"],
    ] {
        let status = Command::new(env!("CARGO"))
            .args(["build", "--release", "--quiet"])
            .args(what)
            .status()?;
        if !status.success() {
            return Err("the release build failed; `cargo build --release` shows why".into());
        }
    }
    Ok(())
}
