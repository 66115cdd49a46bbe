//! Finding the process of a server that somebody else started, where it runs on this host.

use std::collections::BTreeSet;
use std::net::{IpAddr, UdpSocket};

use throng_sys::address::Address;
use throng_sys::affinity::{self, CpuList};
use throng_sys::process_tree::ProcessTree;
use throng_sys::sock_diag;

/// Processes that can be observed, and where they may run.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) tree: ProcessTree,
    pub(crate) cpus: Vec<u32>,
}

/// The processes that hold the listeners at these addresses, each once, with their children; `None` where one of them is elsewhere, or not ours to look
/// into.
pub(crate) fn find_running(addresses: &[Address]) -> Option<Observed> {
    let owners: Option<BTreeSet<u32>> = addresses.iter().map(owner_of).collect();
    let owners = owners?;
    let trees: Vec<ProcessTree> = owners
        .iter()
        .map(|&owner| ProcessTree::of(owner).ok())
        .collect::<Option<_>>()?;
    let cpus = owners
        .into_iter()
        .flat_map(|owner| allowed_cpus_of(owner).unwrap_or_else(affinity::allowed_cpus));
    Some(Observed {
        tree: ProcessTree::joined(trees)?,
        cpus: cpus.collect::<BTreeSet<u32>>().into_iter().collect(),
    })
}

/// Of several that hold a listener (a parent and its workers) the one with the lowest id, nearly always the parent.
fn owner_of(address: &Address) -> Option<u32> {
    let inode = match address {
        Address::Tcp(tcp) if is_local(tcp.ip()) => sock_diag::find_listener(*tcp).ok()??.inode,
        Address::Tcp(_) => return None,
        Address::Unix(path) => sock_diag::find_unix_listener(path).ok()??.inode,
    };
    let mut pids: Vec<u32> = std::fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    sock_diag::owner_of(inode, &pids).ok()?
}

/// Whether it is an address of this host: only such a one can be bound. Without this a wildcard listener of ours would be
/// taken for the server at any address of the world.
pub(crate) fn is_local(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

fn allowed_cpus_of(pid: u32) -> Option<Vec<u32>> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    CpuList::parse(list).ok().map(|list| list.cpus)
}
