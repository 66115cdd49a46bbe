//! The network counters of a network namespace: `TcpExt.ListenOverflows`, `Tcp.RetransSegs`, and all others.
//!
//! Read from `/proc/PID/net/snmp` and `netstat`, which hold pairs of lines: names, then values. Which names there
//! are differs between kernels, hence a map rather than a struct. A name that a kernel lacks is absent, not 0;
//! the meaning of each is in Documentation/networking/snmp_counter.rst. IPv6's own counters (`snmp6`) are left
//! out: those of TCP cover both families.
//!
//! One figure more comes from `sockstat`, since no counter tells it: how many sockets are in `TIME_WAIT` now. (`TcpExt.TW` counts
//! those whose minute is over.) The rest of that file is left out: it is partly of the whole machine.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use crate::kernel_file::{self, unexpected_content, with_context};

/// Sockets in `TIME_WAIT` at the moment, IPv4 and IPv6 together.
pub const TIME_WAIT: &str = "Sockstat.TimeWait";

/// All counters at one moment, or their changes between two.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelCounters {
    /// By full name, `Group.Name`. Nearly all count up; a few are levels (`Tcp.CurrEstab`) or settings
    /// (`Tcp.RtoMin`), so a change can be negative. [`TIME_WAIT`] is a level.
    pub values: BTreeMap<String, i64>,
}

impl KernelCounters {
    /// The counters of the calling thread's network namespace.
    ///
    /// # Errors
    /// What reading says; `InvalidData` if the files are not pairs of lines.
    pub fn read() -> io::Result<Self> {
        // Not /proc/self, which shows the main thread's namespace.
        Self::read_directory("/proc/thread-self/net")
    }

    /// The counters of the network namespace that process `pid` is in.
    ///
    /// # Errors
    /// As [`KernelCounters::read`]; `NotFound` if there is no such process.
    pub fn read_of(pid: u32) -> io::Result<Self> {
        Self::read_directory(&format!("/proc/{pid}/net"))
    }

    /// The counters of the network namespace in which these files of `/proc/net` were opened.
    pub(crate) fn read_files(snmp: &File, netstat: &File, sockstat: &File) -> io::Result<Self> {
        let mut counters = Self::default();
        let sockets = kernel_file::read_again(sockstat)
            .map_err(|error| with_context(&error, format_args!("cannot read sockstat")))?;
        counters.add_time_wait(&String::from_utf8_lossy(&sockets));
        for (name, file) in [("snmp", snmp), ("netstat", netstat)] {
            let text = kernel_file::read_again(file)
                .map_err(|error| with_context(&error, format_args!("cannot read {name}")))?;
            counters
                .add(String::from_utf8_lossy(&text).trim_end())
                .map_err(|what| unexpected_content(name, what))?;
        }
        Ok(counters)
    }

    fn read_directory(directory: &str) -> io::Result<Self> {
        let mut counters = Self::default();
        counters.add_time_wait(&kernel_file::read(format!("{directory}/sockstat"))?);
        for file in ["snmp", "netstat"] {
            let path = format!("{directory}/{file}");
            let text = kernel_file::read(&path)?;
            counters
                .add(&text)
                .map_err(|what| unexpected_content(path, what))?;
        }
        Ok(counters)
    }

    /// The value of one counter; `None` if this kernel lacks it.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.values.get(name).copied()
    }

    /// What has changed since `earlier`, a reading of the same namespace: only the counters that did.
    pub fn delta_since(&self, earlier: &Self) -> Self {
        let changed = self.values.iter().filter_map(|(name, now)| {
            let change = now.wrapping_sub(earlier.get(name).unwrap_or(0));
            (change != 0).then(|| (name.clone(), change))
        });
        Self {
            values: changed.collect(),
        }
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        let mut lines = text.lines();
        while let Some(names) = lines.next() {
            let (group, names) = names
                .split_once(':')
                .ok_or(format!("no group in `{names}`"))?;
            let values = lines.next().and_then(|line| line.split_once(':'));
            let (_, values) = values
                .filter(|(values_group, _)| *values_group == group)
                .ok_or(format!("no values after the names of {group}"))?;
            self.add_pair(group, names, values)?;
        }
        Ok(())
    }

    fn add_time_wait(&mut self, sockstat: &str) {
        if let Some(count) = time_wait(sockstat) {
            self.values.insert(TIME_WAIT.to_owned(), count);
        }
    }

    fn add_pair(&mut self, group: &str, names: &str, values: &str) -> Result<(), String> {
        let names: Vec<&str> = names.split_whitespace().collect();
        let values: Vec<&str> = values.split_whitespace().collect();
        if names.len() != values.len() {
            return Err(format!(
                "{group} has {} names and {} values",
                names.len(),
                values.len()
            ));
        }
        for (name, value) in names.into_iter().zip(values) {
            // Printed as unsigned long, but for a few that may be -1.
            let value = value
                .parse::<i64>()
                .or_else(|_| value.parse::<u64>().map(|value| value as i64));
            let value = value.map_err(|_| format!("{group}.{name} is not a number"))?;
            self.values.insert(format!("{group}.{name}"), value);
        }
        Ok(())
    }
}

