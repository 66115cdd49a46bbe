//! Findings: what explains a trial's figures, each one file with its words and its page.
//!
//! Pure functions of a trial's record: no clock, no socket, no file. The lab finds with them, the reports tell what was found.
#![forbid(unsafe_code)]

pub mod findings;
