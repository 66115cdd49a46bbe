//! The processes that are measured: servers, the floors, and the generator, each pinned to its core and ended with us.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use throng_record::{
    Amount, Backend, ExchangeSpec, FleetSpec, LoadEvent, LoadJob, LoadRecord, Pacing, Protocol,
    SourceAddresses, Stop,
};
use throng_sys::{affinity, process, signal};

use super::{Bench, CONNECTIONS, GENERATOR_CPU, SERVER_CPU, SIZE_BYTES};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A server that runs until it is dropped.
pub(super) struct Server {
    child: Child,
    pub(super) address: String,
}

impl Server {
    /// A built-in model.
    pub(super) fn model(model: &str) -> Result<Self> {
        let mut command = Command::new(release("throng"));
        command.args([
            "serve",
            model,
            "--workload",
            "echo",
            "--listen",
            "127.0.0.1:0",
            "--backlog",
            "4096",
        ]);
        Self::start(command)
    }

    /// A minimal loop.
    pub(super) fn floor(name: &str) -> Result<Self> {
        let mut command = Command::new(release("examples").join(name));
        command.arg(SERVER_CPU.to_string());
        Self::start(command)
    }

    fn start(mut command: Command) -> Result<Self> {
        let mut child = pinned(command.stdout(Stdio::piped()), SERVER_CPU)?;
        let output = child.stdout.take().expect("piped");
        // From here on it is ended whatever happens.
        let mut server = Self {
            child,
            address: String::new(),
        };
        // Models say other things before.
        for line in BufReader::new(output).lines() {
            if let Some(address) = line?.strip_prefix("ready ") {
                address.clone_into(&mut server.address);
                return Ok(server);
            }
        }
        Err("the server did not say that it is ready".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The group is ours: `pinned` made it. An error means that it is gone already.
        let _ = signal::kill_group(self.child.id());
        let _ = self.child.wait();
    }
}

pub(super) fn release(name: &str) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    target.join("release").join(name)
}

/// Affinity is inherited, so ours is set for the moment of the spawn.
fn pinned(command: &mut Command, cpu: u32) -> Result<Child> {
    let before = affinity::allowed_cpus();
    affinity::set_current_thread(&[cpu])?;
    let child = signal::bind_to_parent(command).spawn();
    affinity::set_current_thread(&before)?;
    Ok(child?)
}

/// Replies per second of a minimal client.
pub(super) fn floor_client(bench: &Bench, name: &str, address: &str) -> Result<f64> {
    let arguments = [
        CONNECTIONS.into(),
        u64::from(SIZE_BYTES),
        bench.seconds,
        u64::from(GENERATOR_CPU),
    ];
    let output = Command::new(release("examples").join(name))
        .arg(address)
        .args(arguments.map(|argument| argument.to_string()))
        .stderr(Stdio::inherit())
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// A closed loop of the bench's shape; parts change what they need.
pub(super) fn job(bench: &Bench, address: &str, backend: Backend) -> LoadJob {
    LoadJob {
        fleet: FleetSpec {
            address: address.to_owned(),
            connections: CONNECTIONS,
            shards: 1,
            backend,
            source: SourceAddresses::Spread,
            cpus: vec![GENERATOR_CPU],
            nodelay: true,
            connect_concurrency: 64,
            connect_rate_per_second: None,
            closing: throng_record::Closing::Fin,
            connect_timeout_ns: 10_000_000_000,
            reply_timeout_ns: 10_000_000_000,
        },
        exchange: ExchangeSpec {
            protocol: Protocol::Echo {
                size_bytes: SIZE_BYTES,
            },
            connection: throng_record::ConnectionUse::Kept,
            verify: true,
            pacing: Pacing::Closed { outstanding: 1 },
            warmup: Amount::DurationNs(200_000_000),
            stop: Stop::DurationNs(bench.seconds * 1_000_000_000),
            seed: 1,
            serves_at_once: None,
        },
        work: throng_record::Work::Exchange,
    }
}

/// What a generator process measured, and what it cost.
pub(super) struct Generated {
    pub(super) record: LoadRecord,
    /// Its CPU time over the measured window.
    pub(super) cpu_ns: u64,
}

/// Runs the generator in a process of its own, as the lab does.
pub(super) fn generate(job: &LoadJob) -> Result<Generated> {
    let mut command = Command::new(release("throng"));
    let mut child = pinned(
        command
            .arg("load")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped()),
        GENERATOR_CPU,
    )?;
    let mut input = child.stdin.take().expect("piped");
    input.write_all(&serde_json::to_vec(job)?)?;
    drop(input);
    let output = child.stdout.take().expect("piped");
    let result = follow(child.id(), output);
    child.wait()?;
    result
}

fn follow(pid: u32, output: ChildStdout) -> Result<Generated> {
    let (mut started_ns, mut cpu_ns) = (0, 0);
    for line in BufReader::new(output).lines() {
        match serde_json::from_str(&line?)? {
            LoadEvent::Measuring => started_ns = process::cpu_time_ns(pid)?,
            LoadEvent::Measured => cpu_ns = process::cpu_time_ns(pid)? - started_ns,
            LoadEvent::Finished { record } if record.exchange.errors.total() == 0 => {
                return Ok(Generated {
                    record: *record,
                    cpu_ns,
                });
            }
            LoadEvent::Finished { record } => {
                return Err(format!("{:?}", record.exchange.errors).into());
            }
            LoadEvent::Failed { message } => return Err(message.into()),
            LoadEvent::Connected { .. } | LoadEvent::Phase { .. } | LoadEvent::Progress { .. } => {}
        }
    }
    Err("the generator ended without a record".into())
}
