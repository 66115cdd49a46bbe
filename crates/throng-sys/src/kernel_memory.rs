//! What memory the kernel itself holds: `/proc/meminfo`, the TCP line of `/proc/net/sockstat`, `/proc/slabinfo`.
//!
//! All three are of the whole machine, the second too: `mem` there is `tcp_memory_allocated`, which network namespaces share
//! (`net/ipv4/proc.c`). So a difference between two moments is of whatever happened between them, other programs' work included. What a freed
//! socket leaves is given back some time later (RCU), and half-filled slabs are kept: a fall lags behind its cause.
//!
//! Left out: memory of descriptor tables, which is allocated by `kvmalloc` and shows in `Slab` or in no line of its own.

use std::collections::BTreeMap;
use std::io;

use crate::kernel_file::{self, unexpected_content};

/// The kernel's memory at one moment, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelMemory {
    /// `Slab`: small objects, such as sockets, files and epoll entries.
    pub slab_bytes: u64,
    /// `KernelStack`: of threads.
    pub kernel_stack_bytes: u64,
    /// `PageTables`.
    pub page_tables_bytes: u64,
    /// `Percpu`; 0 before Linux 4.20.
    pub percpu_bytes: u64,
    /// `MemAvailable`.
    pub available_bytes: u64,
    /// Pages that TCP has charged for the buffers of its sockets.
    pub socket_buffers_bytes: u64,
}

impl KernelMemory {
    /// As it is now.
    ///
    /// # Errors
    /// What reading says; `InvalidData` for files of another form.
    pub fn read() -> io::Result<Self> {
        let mut memory = of_meminfo(&kernel_file::read("/proc/meminfo")?)
            .map_err(|what| unexpected_content("/proc/meminfo", what))?;
        // Not /proc/self, which shows the main thread's namespace.
        let path = "/proc/thread-self/net/sockstat";
        let pages = tcp_pages(&kernel_file::read(path)?)
            .ok_or_else(|| unexpected_content(path, "no mem of TCP"))?;
        memory.socket_buffers_bytes = pages * page_bytes();
        Ok(memory)
    }
}

/// Bytes in slabs by the kind of object, free places in them included.
///
/// # Errors
/// `PermissionDenied` for all but root; `NotFound` where the kernel has none (`CONFIG_SLUB_DEBUG`); `InvalidData` for another form.
pub fn slabs() -> io::Result<BTreeMap<String, u64>> {
    let path = "/proc/slabinfo";
    of_slabinfo(&kernel_file::read(path)?, page_bytes())
        .map_err(|what| unexpected_content(path, what))
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

fn of_meminfo(text: &str) -> Result<KernelMemory, String> {
    let bytes = |name: &str| {
        let values = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = values
            .strip_prefix(':')?
            .trim()
            .strip_suffix(" kB")?
            .parse()
            .ok()?;
        Some(kibibytes * 1024)
    };
    let needed = |name: &str| bytes(name).ok_or_else(|| format!("no {name} in kB"));
    Ok(KernelMemory {
        slab_bytes: needed("Slab")?,
        kernel_stack_bytes: needed("KernelStack")?,
        page_tables_bytes: needed("PageTables")?,
        percpu_bytes: bytes("Percpu").unwrap_or(0),
        available_bytes: needed("MemAvailable")?,
        socket_buffers_bytes: 0,
    })
}

/// From `TCP: inuse 5 orphan 0 tw 2 alloc 7 mem 3`.
fn tcp_pages(sockstat: &str) -> Option<u64> {
    let tcp = sockstat
        .lines()
        .find_map(|line| line.strip_prefix("TCP: "))?;
    let mut words = tcp.split_ascii_whitespace();
    words.find(|word| *word == "mem")?;
    words.next()?.parse().ok()
}

/// After two lines of heading, `NAME ACTIVE OBJECTS SIZE PER_SLAB PAGES_PER_SLAB : tunables … : slabdata ACTIVE_SLABS SLABS SHARED`
/// (`slabinfo(5)`).
fn of_slabinfo(text: &str, page_bytes: u64) -> Result<BTreeMap<String, u64>, String> {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("slabinfo"));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
            let slabdata = fields.iter().position(|field| *field == "slabdata");
            let slabs = slabdata.and_then(|index| number(index + 2));
            match (number(5), slabs) {
                (Some(pages), Some(slabs)) => {
                    Ok((fields[0].to_owned(), slabs * pages * page_bytes))
                }
                _ => Err(format!("not a kind of slab: {line}")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:        8000000 kB\nMemAvailable:    7000001 kB\nSlab:             120004 kB\n\
        SReclaimable:      60000 kB\nKernelStack:        2512 kB\nPageTables:         3004 kB\nPercpu:              904 kB\n";
    const SLABINFO: &str = "slabinfo - version: 2.1\n\
        # name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n\
        TCP                   13     26   2432   13    8 : tunables    0    0    0 : slabdata      1      2      0\n\
        filp                1001   1024    256   16    1 : tunables    0    0    0 : slabdata     64     64      0\n";

    #[test]
    fn the_lines_of_meminfo_are_told_apart() {
        let expected = KernelMemory {
            slab_bytes: 120_004 * 1024,
            kernel_stack_bytes: 2_512 * 1024,
            page_tables_bytes: 3_004 * 1024,
            percpu_bytes: 904 * 1024,
            available_bytes: 7_000_001 * 1024,
            socket_buffers_bytes: 0,
        };
        assert_eq!(of_meminfo(MEMINFO), Ok(expected));
        let old = MEMINFO.replace("Percpu", "Other");
        assert_eq!(of_meminfo(&old).map(|memory| memory.percpu_bytes), Ok(0));
        for name in ["Slab", "KernelStack", "PageTables", "MemAvailable"] {
            let without = MEMINFO.replace(name, "Other");
            assert_eq!(of_meminfo(&without), Err(format!("no {name} in kB")));
        }
    }

    #[test]
    fn only_the_pages_of_tcp_count() {
        let text =
            "sockets: used 290\nTCP: inuse 27 orphan 0 tw 5 alloc 40 mem 3\nUDP: inuse 4 mem 17\n";
        assert_eq!(tcp_pages(text), Some(3));
        for text in [
            "",
            "UDP: inuse 4 mem 17",
            "TCP: inuse 27",
            "TCP: inuse 27 mem x",
        ] {
            assert_eq!(tcp_pages(text), None, "{text}");
        }
    }

    #[test]
    fn a_kind_of_slab_takes_all_its_slabs_pages() {
        let slabs = of_slabinfo(SLABINFO, 4_096).expect("two kinds");
        let expected = [("TCP", 2 * 8 * 4_096), ("filp", 64 * 4_096)];
        let expected = expected.map(|(name, bytes)| (name.to_owned(), bytes));
        assert_eq!(slabs, BTreeMap::from(expected));
        assert!(of_slabinfo("TCP 13 26", 4_096).is_err());
    }

    #[test]
    fn this_machine_tells() {
        let memory = KernelMemory::read().expect("both files are there");
        assert!(
            memory.slab_bytes > 0 && memory.kernel_stack_bytes > 0,
            "{memory:?}"
        );
        match slabs() {
            Ok(kinds) => assert!(kinds.values().sum::<u64>() > 0, "{kinds:?}"),
            Err(error) => assert_ne!(error.kind(), io::ErrorKind::InvalidData, "{error}"),
        }
    }
}
