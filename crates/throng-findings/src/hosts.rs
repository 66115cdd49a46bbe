//! Where the load comes from other hosts: what was seen of each, and whose kernel counts what.
//!
//! Where there are none, both sides share one kernel, and its counters are those of both. Otherwise the lab's host has the server's, as far as the
//! server is there, and each generating host its own: this is the one place that knows which counter is of which side.

use std::collections::BTreeMap;

use throng_record::format::list;
use throng_record::{HostPart, SideRecord, Trial};

use crate::cpu_time::{Others, Stolen};
use crate::limit::busy;

/// A generator, and how many of its threads can run at once.
pub(crate) type Generator<'a> = (&'a SideRecord, u32);

/// The generator of each host, or the only one; `None` for one that was not seen.
pub(crate) fn generators(trial: &Trial) -> Vec<Option<Generator<'_>>> {
    if trial.hosts.is_empty() {
        let shards = trial.job.fleet.shards;
        return vec![trial.generator.as_ref().map(|side| (side, shards))];
    }
    let hosts = trial.hosts.iter();
    hosts.map(|host| generator_of(trial, host)).collect()
}

fn generator_of<'a>(trial: &Trial, host: &'a HostPart) -> Option<Generator<'a>> {
    let shards = trial.job.fleet.shards.min(host.connections);
    Some((host.generator.as_ref()?, shards))
}

/// How busy the generator of each host was, by its host's name; only those that are known, and none where there are no hosts.
pub(crate) fn busy_by_name(trial: &Trial) -> Vec<(String, f64)> {
    let of_host = |host: &HostPart| {
        let (side, shards) = generator_of(trial, host)?;
        Some((host.in_words(&trial.hosts), busy(side, shards)?))
    };
    trial.hosts.iter().filter_map(of_host).collect()
}

/// `the generator`, and of several the one that was busiest.
pub(crate) fn busiest_in_words(trial: &Trial) -> String {
    let all = busy_by_name(trial).into_iter();
    let busiest = all.max_by(|(_, one), (_, other)| one.total_cmp(other));
    busiest.map_or_else(
        || "the generator".to_owned(),
        |(name, _)| format!("the generator on host {name}"),
    )
}

/// `host gen1`, `hosts gen1 and gen2`.
#[must_use]
pub fn in_words(names: &[String]) -> String {
    let noun = if names.len() == 1 { "host" } else { "hosts" };
    format!("{noun} {}", list(names))
}

/// What the hypervisor took of the CPUs of a host's generator.
pub(crate) fn stolen(host: &HostPart) -> Option<Stolen> {
    let (all_ns, cpus) = cpu_time(host)?;
    Some(Stolen {
        stolen_ns: (host.stolen_share? * all_ns as f64).round() as u64,
        all_ns,
        cpus,
    })
}

/// What other programs used of them.
pub(crate) fn others(host: &HostPart) -> Option<Others> {
    let (all_ns, cpus) = cpu_time(host)?;
    Some(Others {
        whose: "",
        used_ns: (host.others_share? * all_ns as f64).round() as u64,
        all_ns,
        cpus,
        waited_ns: host.generator.as_ref()?.run_delay_ns,
    })
}

/// All the time of a generator's CPUs in the window, and how many they are.
fn cpu_time(host: &HostPart) -> Option<(u64, u64)> {
    let side = host.generator.as_ref()?;
    let cpus = side.cpus.len() as u64;
    Some((side.window_ns * cpus, cpus))
}

/// Whose kernel counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedBy {
    Server,
    Generators,
    Both,
}

fn counted_by(counter: &str) -> CountedBy {
    match counter {
        // Who receives a reply in two pieces delays the ACK between them.
        "TcpExt.DelayedACKs" => CountedBy::Generators,
        // SYNs that clients send again, and SYN-ACKs that the server does (net/ipv4/tcp_output.c).
        "TcpExt.TCPSynRetrans" => CountedBy::Both,
        // Whoever sends the first FIN keeps the socket.
        "Sockstat.TimeWait" | "TcpExt.TCPTimeWaitOverflow" => CountedBy::Both,
        // ListenOverflows, ListenDrops, SYN cookies, the request queue: of a listener.
        _ => CountedBy::Server,
    }
}

