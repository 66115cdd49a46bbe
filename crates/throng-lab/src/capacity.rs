//! Whether this machine has room for what a plan asks, told before it starts.
//!
//! [`shortages`] compares a [`Demand`] (connections, and what the model has for each) with [`Limits`] (of the process, the
//! network and the machine): two plain structs, so that any machine can be thought up. Each limit is compared by itself; those that a
//! kernel lacks are no limits. [`foresee`] makes the demands of a plan and puts the answer in words.
//!
//! What a connection takes was measured on Linux 6.18: 8.3 GB of kernel memory for 1,007,000 loopback connections with both ends. What a
//! model takes beside it is an allowance. Left out on purpose: what other programs need meanwhile, and limits that a command of the user's
//! sets itself.

mod demand;
mod foresight;
mod places;
#[cfg(test)]
mod tests;

pub use demand::{Demand, PerConnection};
pub use foresight::{Foresight, foresee};
pub use places::LoadFrom;

use throng_findings::limits::{
    Bound, CONNTRACK, EPOLL_WATCHES, FILE_MAX, Limits, MAPPINGS, OF_THREADS, TCP_MEM,
};

/// Something of which there is too little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// What, by the kernel's own name where it has one.
    pub what: String,
    /// Whether it is memory: short of that, other programs suffer too.
    pub is_memory: bool,
    /// How much would be needed; bytes where it is memory.
    pub needed: u64,
    /// How much there is, in the same unit.
    pub there_is: u64,
    /// Connections for which that is enough, about.
    pub holds_about: u64,
    /// What would let it hold all.
    pub remedy: String,
}

/// Descriptors of a shard of the generator that are no connections: the standard three and its epoll or ring, and as many to spare.
pub(crate) const OF_A_SHARD: u64 = 8;
/// The same of a server's table: the standard three, a listener, an epoll, what tells of the stop signal. A thread for each connection has 5 in all,
/// tokio 10; a loop with a table of its own 8, and it leaves 4 free (`places.rs` of throng-servers).
const OF_A_TABLE: u64 = 12;
/// Those of each further loop in the same table: an epoll, a listener, and its mailbox where one connection's line goes to all.
const OF_A_FURTHER_LOOP: u64 = 4;

/// Descriptors of one of a server's tables that are no connections, where the server has so many loops. Loops with tables of their own hold each
/// other's mailboxes, if they have any.
pub(crate) fn of_a_table(loops: u64, has_private_tables: bool, all_hear: bool) -> u64 {
    OF_A_TABLE
        + match (has_private_tables, all_hear) {
            (true, true) => 2 + loops,
            (true, false) => 2,
            (false, _) => OF_A_FURTHER_LOOP * loops.saturating_sub(1),
        }
}

/// Kernel memory of a connection with both ends here, and of one end.
const KERNEL_BYTES_BOTH_ENDS: u64 = 9 * 1024;
const KERNEL_BYTES_ONE_END: u64 = KERNEL_BYTES_BOTH_ENDS / 2;
/// What the generator has for a connection, and a server that keeps state only; of both an allowance.
const USER_BYTES: u64 = 512;
/// What TLS adds to that, at each end where it is rustls.
const TLS_BYTES: u64 = 8 * 1024;
/// The pages that a thread touches: its kernel stack (16 KiB), two or three of its own stack, and the kernel's account of it.
const THREAD_BYTES: u64 = 40 * 1024;
/// The same of a forked process, page tables included.
const PROCESS_BYTES: u64 = 400 * 1024;
/// Threads that others on the machine have, and the model itself.
const THREADS_OF_OTHERS: u64 = 400;
/// Mappings that a built-in server leaves to the rest of its process.
const MAPPINGS_OF_A_PROCESS: u64 = 1_024;

/// Everything of which there is too little, the narrowest first.
#[must_use]
pub fn shortages(demand: &Demand, limits: &Limits) -> Vec<Shortage> {
    let mut found: Vec<Shortage> = [
        descriptors_of_generator(demand, limits),
        descriptors_of_server(demand, limits),
        ports(demand, limits),
        memory(demand, limits),
    ]
    .into_iter()
    .chain(of_the_machine(demand, limits))
    .flatten()
    .chain(threads(demand, limits))
    .collect();
    found.sort_by_key(|shortage| shortage.holds_about);
    found
}

/// Memory that the connections take on this machine, in bytes.
#[must_use]
pub fn memory_bytes(demand: &Demand) -> u64 {
    let of_kernel = match demand.ends_here() {
        2 => KERNEL_BYTES_BOTH_ENDS,
        ends => ends * KERNEL_BYTES_ONE_END,
    };
    let of_tls = u64::from(demand.is_over_tls) * TLS_BYTES;
    let of_generator = u64::from(demand.generator_is_here) * (USER_BYTES + of_tls);
    let of_server = of_tls * u64::from(demand.each.is_some())
        + match demand.each {
            None => 0,
            Some(PerConnection::State) => USER_BYTES,
            Some(PerConnection::Threads(threads)) => USER_BYTES + u64::from(threads) * THREAD_BYTES,
            Some(PerConnection::Process) => PROCESS_BYTES,
        };
    demand.connections() * (of_kernel + of_generator + of_server)
        + u64::from(demand.services) * demand.service_bytes
}

/// A shortage where `each` × connections is more than `there_is`.
fn short(
    demand: &Demand,
    what: &str,
    each: u64,
    there_is: u64,
    remedy: impl FnOnce(u64) -> String,
) -> Option<Shortage> {
    let needed = demand.connections().saturating_mul(each);
    (needed > there_is).then(|| Shortage {
        what: what.to_owned(),
        is_memory: false,
        needed,
        there_is,
        holds_about: there_is / each.max(1),
        remedy: remedy(needed),
    })
}

