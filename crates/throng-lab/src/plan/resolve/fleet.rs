//! Who exchanges it: addresses, shards, back end, time limits.

use std::net::IpAddr;
use std::time::Duration;

use throng_record::plan::ListenFamily;
use throng_record::{Backend, SourceAddresses, TargetRecord};
use throng_sys::address::Address;

use super::tables;
use crate::capacity::OF_A_SHARD;
use crate::plan::draft::Point;
use crate::plan::error::{is_rate, not_zero};
use crate::plan::experiments::Asked;
use crate::plan::keys::{self, Usual};
use crate::plan::value::{Addresses, BackendChoice};
use crate::plan::{Environment, PlanError, nanoseconds};

/// Connects in flight at once, per shard: enough to keep a listener busy, and far below any backlog.
const CONNECT_CONCURRENCY: u32 = 64;

pub(super) struct Timeouts {
    pub(super) connect_ns: u64,
    pub(super) reply_ns: u64,
    pub(super) ready_ns: u64,
}

pub(super) fn backend(point: &Point, environment: &Environment) -> Result<Backend, PlanError> {
    match (
        point.backend.unwrap_or_else(|| point.usual("backend")),
        environment.io_uring_obstacle_of_generators(),
    ) {
        (BackendChoice::Epoll, _) | (BackendChoice::Auto, Some(_)) => Ok(Backend::Epoll),
        (BackendChoice::Auto | BackendChoice::IoUring, None) => Ok(Backend::IoUring),
        (BackendChoice::IoUring, Some(obstacle)) => Err(PlanError::IoUring(obstacle)),
    }
}

/// Of each generator. By default one for each of its CPUs, 1 where it is not pinned and is here, as many more as need a descriptor table, and never more than
/// connections.
pub(super) fn shards(
    point: &Point,
    asked: &Asked,
    generator_cpus: &[u32],
    environment: &Environment,
) -> Result<u32, PlanError> {
    let connections = asked.connections;
    let cpus = match generator_cpus.len() {
        0 => environment.fewest_cpus_elsewhere(),
        pinned => pinned as u32,
    };
    // What belongs together is one thread's.
    let most = asked.phases.clients(connections);
    match point.shards {
        Some(0) => Err(PlanError::Zero {
            key: "shards",
            why: "nobody would send",
            example: "1",
        }),
        Some(shards) if shards > most => Err(PlanError::MoreShardsThanConnections {
            shards,
            connections: most,
        }),
        Some(shards) => Ok(shards),
        None => {
            let own = connections.div_ceil(environment.number_of_generators());
            let limit = environment.open_files_of_generators();
            let tables = tables::needed(own, limit, OF_A_SHARD);
            Ok(cpus.max(tables).min(most))
        }
    }
}

/// How connects follow one another.
pub(super) struct Connects {
    pub(super) concurrency: u32,
    pub(super) rate_per_second: Option<f64>,
}

/// As many in flight, per shard, as keep a listener busy, and together, those of all generators, no more than its accept queue holds, unless the experiment has another
/// number.
pub(super) fn connects(point: &Point, shards: u32, backlog: u32) -> Result<Connects, PlanError> {
    let usual = match keys::find("connect-concurrency").map(|key| key.usual_with(point.own)) {
        Some(Usual::Value(_)) => point.usual("connect-concurrency"),
        _ => (backlog / 4 * 3 / shards).clamp(2, CONNECT_CONCURRENCY),
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
        .addresses
        .first()
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