/// By how much a counter changed in the networks of the sides that move it; 0 where it did not, or is not known. `is_server_here`: whether the
/// lab's host, whose counters the trial has, is the server's.
#[must_use]
pub fn counter_change(trial: &Trial, counter: &str, is_server_here: bool) -> i64 {
    let of_lab = || trial.kernel_counters.get(counter).copied().unwrap_or(0);
    let of_server = if is_server_here { of_lab() } else { 0 };
    if trial.hosts.is_empty() {
        return of_server;
    }
    match counted_by(counter) {
        CountedBy::Server => of_server,
        CountedBy::Generators => of_generators(&trial.hosts, counter),
        CountedBy::Both => of_server + of_generators(&trial.hosts, counter),
    }
}

/// Over all networks. Generators on one host share its network, whose counters each of them has: the greatest change counts, as of the longest look.
fn of_generators(hosts: &[HostPart], counter: &str) -> i64 {
    let mut by_name: BTreeMap<&str, i64> = BTreeMap::new();
    for host in hosts {
        if let Some(&change) = host.kernel_counters.get(counter) {
            let known = by_name.entry(&host.name).or_insert(change);
            *known = change.max(*known);
        }
    }
    by_name.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::{Case, host};

    #[test]
    fn counters_are_those_of_the_side_whose_kernel_counts() {
        let mut case = Case::echo();
        let counters = ["DelayedACKs", "TCPSynRetrans", "ListenOverflows"];
        let counters = counters.map(|name| format!("TcpExt.{name}"));
        let of_case = |case: &Case, is_server_here| {
            let change = |name: &String| counter_change(&case.trial, name, is_server_here);
            counters.each_ref().map(change)
        };
        for name in &counters {
            case.counter(name, 1_000);
        }
        assert_eq!(of_case(&case, true), [1_000; 3], "one kernel for both");
        assert_eq!(of_case(&case, false), [0; 3]);
        let hosts = [(1, "gen1", 7), (2, "gen2", 20), (3, "gen1", 9)];
        let hosts = hosts.map(|(rank, name, change)| {
            let mut part = host(rank, name);
            let counters = counters.iter().map(|name| (name.clone(), change));
            part.kernel_counters = counters.collect();
            part
        });
        case.trial.hosts = hosts.to_vec();
        assert_eq!(of_case(&case, true), [29, 1_029, 1_000]);
        assert_eq!(of_case(&case, false), [29, 29, 0]);
    }

    #[test]
    fn each_generator_is_as_busy_as_the_threads_that_it_has() {
        let mut case = Case::echo();
        case.trial.job.fleet.shards = 2;
        case.trial.hosts = vec![host(1, "gen1"), host(2, "gen2")];
        for (host, connections) in case.trial.hosts.iter_mut().zip([100, 1]) {
            host.connections = connections;
            let side = host.generator.as_mut().expect("seen");
            (side.cpus, side.cpu_ns) = (vec![0, 1], side.window_ns);
        }
        let gen1_gen2 = [("gen1".to_owned(), 0.5), ("gen2".to_owned(), 1.0)];
        assert_eq!(busy_by_name(&case.trial), gen1_gen2);
        assert_eq!(busiest_in_words(&case.trial), "the generator on host gen2");
        case.trial.hosts.clear();
        assert_eq!(busiest_in_words(&case.trial), "the generator");
    }

    #[test]
    fn shares_of_a_host_are_of_all_its_generators_cpus() {
        let mut part = host(1, "gen1");
        let side = part.generator.as_mut().expect("seen");
        (side.cpus, side.run_delay_ns) = (vec![0, 1], Some(70));
        (part.stolen_share, part.others_share) = (Some(0.03), None);
        let two_seconds_ns = 2_000_000_000;
        let expected = Stolen {
            stolen_ns: 60_000_000,
            all_ns: two_seconds_ns,
            cpus: 2,
        };
        assert_eq!(stolen(&part), Some(expected));
        assert_eq!(others(&part), None, "not known");
        part.others_share = Some(0.5);
        let used = others(&part).map(|others| (others.used_ns, others.waited_ns));
        assert_eq!(used, Some((1_000_000_000, Some(70))));
        part.generator = None;
        assert_eq!((stolen(&part), others(&part)), (None, None));
    }
}