fn descriptors_of_generator(demand: &Demand, limits: &Limits) -> Option<Shortage> {
    if !demand.generator_is_here {
        return None;
    }
    let shards = u64::from(demand.shards);
    let room = limits
        .open_files_hard
        .saturating_sub(OF_A_SHARD)
        .saturating_mul(shards);
    let what = "descriptors of the generator (RLIMIT_NOFILE of each shard)";
    short(demand, what, 1, room, |_| {
        "more shards, each of which has a table of its own: leave --shards out".to_owned()
    })
}

fn descriptors_of_server(demand: &Demand, limits: &Limits) -> Option<Shortage> {
    let tables = match (demand.tables, demand.each) {
        // Every connection has a process, and so a table, of its own; or the server is not launched here, and nothing is known of it.
        (_, Some(PerConnection::Process)) | (None, _) => return None,
        (Some(tables), _) => u64::from(tables),
    };
    let loops = demand.loops.into();
    let reserved = of_a_table(loops, demand.has_private_tables, demand.all_hear);
    let room = limits
        .open_files_hard
        .saturating_sub(reserved)
        .saturating_mul(tables);
    let what = "descriptors of the server (RLIMIT_NOFILE)";
    short(demand, what, 1, room, |needed| {
        let each = needed.div_ceil(tables.max(1)) + reserved;
        let raised = match limits.nr_open {
            Some(most) if each > most => format!(", fs.nr_open = {each} before it"),
            _ => String::new(),
        };
        match demand.has_private_tables {
            true => "more --workers, each of which has a table of its own".to_owned(),
            false => format!(
                "a hard limit of {each} (as root: ulimit -Hn {each}{raised}), or a model whose loops have tables of their own, such as epoll-shared"
            ),
        }
    })
}

fn ports(demand: &Demand, limits: &Limits) -> Option<Shortage> {
    let addresses = demand.source_addresses?;
    let (first, last) = demand.port_range.or(limits.ip_local_port_range)?;
    let each = u64::from(last.saturating_sub(first)) + 1;
    let what = "local ports (net.ipv4.ip_local_port_range × source addresses)";
    short(demand, what, 1, each.saturating_mul(addresses), |needed| {
        let number = needed.div_ceil(each);
        match demand.server_is_here {
            true => format!("{number} source addresses: leave --addresses kernel out"),
            false => format!(
                "{number} source addresses in the server's network (ip address add), named with --source where the load comes from this machine"
            ),
        }
    })
}

/// So many of a bound for each connection.
fn counted(demand: &Demand, limits: &Limits, bound: &Bound, each: u64) -> Option<Shortage> {
    let there_is = (bound.value)(limits)?;
    short(demand, bound.name, each, there_is, |needed| {
        bound.raised_to(needed)
    })
}

/// What is one for all: files, watches, tracked connections, buffers.
fn of_the_machine(demand: &Demand, limits: &Limits) -> [Option<Shortage>; 4] {
    let ends = demand.ends_here();
    let is_state = demand.each == Some(PerConnection::State);
    let watches = u64::from(demand.generator_uses_epoll) + u64::from(is_state);
    // An idle connection has no buffer, and one to which a line has come a page.
    let pages = u64::from(demand.all_hear);
    [
        counted(demand, limits, &FILE_MAX, ends),
        counted(demand, limits, &EPOLL_WATCHES, watches),
        tracked(demand, limits),
        counted(demand, limits, &TCP_MEM, pages),
    ]
}

/// A new network namespace has no rule that would track anything.
fn tracked(demand: &Demand, limits: &Limits) -> Option<Shortage> {
    let shortage = counted(
        demand,
        limits,
        &CONNTRACK,
        u64::from(!demand.is_private && demand.ends_here() > 0),
    )?;
    let remedy = match demand.ends_here() {
        2 => format!(
            "--net private, where nothing is tracked, or {}",
            shortage.remedy
        ),
        _ => shortage.remedy,
    };
    Some(Shortage { remedy, ..shortage })
}

fn memory(demand: &Demand, limits: &Limits) -> Option<Shortage> {
    let there_is = limits.memory_available_bytes?;
    let each = memory_bytes(demand) / demand.connections().max(1);
    let remedy = |_| "more memory".to_owned();
    let shortage = short(demand, "memory", each, there_is, remedy)?;
    Some(Shortage {
        is_memory: true,
        ..shortage
    })
}

/// Threads and processes meet several limits; the least is met first.
fn threads(demand: &Demand, limits: &Limits) -> Vec<Shortage> {
    let (each, are_threads) = match demand.each {
        Some(PerConnection::Threads(threads)) => (u64::from(threads), true),
        Some(PerConnection::Process) => (1, false),
        Some(PerConnection::State) | None => return vec![],
    };
    let shortage = |bound: &Bound, each: u64, of_others: u64| {
        let there_is = (bound.value)(limits)?;
        let room = there_is - of_others.min(there_is / 4);
        short(demand, bound.name, each, room, |needed| {
            bound.raised_to(needed + of_others)
        })
    };
    let direct = OF_THREADS.iter();
    let mut found: Vec<Shortage> = direct
        .filter_map(|bound| shortage(bound, each, THREADS_OF_OTHERS))
        .collect();
    if are_threads {
        let mappings = each * demand.mappings_of_thread;
        found.extend(shortage(&MAPPINGS, mappings, MAPPINGS_OF_A_PROCESS));
    }
    found
}
