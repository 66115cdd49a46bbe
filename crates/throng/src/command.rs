//! One command, one file: its arguments and its `run`.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod experiments;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod guard;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod namespace;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod servers;
