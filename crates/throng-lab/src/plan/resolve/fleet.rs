//! Who exchanges it: addresses, CPUs, shards, back end, time limits.

use std::net::IpAddr;
use std::time::Duration;

use throng_record::plan::{Experiment, ListenFamily};
use throng_record::{Backend, SourceAddresses, TargetKind, TargetRecord};
use throng_sys::address::Address;
use throng_sys::affinity::CpuList;

use super::exchange::is_rate;
use super::{not_zero, tables, tell};
use crate::capacity::OF_A_SHARD;
use crate::plan::draft::Point;
use crate::plan::value::{Addresses, BackendChoice, CpuChoice};
use crate::plan::{Environment, PlanError, nanoseconds};

/// Connects in flight at once, per shard: enough to keep a listener busy, and far below any backlog.
const CONNECT_CONCURRENCY: u32 = 64;

/// The CPUs of each side; empty: any.
pub(super) struct Cpus {
    pub(super) server: Vec<u32>,
    pub(super) generator: Vec<u32>,
}

pub(super) struct Timeouts {
    pub(super) connect_ns: u64,
    pub(super) reply_ns: u64,
    pub(super) ready_ns: u64,
}

pub(super) fn backend(point: &Point, environment: &Environment) -> Result<Backend, PlanError> {
    match (
        point.backend.unwrap_or_else(|| point.usual("backend")),
        &environment.io_uring_obstacle,
    ) {
        (BackendChoice::Epoll, _) | (BackendChoice::Auto, Some(_)) => Ok(Backend::Epoll),
        (BackendChoice::Auto | BackendChoice::IoUring, None) => Ok(Backend::IoUring),
        (BackendChoice::IoUring, Some(obstacle)) => Err(PlanError::IoUring(obstacle.clone())),
    }
}

/// Explicit choices are checked; by default the server gets the first half of the allowed CPUs and the generator the rest,
/// and on a single CPU neither is pinned. Where nothing is launched there is no server to make room for.
pub(super) fn cpus(
    point: &Point,
    environment: &Environment,
    targets: &[TargetRecord],
    notes: &mut Vec<String>,
) -> Result<Cpus, PlanError> {
    let allowed = &environment.cpus_allowed;
    match &point.cpus {
        Some(CpuChoice::Any) => Ok(Cpus {
            server: vec![],
            generator: vec![],
        }),
        Some(CpuChoice::Pinned { server, generator }) => {
            let server = explicit("server", server.as_deref(), allowed)?;
            let generator = explicit("generator", generator.as_deref(), allowed)?;
            let rest = |taken: &[u32]| -> Vec<u32> {
                allowed
                    .iter()
                    .copied()
                    .filter(|cpu| !taken.contains(cpu))
                    .collect()
            };
            let server = server.unwrap_or_else(|| generator.as_deref().map_or(vec![], rest));
            let generator = generator.unwrap_or_else(|| rest(&server));
            if server.iter().any(|cpu| generator.contains(cpu)) {
                tell(
                    notes,
                    format!(
                        "server and generator share CPUs ({} and {}): each takes time from the other",
                        CpuList::from(server.clone()),
                        CpuList::from(generator.clone())
                    ),
                );
            }
            Ok(Cpus { server, generator })
        }
        None if targets
            .iter()
            .all(|target| target.kind == TargetKind::Running) =>
        {
            Ok(Cpus {
                server: vec![],
                generator: vec![],
            })
        }
        None if allowed.len() < 2 => {
            tell(
                notes,
                "only one CPU may be used here: server and generator take turns on it, and the figures are of both".to_owned(),
            );
            Ok(Cpus {
                server: vec![],
                generator: vec![],
            })
        }
        None => {
            let (server, generator) = allowed.split_at(allowed.len() / 2);
            Ok(Cpus {
                server: server.to_vec(),
                generator: generator.to_vec(),
            })
        }
    }
}

pub(super) fn explicit(
    side: &'static str,
    cpus: Option<&[u32]>,
    allowed: &[u32],
) -> Result<Option<Vec<u32>>, PlanError> {
    let Some(cpus) = cpus else { return Ok(None) };
    match cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        Some(&cpu) => Err(PlanError::CpuNotThere {
            side,
            cpu,
            allowed: CpuList::from(allowed.to_vec()).to_string(),
        }),
        None => Ok(Some(CpuList::from(cpus.to_vec()).cpus)),
    }
}

