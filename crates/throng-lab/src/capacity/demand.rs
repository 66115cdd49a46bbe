//! What a plan asks of the machine at one setting of one target.

use throng_findings::limits::mappings_of_thread;
use throng_record::built_in::ServesAtOnce;
use throng_record::plan::ListenFamily;
use throng_record::{
    Backend, BuiltInModel, DeclaredModel, Network, PhaseName, Plan, Setting, SourceAddresses,
    TargetKind, TargetRecord,
};
use throng_sys::address::Address;

use crate::plan::model_of;
use crate::tls;

/// Connections, and what they need at both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// How many.
    pub connections: u32,
    /// Processes of the server that are one target together.
    pub services: u32,
    /// What each of them takes before anybody connects, in bytes; of a single one it is not asked about.
    pub service_bytes: u64,
    /// Shards of the generator, each with a descriptor table.
    pub shards: u32,
    /// Whether the generator waits by epoll.
    pub generator_uses_epoll: bool,
    /// Whether the server's ends are on this machine.
    pub server_is_here: bool,
    /// Whether the generator's are.
    pub generator_is_here: bool,
    /// Descriptor tables of the server; `None` where its model is not known, or serves few at once anyway.
    pub tables: Option<u32>,
    /// Loops or workers of the server, at least 1.
    pub loops: u32,
    /// Whether more workers would be more tables.
    pub has_private_tables: bool,
    /// What the server has for each connection; `None` where it is not known.
    pub each: Option<PerConnection>,
    /// Addresses that connections come from; `None` where there are always enough, or no ports.
    pub source_addresses: Option<u64>,
    /// The range of local ports, where the plan sets it.
    pub port_range: Option<(u16, u16)>,
    /// Whether both sides are in a network of their own.
    pub is_private: bool,
    /// Mappings of one of the server's threads.
    pub mappings_of_thread: u64,
    /// Whether a line comes to every connection at the same time.
    pub all_hear: bool,
    /// Whether each connection has the state of a cipher at both ends.
    pub is_over_tls: bool,
}

impl Demand {
    /// That of one target at one setting.
    #[must_use]
    pub fn of(
        plan: &Plan,
        target: &TargetRecord,
        setting: &Setting,
        models: &[BuiltInModel],
    ) -> Self {
        let model = model_of(models, target)
            .filter(|model| model.serves_at_once == ServesAtOnce::Unbounded);
        let loops = |model: &BuiltInModel| {
            let usual = model.workers.usual(setting.server_cpus.len() as u32);
            let workers = target.options.workers.or(setting.workers);
            workers.or(usual).unwrap_or(1).max(1)
        };
        let tables = |model: &BuiltInModel| {
            if model.has_private_tables {
                loops(model)
            } else {
                1
            }
        };
        let place = Place::of(target, setting.listen);
        Self {
            connections: setting.connections,
            services: setting.services,
            service_bytes: service_bytes(target, setting),
            shards: setting.shards,
            generator_uses_epoll: setting.backend == Backend::Epoll,
            server_is_here: place != Place::Elsewhere,
            generator_is_here: true,
            tables: model
                .map(tables)
                .or_else(|| declared(target)?.0)
                .map(|tables| tables * setting.services),
            loops: model.map_or(1, loops),
            has_private_tables: model.is_some_and(|model| model.has_private_tables),
            each: model
                .map(|model| PerConnection::of(model.kind()))
                .or_else(|| Some(declared(target)?.1)),
            source_addresses: match (&setting.source, place) {
                (_, Place::Path) | (SourceAddresses::Spread, Place::Loopback4) => None,
                (SourceAddresses::List(list), _) => Some(list.len() as u64),
                (SourceAddresses::Spread | SourceAddresses::Kernel, _) => Some(1),
            },
            port_range: setting
                .kernel
                .get("net.ipv4.ip_local_port_range")
                .and_then(|range| {
                    let mut ends = range.split_whitespace().map(str::parse);
                    Some((ends.next()?.ok()?, ends.next()?.ok()?))
                }),
            is_private: plan.net == Network::Private && target.kind != TargetKind::Running,
            mappings_of_thread: mappings_of_thread(target.kind),
            all_hear: setting.phases.has(PhaseName::Get),
            is_over_tls: tls::is_spoken(target, setting),
        }
    }

