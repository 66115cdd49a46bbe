//! What is published of an experiment: files of `reference/`, built in, each in the folder of the experiment whose figures it has.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Where published figures come from.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Where they stand.
    pub source: String,
    /// The machine, as far as it is known.
    pub machine: String,
    /// The date, as far as it is known.
    pub date: String,
    /// The kernel, as far as it is known.
    pub kernel: String,
    /// What to know when reading them beside measured ones; what is left out of the source here, or of it in the source.
    pub remarks: Vec<String>,
}

impl Origin {
    /// Source, machine, date and kernel as the first lines below a table.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Self {
            source,
            machine,
            date,
            kernel,
            ..
        } = self;
        vec![
            format!("Source: {source}."),
            format!("Machine {machine}; date {date}; kernel {kernel}."),
        ]
    }
}

/// A file of `reference/`.
pub(crate) fn built_in<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("the file is built in, and a test parses it")
}
