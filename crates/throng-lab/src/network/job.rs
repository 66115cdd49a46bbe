//! What the process that makes a namespace is told, and what it answers: a JSON text each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::Refusal;

/// What a new namespace shall be like. Settings by dotted name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamespaceJob {
    /// Values of the host: copied where the namespace has the setting and another value.
    pub(crate) host: BTreeMap<String, String>,
    /// Values of one of the plan's settings: set after that.
    pub(crate) kernel: BTreeMap<String, String>,
}

/// How it came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NamespaceReport {
    /// The descriptors have been sent.
    Made(SetUp),
    /// There is none, or it cannot be set up or handed over.
    Refused(String),
    /// A setting of the plan cannot be had.
    Kernel(Refusal),
}

/// What was set, besides the values of the plan: those are in force, or there is no namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SetUp {
    pub(crate) user_namespace: bool,
    pub(crate) copied: BTreeMap<String, String>,
    /// With the reason.
    pub(crate) not_copied: BTreeMap<String, String>,
}
