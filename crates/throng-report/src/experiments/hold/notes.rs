//! What stands below the hold experiment's tables: the kernel's memory in parts, and how to read the columns.

use super::memory::{KernelMemory, Slab};
use super::tables::{KERNEL, by_target, bytes, each, kernel, of_many, points};
use crate::experiments::crowd;
use crate::format::plural;
use crate::legend::spreads;
use crate::phases;
use crate::row::Row;
use crate::summary::Summary;

/// What of the kernel's memory grew with each connection.
pub(crate) fn of_kernel(summary: &Summary<'_>) -> Vec<String> {
    let line = |row: &Row| {
        let memory = kernel(row)?;
        // Of few connections it is as much noise as the sum, which then is not told either.
        of_many(row, KERNEL)?;
        let mut text = format!(
            "{} at {}, for each connection: {}",
            row.target,
            row.heading,
            parts(memory)
        );
        if !memory.slabs.is_empty() {
            let kinds: Vec<String> = memory.slabs.iter().map(slab).collect();
            text += &format!(". Slab that grew most: {}", kinds.join(", "));
        }
        Some(format!("{text}."))
    };
    by_target(summary).iter().filter_map(line).collect()
}

fn slab(slab: &Slab) -> String {
    format!("{} {}", slab.name, bytes(slab.bytes))
}

/// The greatest first; what is less than a byte is left out.
fn parts(memory: &KernelMemory) -> String {
    let mut parts = [
        (memory.slab_bytes, "slab"),
        (memory.page_tables_bytes, "page tables"),
        (memory.percpu_bytes, "per-CPU memory"),
        (memory.socket_buffers_bytes, "socket buffers"),
    ];
    parts.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut words: Vec<String> = parts
        .iter()
        .filter(|(part, _)| part.abs() >= 0.5)
        .map(|(part, what)| format!("{what} {}", bytes(*part)))
        .collect();
    if words.is_empty() {
        words.push("less than a byte".to_owned());
    }
    if memory.kernel_stack_bytes.abs() >= 0.5 {
        words.push(format!(
            "and, not in the sum, threads' stacks {}",
            bytes(memory.kernel_stack_bytes)
        ));
    }
    words.join(", ")
}

/// Connections that ended by themselves.
pub(crate) fn of_rows(summary: &Summary<'_>) -> Vec<String> {
    let line = |row: &Row| {
        let lost = row.value("lost").unwrap_or_default() as u64;
        (lost > 0).then(|| {
            format!(
                "{} at {}: {} ended, or got bytes that nobody asked for, while nothing was sent.",
                row.target,
                row.heading,
                plural(lost, "connection")
            )
        })
    };
    by_target(summary).iter().filter_map(line).collect()
}

/// How to read the columns.
pub(crate) fn legend(summary: &Summary<'_>) -> Vec<String> {
    let rows = || summary.rows.iter();
    let mut lines = vec![spreads(&summary.rows, |key| {
        key == "opened_ns" || key.ends_with("_duration_ns") || key.contains("_per_second")
    })];
    if rows().any(|row| crowd::connected(row).is_some()) {
        lines.push("opened in: from the first connect to the last that completed; what timed out afterwards is not in it. connects/s: of the first 10,000 connections (of fewer than 20,000 the first half) and of the last tenth; median over repeats. connect p50 … max: from the connect call to the established connection, of all repeats.".to_owned());
    }
    if rows().any(|row| !points(row).is_empty()) {
        lines.push(
            "connects/s over time: of the repeat whose connecting took the median time.".to_owned(),
        );
    }
    let has_own = |row: &Row| each(row).any(|(of, _)| of != "kernel");
    if rows().any(has_own) {
        lines.push("server's own, generator's own: growth of the process's memory that is no file's, from before the first connection to all open, ÷ connections; the generator's as it counts it itself.".to_owned());
    }
    if rows().any(|row| kernel(row).is_some() && of_many(row, KERNEL).is_none()) {
        lines.push(
            "–: memory for each of fewer than 1,000 connections is noise, and is not told."
                .to_owned(),
        );
    }
    if rows().any(|row| kernel(row).is_some()) {
        lines.push("kernel's: growth of slab, page tables, per-CPU memory and socket buffers, ÷ connections; of both ends where both are on this machine, and of whatever else happened on it. all open, after the end: the same, not divided, against before the first connection; what is left after the end the kernel keeps for later use.".to_owned());
    }
    if rows().any(|row| row.value("pinged") > Some(0.0)) {
        lines.push("pings answered: of the repeat with the fewest; all pings in: from the first ping to the last answer; ping p50 … max: from each ping to the last byte of its answer, of all repeats.".to_owned());
    }
    if rows().any(|row| row.value("not_pinged") > Some(0.0)) {
        lines.push("not pinged: connections of that repeat that were to be pinged and were not, since in their thread of the generator as many pings as go on at once (four at least) had timed out one after another.".to_owned());
    }
    if rows().any(|row| row.value("connect_duration_ns").is_some()) {
        lines.push("real: length of the phase on the clock; median over repeats. connect: from the first connect to the end of the last; hold: nothing is sent; ping: from the first ping to the last answer; close: from the first half-close to the last end.".to_owned());
        lines.extend(phases::notes::legend(&summary.rows, false));
    }
    lines.extend(crowd::notes::legend(summary));
    lines.retain(|line| !line.is_empty());
    lines
}
