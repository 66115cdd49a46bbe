//! The hosts that a plan asks something of: the machine itself, with both sides or with the server alone, and those that generate load.

use std::net::IpAddr;

use throng_findings::Limits;
use throng_record::division::part_of;
use throng_record::{BuiltInModel, Plan, Setting, SourceAddresses, TargetRecord};
use throng_sys::address::Address;

use super::{Demand, memory_bytes};
use crate::observer::is_local;
use crate::plan::{GeneratorHost, near, own_of};

/// Where the load comes from.
#[derive(Clone, Copy, Debug)]
pub enum LoadFrom<'a> {
    /// This machine.
    Here,
    /// Other hosts, of which each has a part of the connections.
    Hosts {
        /// Those.
        generators: &'a [GeneratorHost],
        /// Where launched servers listen.
        listen: IpAddr,
    },
}

/// A host, what is asked of it, and what it has.
pub(super) struct Place {
    /// `None`: the machine itself.
    pub(super) host: Option<String>,
    pub(super) demand: Demand,
    pub(super) limits: Limits,
}

/// Those of one target at one setting. `limits`: of this machine. What one place has of the memory of a machine the next ones on it do not have.
pub(super) fn places(
    plan: &Plan,
    target: &TargetRecord,
    setting: &Setting,
    models: &[BuiltInModel],
    limits: &Limits,
    from: LoadFrom<'_>,
) -> Vec<Place> {
    let demand = Demand::of(plan, target, setting, models);
    let LoadFrom::Hosts { generators, listen } = from else {
        return vec![Place {
            host: None,
            demand,
            limits: limits.clone(),
        }];
    };
    let running = server_address(target);
    let server = running.unwrap_or(listen);
    let clients = setting.phases.clients(setting.connections).max(1);
    let (number, of_client) = (generators.len() as u32, setting.connections / clients);
    let mut places = vec![Place {
        host: None,
        demand: demand.of_server(running.is_none_or(is_local)),
        limits: limits.clone(),
    }];
    let mut machines = vec![throng_sys::sysctl::read("kernel.random.boot_id").unwrap_or_default()];
    for (index, host) in (0..number).zip(generators) {
        let connections = of_client * part_of(clients.into(), index, number) as u32;
        let demand = demand.of_generator(connections, addresses(host, setting, server));
        let mut limits = host.limits.clone();
        let same = places.iter().zip(&machines);
        let same = same.filter(|(_, machine)| **machine == host.boot_id);
        let taken: u64 = same.map(|(place, _)| memory_bytes(&place.demand)).sum();
        if let Some(available) = &mut limits.memory_available_bytes {
            *available = available.saturating_sub(taken);
        }
        machines.push(host.boot_id.clone());
        places.push(Place {
            host: Some(name(host, index, generators)),
            demand,
            limits,
        });
    }
    // A server elsewhere asks nothing of the lab.
    places.retain(|place| place.demand.ends_here() > 0);
    places
}

/// Where one listens that runs already.
fn server_address(target: &TargetRecord) -> Option<IpAddr> {
    match target.addresses.first()?.parse().ok()? {
        Address::Tcp(tcp) => Some(tcp.ip()),
        Address::Unix(_) => None,
    }
}

/// Addresses that a host's connections come from; `None` where there are always enough.
fn addresses(host: &GeneratorHost, setting: &Setting, server: IpAddr) -> Option<u64> {
    let number = match &setting.source {
        SourceAddresses::Kernel => 1,
        SourceAddresses::Spread if server.is_loopback() => return None,
        SourceAddresses::Spread => near(&host.interfaces, server).len(),
        SourceAddresses::List(named) => own_of(named, &host.interfaces).len(),
    };
    // It has a route with an address in any case.
    Some(number.max(1) as u64)
}

/// With its rank where another is called the same.
fn name(host: &GeneratorHost, index: u32, all: &[GeneratorHost]) -> String {
    let namesakes = all.iter().filter(|other| other.name == host.name);
    match namesakes.count() {
        1 => host.name.clone(),
        _ => format!("{} (rank {})", host.name, index + 1),
    }
}