    /// The server's part of it, where the load comes from other hosts.
    pub(super) fn of_server(&self, server_is_here: bool) -> Self {
        Self {
            server_is_here,
            generator_is_here: false,
            generator_uses_epoll: false,
            source_addresses: None,
            ..self.clone()
        }
    }

    /// The part of a host that generates load for so many of the connections, from so many addresses.
    pub(super) fn of_generator(&self, connections: u32, source_addresses: Option<u64>) -> Self {
        Self {
            connections,
            server_is_here: false,
            services: 0,
            tables: None,
            each: None,
            source_addresses,
            port_range: None,
            is_private: false,
            all_hear: false,
            ..self.clone()
        }
    }

    /// Ends of each connection that are on this machine.
    pub(super) fn ends_here(&self) -> u64 {
        u64::from(self.server_is_here) + u64::from(self.generator_is_here)
    }

    pub(super) fn connections(&self) -> u64 {
        self.connections.into()
    }
}

/// An interpreter or a runtime with its libraries, the JVM's being the largest (docs/results/services.md); a built-in server. Those that run already have
/// taken theirs.
fn service_bytes(target: &TargetRecord, setting: &Setting) -> u64 {
    let language = target.catalogue.as_ref().map(|one| one.language.as_str());
    match (target.kind, setting.services) {
        (TargetKind::Catalogue, 2..) if language == Some("java") => 130 << 20,
        (_, 1) | (TargetKind::Running | TargetKind::Multiplexer, _) => 0,
        (TargetKind::BuiltIn, _) => 2 << 20,
        (TargetKind::Catalogue | TargetKind::Command, _) => 20 << 20,
    }
}

/// Descriptor tables, and what there is for each connection, as a catalogued server declares; it shares one table where it is one
/// process.
fn declared(target: &TargetRecord) -> Option<(Option<u32>, PerConnection)> {
    let model = target.catalogue.as_ref()?.model?;
    let tables = match model {
        DeclaredModel::EventLoopProcesses => None,
        // It serves few at once.
        DeclaredModel::ThreadPool | DeclaredModel::ProcessPool => return None,
        _ => Some(1),
    };
    Some((tables, PerConnection::of(model)))
}

/// What a server has for each connection beyond its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerConnection {
    /// State in an event loop, or nothing.
    State,
    /// So many threads.
    Threads(u32),
    /// A process.
    Process,
}

impl PerConnection {
    /// That of a server of this kind.
    #[must_use]
    pub fn of(model: DeclaredModel) -> Self {
        match model {
            DeclaredModel::ThreadPerConnection => Self::Threads(1),
            DeclaredModel::TwoThreadsPerConnection => Self::Threads(2),
            DeclaredModel::ProcessPerConnection => Self::Process,
            DeclaredModel::EventLoop
            | DeclaredModel::EventLoops
            | DeclaredModel::EventLoopProcesses
            | DeclaredModel::Tasks
            | DeclaredModel::TasksOnThreads
            | DeclaredModel::ThreadPool
            | DeclaredModel::ProcessPool => Self::State,
        }
    }
}

/// Where the server listens, as seen from here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Loopback4,
    Loopback6,
    Path,
    Elsewhere,
}

impl Place {
    fn of(target: &TargetRecord, listen: ListenFamily) -> Self {
        let running = target.addresses.first().map(|address| address.parse());
        match (running, listen) {
            (Some(Ok(Address::Unix(_))), _) | (None, ListenFamily::Unix) => Self::Path,
            (Some(Ok(Address::Tcp(tcp))), _) if !tcp.ip().is_loopback() => Self::Elsewhere,
            (Some(Ok(Address::Tcp(tcp))), _) if tcp.is_ipv6() => Self::Loopback6,
            (None, ListenFamily::Ipv6) => Self::Loopback6,
            (Some(Ok(Address::Tcp(_))), _) | (None, ListenFamily::Ipv4) => Self::Loopback4,
            // An address that resolved once does so again.
            (Some(Err(_)), _) => Self::Elsewhere,
        }
    }
}
