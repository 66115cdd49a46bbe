//! The kernel's memory around the connections of a trial: before the first, with all of them open, and after both sides have ended.
//!
//! The figures are of the whole machine (`throng_sys::kernel_memory`), so what else happens meanwhile is in them. The kernel frees late (RCU):
//! the last reading is repeated until it stops falling.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use throng_record::hold::SlabGrowth;
use throng_record::{KernelMemoryRecord, KernelMemorySample};
use throng_sys::kernel_memory::{self, KernelMemory};

/// Kinds of slab that are kept.
const SLABS_MAX: usize = 8;
/// Between two readings of memory that is being freed.
const SETTLING_STEP: Duration = Duration::from_millis(250);
/// At most so many: 5 s.
const SETTLING_STEPS_MAX: u32 = 20;
/// So many readings in a row that do not fall are the end of it: what RCU frees comes in gulps.
const STEPS_WITHOUT_FALL: u32 = 2;
/// A growth below this is not waited for.
const GROWTH_MIN_BYTES: u64 = 4 << 20;

/// The readings of one trial, as far as they were taken.
#[derive(Debug, Default)]
pub(crate) struct KernelMemoryWatch {
    before: Option<Reading>,
    connected: Option<Reading>,
}

#[derive(Debug)]
struct Reading {
    memory: KernelMemory,
    /// Absent without root.
    slabs: Option<BTreeMap<String, u64>>,
}

impl Reading {
    fn take() -> Option<Self> {
        Some(Self {
            memory: KernelMemory::read().ok()?,
            slabs: kernel_memory::slabs().ok(),
        })
    }
}

impl KernelMemoryWatch {
    /// No connection has been opened yet.
    pub(super) fn before(&mut self) {
        self.before = Reading::take();
    }

    /// Every connection is open and idle. The last such reading counts.
    pub(super) fn connected(&mut self) {
        self.connected = Reading::take().or(self.connected.take());
    }

    /// The record; `None` where a reading is missing. `both_have_ended`: nobody holds a connection any more; otherwise nothing is told of the
    /// time after.
    pub(crate) fn record(
        self,
        connections: u32,
        both_have_ended: bool,
        interrupted: &AtomicBool,
    ) -> Option<KernelMemoryRecord> {
        let (before, connected) = (self.before?, self.connected?);
        let after =
            both_have_ended.then(|| settled(&before.memory, &connected.memory, interrupted));
        let grown =
            of_connections(&connected.memory) as f64 - of_connections(&before.memory) as f64;
        Some(KernelMemoryRecord {
            before: sample(&before.memory),
            connected: sample(&connected.memory),
            after: after.flatten().as_ref().map(sample),
            bytes_per_connection: grown / f64::from(connections.max(1)),
            slabs: before
                .slabs
                .zip(connected.slabs)
                .map(|(before, after)| growth(&before, &after))
                .unwrap_or_default(),
        })
    }
}

/// What connections are made of.
fn of_connections(memory: &KernelMemory) -> u64 {
    memory.slab_bytes + memory.page_tables_bytes + memory.percpu_bytes + memory.socket_buffers_bytes
}

fn sample(memory: &KernelMemory) -> KernelMemorySample {
    KernelMemorySample {
        slab_bytes: memory.slab_bytes,
        kernel_stack_bytes: memory.kernel_stack_bytes,
        page_tables_bytes: memory.page_tables_bytes,
        percpu_bytes: memory.percpu_bytes,
        socket_buffers_bytes: memory.socket_buffers_bytes,
        available_bytes: memory.available_bytes,
    }
}