/// `TCP: inuse 1 orphan 0 tw 97 alloc 1 mem 288`.
fn time_wait(sockstat: &str) -> Option<i64> {
    let tcp = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"));
    let mut words = tcp?.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

/// Sockets in `TIME_WAIT` in the network namespace in which this `sockstat` of `/proc/net` was opened; of the calling thread's where there is none.
pub(crate) fn time_wait_now(sockstat: Option<&File>) -> io::Result<Option<i64>> {
    Ok(match sockstat {
        Some(file) => time_wait(&String::from_utf8_lossy(&kernel_file::read_again(file)?)),
        None => time_wait(&kernel_file::read("/proc/thread-self/net/sockstat")?),
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn parsed(text: &str) -> Result<KernelCounters, String> {
        let mut counters = KernelCounters::default();
        counters.add(text).map(|()| counters)
    }

    #[test]
    fn pairs_of_lines_are_joined() {
        let counters =
            parsed("Tcp: MaxConn InSegs\nTcp: -1 18446744073709551615\nUdp: NoPorts\nUdp: 7\n")
                .unwrap();
        assert_eq!(counters.get("Tcp.MaxConn"), Some(-1));
        assert_eq!(
            counters.get("Tcp.InSegs"),
            Some(-1),
            "wraps as the kernel's unsigned long does"
        );
        assert_eq!(counters.get("Udp.NoPorts"), Some(7));
        assert_eq!(counters.get("Udp.Other"), None);
    }

    #[test]
    fn sockets_in_time_wait_are_found_by_their_name() {
        let mut counters = KernelCounters::default();
        counters.add_time_wait("UDP: tw 3\n");
        assert_eq!(counters.get(TIME_WAIT), None);
        counters.add_time_wait("sockets: used 23\nTCP: inuse 1 orphan 0 tw 97 alloc 1 mem 288\n");
        assert_eq!(counters.get(TIME_WAIT), Some(97));
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in [
            "Tcp: A B\nTcp: 1",
            "Tcp: A",
            "Tcp: A\nUdp: 1",
            "Tcp A\nTcp 1",
            "Tcp: A\nTcp: x",
        ] {
            assert!(parsed(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_changes_remain_in_a_delta() {
        let earlier = parsed("Tcp: A B C\nTcp: 1 5 9").unwrap();
        let later = parsed("Tcp: A B C D\nTcp: 4 5 8 2").unwrap();
        let expected = [("Tcp.A", 3), ("Tcp.C", -1), ("Tcp.D", 2)];
        let expected = expected.map(|(name, change)| (name.to_owned(), change));
        assert_eq!(later.delta_since(&earlier).values, BTreeMap::from(expected));
    }

    #[test]
    fn a_connection_is_counted() {
        let before = KernelCounters::read().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _server = listener.accept().unwrap();
        let delta = KernelCounters::read_of(std::process::id())
            .unwrap()
            .delta_since(&before);
        assert!(delta.get("Tcp.ActiveOpens").unwrap() >= 1);
        assert!(delta.get("Tcp.PassiveOpens").unwrap() >= 1);
        assert!(before.get("TcpExt.ListenOverflows").is_some());
    }

    /// Those that explain what an accept queue does, and what short connections leave behind: on Linux 6.5 and later all are there, each under this name.
    #[test]
    fn the_counters_of_queues_and_of_time_wait_are_there() {
        let counters = KernelCounters::read().unwrap();
        for name in [
            "Tcp.AttemptFails",
            "Tcp.EstabResets",
            "Tcp.OutRsts",
            "Tcp.RetransSegs",
            "TcpExt.DelayedACKs",
            // What `tcp_abort_on_overflow` leads to: it has no counter of its own name.
            "TcpExt.EmbryonicRsts",
            "TcpExt.ListenDrops",
            "TcpExt.ListenOverflows",
            "TcpExt.SyncookiesFailed",
            "TcpExt.SyncookiesRecv",
            "TcpExt.SyncookiesSent",
            "TcpExt.TCPAbortOnTimeout",
            "TcpExt.TCPReqQFullDoCookies",
            "TcpExt.TCPReqQFullDrop",
            "TcpExt.TCPSynRetrans",
            "TcpExt.TCPTimeouts",
            "TcpExt.TCPTimeWaitOverflow",
            TIME_WAIT,
        ] {
            assert!(counters.get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_counters_of_no_process_are_not_found() {
        assert_eq!(
            KernelCounters::read_of(u32::MAX).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
