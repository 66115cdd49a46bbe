//! The processes that are measured: servers, the floors, and the generator, each pinned to its core and ended with us.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use throng_record::{
    Amount, Backend, ExchangePhase, ExchangeSpec, FleetSpec, LoadEvent, LoadJob, LoadRecord,
    Pacing, Protocol, Sequence, SourceAddresses, Stop,
};
use throng_sys::namespace::Network;
use throng_sys::{affinity, process, signal};

use super::{Bench, CONNECTIONS, GENERATOR_CPU, SERVER_CPU, SIZE_BYTES};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A server that runs until it is dropped.
pub(super) struct Server {
    child: Child,
    pub(super) address: String,
}

impl Server {
    /// A built-in model that echoes.
    pub(super) fn model(model: &str) -> Result<Self> {
        Self::serving(model, "echo")
    }

    /// A built-in model that serves this workload.
    pub(super) fn serving(model: &str, workload: &str) -> Result<Self> {
        Self::model_in(model, workload, &[], &Network::own())
    }

    /// A built-in model with further flags, in this network.
    pub(super) fn model_in(
        model: &str,
        workload: &str,
        flags: &[&str],
        network: &Network,
    ) -> Result<Self> {
        let mut command = Command::new(release("throng"));
        command
            .args(["serve", model, "--workload", workload])
            .args(["--listen", "127.0.0.1:0", "--backlog", "4096"])
            .args(flags);
        Self::start(command, network)
    }

    /// A minimal loop.
    pub(super) fn floor(name: &str) -> Result<Self> {
        Self::floor_in(name, &[], &Network::own())
    }

    /// A minimal loop that is told more than its CPU, in this network.
    pub(super) fn floor_in(name: &str, arguments: &[u32], network: &Network) -> Result<Self> {
        let mut command = Command::new(release("examples").join(name));
        command
            .arg(SERVER_CPU.to_string())
            .args(arguments.iter().map(u32::to_string));
        Self::start(command, network)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn start(mut command: Command, network: &Network) -> Result<Self> {
        command.stdout(Stdio::piped());
        let mut child = pinned(&mut command, SERVER_CPU, network)?;
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
fn pinned(command: &mut Command, cpu: u32, network: &Network) -> Result<Child> {
    network.join(command);
    let before = affinity::allowed_cpus();
    affinity::set_current_thread(&[cpu])?;
    let child = signal::bind_to_parent(command).spawn();
    affinity::set_current_thread(&before)?;
    Ok(child?)
}

/// Replies per second of a minimal client.
pub(super) fn floor_client(bench: &Bench, name: &str, address: &str) -> Result<f64> {
    let seconds = bench.seconds as u32;
    let arguments = [CONNECTIONS, SIZE_BYTES, seconds, GENERATOR_CPU];
    let output = floor(name, address, &arguments, &Network::own())?;
    Ok(output.trim().parse()?)
}

/// What a minimal client prints; it pins itself.
pub(super) fn floor(
    name: &str,
    address: &str,
    arguments: &[u32],
    network: &Network,
) -> Result<String> {
    let mut command = Command::new(release("examples").join(name));
    command
        .arg(address)
        .args(arguments.iter().map(u32::to_string))
        .stderr(Stdio::inherit());
    network.join(&mut command);
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{name} failed ({}); it says why above", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// A closed loop of the bench's shape; parts change what they need.
pub(super) fn job(bench: &Bench, address: &str, backend: Backend) -> LoadJob {
    LoadJob {
        fleet: FleetSpec {
            addresses: vec![address.to_owned()],
            first_connection: 0,
            connections: CONNECTIONS,
            serves_at_once: None,
            shards: 1,
            backend,
            source: SourceAddresses::Spread,
            cpus: vec![GENERATOR_CPU],
            nodelay: true,
            connect_concurrency: 64,
            connect_rate_per_second: None,
            closing: throng_record::Closing::Fin,
            seed: 1,
            connect_timeout_ns: 10_000_000_000,
            reply_timeout_ns: 10_000_000_000,
            tls: None,
        },
        phases: Sequence::of_exchange(ExchangeSpec {
            protocol: Protocol::Echo {
                size_bytes: SIZE_BYTES,
            },
            connection: throng_record::ConnectionUse::Kept,
            verify: true,
            pacing: Pacing::Closed { outstanding: 1 },
            warmup: Amount::DurationNs(200_000_000),
            stop: Stop::DurationNs(bench.seconds * 1_000_000_000),
        }),
    }
}

/// What a generator process measured, and what it cost.
pub(super) struct Generated {
    pub(super) record: LoadRecord,
    /// Its CPU time over the measured window.
    pub(super) cpu_ns: u64,
}

impl Generated {
    /// Of a job that has an exchange.
    pub(super) fn exchange(&self) -> Result<&ExchangePhase> {
        let exchange = self.record.phases.exchange();
        exchange.ok_or_else(|| "the generator did not come to its exchange".into())
    }
}

/// Called at each event of a generator that waits for an answer, which it gets afterwards.
pub(super) type Watcher<'a> = &'a mut dyn FnMut(&LoadEvent) -> Result<()>;

/// Runs the generator in a process of its own, as the lab does.
pub(super) fn generate(job: &LoadJob) -> Result<Generated> {
    generate_in(job, &Network::own(), &mut |_| Ok(()))
}

/// The same in this network.
pub(super) fn generate_in(
    job: &LoadJob,
    network: &Network,
    watcher: Watcher<'_>,
) -> Result<Generated> {
    let mut command = Command::new(release("throng"));
    command
        .arg("load")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = pinned(&mut command, GENERATOR_CPU, network)?;
    let mut input = child.stdin.take().expect("piped");
    let mut line = serde_json::to_vec(job)?;
    line.push(b'\n');
    input.write_all(&line)?;
    let result = follow(&mut child, &mut input, watcher);
    // Where there is no record, nobody answers it any more.
    drop(input);
    child.wait()?;
    result
}

fn follow(child: &mut Child, input: &mut ChildStdin, watcher: Watcher<'_>) -> Result<Generated> {
    let pid = child.id();
    let output = child.stdout.take().expect("piped");
    let (mut started_ns, mut cpu_ns) = (0, 0);
    for line in BufReader::new(output).lines() {
        let event: LoadEvent = serde_json::from_str(&line?)?;
        if event.awaits_answer() {
            watcher(&event)?;
            input.write_all(b"\n")?;
        }
        match event {
            LoadEvent::Measuring => started_ns = process::cpu_time_ns(pid)?,
            LoadEvent::Measured => cpu_ns = process::cpu_time_ns(pid)? - started_ns,
            LoadEvent::Finished { record } => {
                let errors = record.phases.exchange().map(|phase| &phase.errors);
                if let Some(errors) = errors.filter(|errors| errors.total() > 0) {
                    return Err(format!("{errors:?}").into());
                }
                return Ok(Generated {
                    record: *record,
                    cpu_ns,
                });
            }
            LoadEvent::Failed { message } => return Err(message.into()),
            LoadEvent::Phase { .. } | LoadEvent::Progress { .. } => {}
        }
    }
    Err("the generator ended without a record".into())
}
