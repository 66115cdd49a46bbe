//! The kernel's memory around the connections of one trial: what of it grew, and what was left of it in the end.
//!
//! It is counted for the whole machine, so that it holds both ends where both are here, and whatever else happened.

use serde::Serialize;
use throng_record::{KernelMemorySample, Trial};

/// Growth ÷ connections, in bytes, from before the first to all open.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelMemory {
    /// Objects: sockets, files, epoll entries.
    pub slab_bytes: f64,
    /// Page tables.
    pub page_tables_bytes: f64,
    /// Per-CPU memory.
    pub percpu_bytes: f64,
    /// Buffers of TCP sockets.
    pub socket_buffers_bytes: f64,
    /// Stacks of threads, which are no part of the sum.
    pub kernel_stack_bytes: f64,
    /// The kinds of objects that grew most; empty without root.
    pub slabs: Vec<Slab>,
    /// Growth in all, not ÷ connections, from before the first connection to all open.
    pub grown_bytes: f64,
    /// The same from before the first connection to after the end: what was not given back yet. Below 0 where there was less than before.
    pub left_bytes: Option<f64>,
}

/// One kind of object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slab {
    /// Its name in `/proc/slabinfo`.
    pub name: String,
    /// Growth ÷ connections.
    pub bytes: f64,
}

pub(crate) fn of(trial: &Trial) -> Option<KernelMemory> {
    let memory = trial.kernel_memory.as_ref()?;
    let connected = f64::from(trial.phases.connect()?.connected.max(1));
    let (before, open) = (&memory.before, &memory.connected);
    let each = |pick: fn(&KernelMemorySample) -> u64| {
        (pick(open) as f64 - pick(before) as f64) / connected
    };
    let slab = |slab: &throng_record::SlabGrowth| Slab {
        name: slab.name.clone(),
        bytes: slab.grown_bytes as f64 / connected,
    };
    let after = memory.after.as_ref();
    Some(KernelMemory {
        slab_bytes: each(|sample| sample.slab_bytes),
        page_tables_bytes: each(|sample| sample.page_tables_bytes),
        percpu_bytes: each(|sample| sample.percpu_bytes),
        socket_buffers_bytes: each(|sample| sample.socket_buffers_bytes),
        kernel_stack_bytes: each(|sample| sample.kernel_stack_bytes),
        slabs: memory.slabs.iter().map(slab).collect(),
        grown_bytes: all(open) - all(before),
        left_bytes: after.map(|after| all(after) - all(before)),
    })
}

/// Of the kinds that connections take.
fn all(sample: &KernelMemorySample) -> f64 {
    let parts = [
        sample.slab_bytes,
        sample.page_tables_bytes,
        sample.percpu_bytes,
        sample.socket_buffers_bytes,
    ];
    parts.iter().map(|&part| part as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_and_available_memory_are_no_part_of_the_sum() {
        let sample = KernelMemorySample {
            slab_bytes: 1,
            kernel_stack_bytes: 1_000,
            page_tables_bytes: 20,
            percpu_bytes: 300,
            socket_buffers_bytes: 4_000,
            available_bytes: 1 << 40,
        };
        assert_eq!(all(&sample), 4_321.0);
    }
}