/// By default one for each CPU of the generator, 1 where it is not pinned, as many more as need a descriptor table, and never more than connections.
pub(super) fn shards(
    point: &Point,
    connections: u32,
    generator_cpus: &[u32],
    open_files_hard: u64,
) -> Result<u32, PlanError> {
    match point.shards {
        Some(0) => Err(PlanError::Zero {
            key: "shards",
            why: "nobody would send",
            example: "1",
        }),
        Some(shards) if shards > connections => Err(PlanError::MoreShardsThanConnections {
            shards,
            connections,
        }),
        Some(shards) => Ok(shards),
        None => {
            let tables = tables::needed(connections, open_files_hard, OF_A_SHARD);
            Ok((generator_cpus.len() as u32).max(tables).min(connections))
        }
    }
}

/// How connects follow one another.
pub(super) struct Connects {
    pub(super) concurrency: u32,
    pub(super) rate_per_second: Option<f64>,
}

/// A fan-out connects one by one, as published. Otherwise as many are in flight, per shard, as keep a listener busy, and together no more
/// than its accept queue holds.
pub(super) fn connects(
    point: &Point,
    experiment: Experiment,
    shards: u32,
    backlog: u32,
) -> Result<Connects, PlanError> {
    let usual = match experiment {
        Experiment::Fanout => point.usual("connect-concurrency"),
        Experiment::Hold | Experiment::Phases => {
            (backlog / 4 * 3 / shards).clamp(2, CONNECT_CONCURRENCY)
        }
        _ => CONNECT_CONCURRENCY,
    };
    if let Some(rate) = point.connect_rate.filter(|&rate| !is_rate(rate)) {
        return Err(PlanError::Rate {
            key: "connect-rate",
            rate,
            of_what: "connects",
            example: 1_000,
        });
    }
    let why = "nobody would connect";
    Ok(Connects {
        concurrency: not_zero(
            "connect-concurrency",
            point.connect_concurrency,
            usual,
            why,
            "64",
        )?,
        rate_per_second: point.connect_rate,
    })
}

pub(super) fn source(
    list: Option<&[IpAddr]>,
    point: &Point,
    targets: &[TargetRecord],
    family: ListenFamily,
) -> Result<SourceAddresses, PlanError> {
    let Some(list) = list else {
        let usual = || point.usual("addresses");
        return Ok(match point.addresses.unwrap_or_else(usual) {
            Addresses::Kernel => SourceAddresses::Kernel,
            Addresses::Spread => SourceAddresses::Spread,
        });
    };
    if point.addresses.is_some() {
        return Err(PlanError::Conflict {
            key: "source",
            other: "addresses",
            why: "both say where connections come from",
        });
    }
    if list.is_empty() {
        return Err(PlanError::Text {
            key: "source",
            text: "[]".to_owned(),
            why: "no address to connect from; name at least one, or leave it out".to_owned(),
        });
    }
    for target in targets {
        let is_ipv4 = target_is_ipv4(target, family).ok_or_else(|| PlanError::SourceWithUnix {
            target: target.name.clone(),
        })?;
        if let Some(&source_address) = list.iter().find(|source| source.is_ipv4() != is_ipv4) {
            return Err(PlanError::SourceFamily {
                source_address,
                target: target.name.clone(),
            });
        }
    }
    Ok(SourceAddresses::List(list.to_vec()))
}

/// `None` for a Unix socket.
fn target_is_ipv4(target: &TargetRecord, family: ListenFamily) -> Option<bool> {
    let running = target
        .address
        .as_ref()
        .and_then(|address| address.parse::<Address>().ok());
    match (running, family) {
        (Some(Address::Tcp(address)), _) => Some(address.is_ipv4()),
        (Some(Address::Unix(_)), _) | (None, ListenFamily::Unix) => None,
        (None, ListenFamily::Ipv4) => Some(true),
        (None, ListenFamily::Ipv6) => Some(false),
    }
}

pub(super) fn timeouts(point: &Point) -> Result<Timeouts, PlanError> {
    let timeout = |key, duration: Option<Duration>| {
        let duration = duration.unwrap_or_else(|| point.usual(key));
        match duration {
            Duration::ZERO => Err(PlanError::Zero {
                key,
                why: "it would be over before it began",
                example: "\"10s\"",
            }),
            duration => Ok(nanoseconds(duration)),
        }
    };
    Ok(Timeouts {
        connect_ns: timeout("connect-timeout", point.connect_timeout)?,
        reply_ns: timeout("timeout", point.timeout)?,
        ready_ns: timeout("ready-timeout", point.ready_timeout)?,
    })
}
