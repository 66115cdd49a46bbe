//! The judge: throng's figures and sentences beside what throng does not compute itself.
//!
//! Captures are made by `dumpcap` and read by `tshark`, counters are those of `nstat`, listeners those of `ss`, CPU time that of
//! `getrusage`; and `server.py` logs what it did, with delays, faults and memory that it was told. Each test judges one claim, and
//! testifies: claim, throng's figure, the independent one. `cargo xtask judge` writes these into docs/results/truth.md.

mod cpu;
mod failures;
mod handshakes;
mod namespace;
mod pacing;
mod sentences;
mod server;
mod services;
#[path = "../support/mod.rs"]
mod support;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard};

use throng_findings::findings::kind;
use throng_record::{Finding, Trial};

/// One judgement at a time: they are about time and CPUs.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Where testimonies are gathered; unset in the gate.
const GATHERED: &str = "THRONG_TESTIMONIES";

/// Notes a claim, throng's figure and the figure of somebody else.
pub(crate) fn testify(claim: &str, throng: &str, independent: &str, by: &str) {
    let line = format!("{claim}\t{throng}\t{independent}\t{by}\n");
    if let Some(file) = std::env::var_os(GATHERED) {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .expect("writable");
        file.write_all(line.as_bytes()).expect("written");
    }
}

/// The names of a trial's findings.
pub(crate) fn findings(trial: &Trial) -> Vec<&'static str> {
    trial
        .findings
        .iter()
        .map(|finding| kind(finding).name)
        .collect()
}

/// The finding of that name.
pub(crate) fn finding<'a>(trial: &'a Trial, name: &str) -> Option<&'a Finding> {
    trial
        .findings
        .iter()
        .find(|finding| kind(finding).name == name)
}

/// A text without its line breaks, in which a sentence can be looked for.
pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether two figures differ by no more than this share of the second.
pub(crate) fn agree(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() <= share * other.abs()
}
