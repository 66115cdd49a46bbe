//! Servers in many languages: a [`catalogue`] of them, found and built where they can be, and the [`contract`] that each is held to before its figures stand
//! beside others'.
//!
//! Both know processes and sockets, and nothing of experiments.
#![forbid(unsafe_code)]

pub mod catalogue;
pub mod contract;
pub mod suggest;
pub mod toml_file;
