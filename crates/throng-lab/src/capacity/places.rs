//! The hosts that a plan asks something of: the machine itself, with both sides or with the server alone, and those that generate load.

use std::net::IpAddr;

use throng_findings::Limits;
use throng_record::division::part_of;
use throng_record::{BuiltInModel, Plan, Setting, TargetRecord};

use super::Demand;
use crate::plan::GeneratorHost;

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
pub(super) struct Place<'a> {
    /// `None`: the machine itself.
    pub(super) host: Option<&'a str>,
    pub(super) demand: Demand,
    pub(super) limits: &'a Limits,
}

/// Those of one target at one setting. `limits`: of this machine.
pub(super) fn places<'a>(
    plan: &Plan,
    target: &TargetRecord,
    setting: &Setting,
    models: &[BuiltInModel],
    limits: &'a Limits,
    from: LoadFrom<'a>,
) -> Vec<Place<'a>> {
    let demand = Demand::of(plan, target, setting, models);
    let LoadFrom::Hosts { generators, listen } = from else {
        return vec![Place {
            host: None,
            demand,
            limits,
        }];
    };
    let running = target.addresses.first().and_then(|text| text.parse().ok());
    let server = match running {
        Some(throng_sys::address::Address::Tcp(tcp)) => tcp.ip(),
        _ => listen,
    };
    let clients = setting.phases.clients(setting.connections).max(1);
    let (number, of_client) = (generators.len() as u32, setting.connections / clients);
    let parts = (0..number).map(|index| of_client * part_of(clients.into(), index, number) as u32);
    let generators = generators.iter().zip(parts).map(|(host, connections)| {
        let addresses = host.source_addresses(server).len() as u64;
        Place {
            host: Some(&host.name),
            demand: demand.of_generator(connections, addresses, setting),
            limits: &host.limits,
        }
    });
    let server = Place {
        host: None,
        demand: demand.of_server(),
        limits,
    };
    std::iter::once(server).chain(generators).collect()
}