/// The kinds that grew, greatest first.
fn growth(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> Vec<SlabGrowth> {
    let grown = after.iter().filter_map(|(name, &bytes)| {
        let grown_bytes = bytes.saturating_sub(before.get(name).copied().unwrap_or(0));
        (grown_bytes > 0).then(|| SlabGrowth {
            name: name.clone(),
            grown_bytes,
        })
    });
    let mut grown: Vec<SlabGrowth> = grown.collect();
    grown.sort_by_key(|slab| std::cmp::Reverse(slab.grown_bytes));
    grown.truncate(SLABS_MAX);
    grown
}

/// The memory once it has stopped falling.
fn settled(
    before: &KernelMemory,
    connected: &KernelMemory,
    interrupted: &AtomicBool,
) -> Option<KernelMemory> {
    let grown = of_connections(connected).saturating_sub(of_connections(before));
    let next = || KernelMemory::read().ok();
    if grown < GROWTH_MIN_BYTES {
        return next();
    }
    lowest(next, grown / 100, || {
        std::thread::sleep(SETTLING_STEP);
        !interrupted.load(Ordering::Relaxed)
    })
}

/// Reads until two in a row have fallen by less than `fall_min_bytes`, or `wait` says that it is to end.
fn lowest(
    mut next: impl FnMut() -> Option<KernelMemory>,
    fall_min_bytes: u64,
    mut wait: impl FnMut() -> bool,
) -> Option<KernelMemory> {
    let mut lowest = next()?;
    let mut without_fall = 0;
    for _ in 0..SETTLING_STEPS_MAX {
        if without_fall == STEPS_WITHOUT_FALL || !wait() {
            break;
        }
        let now = next()?;
        if of_connections(&now) + fall_min_bytes < of_connections(&lowest) {
            without_fall = 0;
        } else {
            without_fall += 1;
        }
        if of_connections(&now) < of_connections(&lowest) {
            lowest = now;
        }
    }
    Some(lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn memory(slab_mib: u64) -> KernelMemory {
        KernelMemory {
            slab_bytes: slab_mib * MIB,
            ..KernelMemory::default()
        }
    }

    /// What is kept of readings of so many MiB, and how many were taken.
    fn kept(readings: &[u64]) -> (u64, usize) {
        let mut taken = 0;
        let last = readings[readings.len() - 1];
        let next = || {
            taken += 1;
            Some(memory(*readings.get(taken - 1).unwrap_or(&last)))
        };
        let lowest = lowest(next, 2 * MIB, || true).expect("readings");
        (lowest.slab_bytes / MIB, taken)
    }

    #[test]
    fn memory_is_awaited_until_it_has_stopped_falling() {
        assert_eq!(kept(&[100, 100, 100]), (100, 3));
        assert_eq!(
            kept(&[100, 100, 40, 39, 38]),
            (38, 5),
            "one pause is no end"
        );
        let falling: Vec<u64> = (0..60).map(|step| 600 - 10 * step).collect();
        assert_eq!(kept(&falling), (400, 21), "not for ever");
        assert_eq!(
            lowest(|| Some(memory(7)), 1, || false).map(|kept| kept.slab_bytes),
            Some(7 * MIB)
        );
    }

    #[test]
    fn the_kinds_that_grew_most_stand_first() {
        let kinds = |values: &[(&str, u64)]| {
            let kinds = values.iter().map(|&(name, bytes)| (name.to_owned(), bytes));
            kinds.collect::<BTreeMap<_, _>>()
        };
        let before = kinds(&[("TCP", 10), ("filp", 5), ("dentry", 70)]);
        let after = kinds(&[("TCP", 40), ("filp", 95), ("dentry", 60), ("eventpoll", 8)]);
        let grown: Vec<(String, u64)> = growth(&before, &after)
            .into_iter()
            .map(|slab| (slab.name, slab.grown_bytes))
            .collect();
        let expected = [("filp", 90), ("TCP", 30), ("eventpoll", 8)];
        assert_eq!(
            grown,
            expected.map(|(name, bytes)| (name.to_owned(), bytes))
        );
    }

    #[test]
    fn only_what_connections_are_made_of_is_divided_among_them() {
        let reading = |slab_mib: u64, stack_mib: u64| {
            let mut memory = memory(slab_mib);
            memory.kernel_stack_bytes = stack_mib * MIB;
            memory.socket_buffers_bytes = slab_mib * 4096;
            Some(Reading {
                memory,
                slabs: None,
            })
        };
        let watch = KernelMemoryWatch {
            before: reading(10, 1),
            connected: reading(11, 90),
        };
        let record = watch.record(4, false, &AtomicBool::new(false));
        let record = record.expect("both readings are there");
        assert_eq!(record.bytes_per_connection, (MIB + 4096) as f64 / 4.0);
        assert_eq!((record.after, record.slabs.len()), (None, 0));
        assert_eq!(record.connected.kernel_stack_bytes, 90 * MIB);
        let unconnected = KernelMemoryWatch {
            before: reading(10, 1),
            connected: None,
        };
        assert_eq!(unconnected.record(4, false, &AtomicBool::new(false)), None);
    }
}
