//! The server under measurement, as asked for and as found.

use serde::{Deserialize, Serialize};

use crate::{CatalogueRecord, HandOver, TlsTarget};

/// How a target comes to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// One of the built-in concurrency models, launched as a child process.
    BuiltIn,
    /// A server of the catalogue, launched.
    Catalogue,
    /// A command of the user's, launched.
    Command,
    /// A server that already runs, at an address.
    Running,
    /// No server: a multiplexer, timed in the generator's own process.
    Multiplexer,
}

impl TargetKind {
    /// Whether it takes the flags of `catalogue/CONTRACT.md`, says what that lays down, and can be asked for a workload.
    #[must_use]
    pub fn keeps_contract(self) -> bool {
        matches!(self, Self::BuiltIn | Self::Catalogue)
    }
}

/// A target as it stands in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TargetRecord {
    /// As the user wrote it; unique within a run, and the row's name in reports.
    pub name: String,
    /// How it comes to run.
    pub kind: TargetKind,
    /// For a built-in server: its concurrency model.
    pub model: Option<String>,
    /// For a catalogued server: which, and what it declares.
    pub catalogue: Option<CatalogueRecord>,
    /// A server with a loop for each CPU that it may use: one CPU holds it back.
    pub uses_every_cpu: bool,
    /// For a built-in or catalogued server: options of its own, beside those that a setting asks of all.
    pub options: ServeOptions,
    /// For a launched command: the command line, with `{port}` and `{address}` still in place.
    pub command: Option<String>,
    /// For a running server: its address; of each, where several services are one target.
    pub addresses: Vec<String>,
    /// For a running HTTP server: what is asked for, for example `/index.html`, and of which host.
    pub http: Option<HttpTarget>,
    /// For a running server that speaks TLS: whom and what is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsTarget>,
}

impl TargetRecord {
    /// One of which nothing else is known.
    #[must_use]
    pub fn named(name: &str, kind: TargetKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            model: None,
            catalogue: None,
            uses_every_cpu: false,
            options: ServeOptions::default(),
            command: None,
            addresses: vec![],
            http: None,
            tls: None,
        }
    }

    /// Whether the backlog of a setting is asked of it: a command of the user's and a server that runs already have their own.
    #[must_use]
    pub fn takes_backlog(&self) -> bool {
        let ignores = self
            .catalogue
            .as_ref()
            .is_some_and(|server| server.ignores_backlog);
        self.kind.keeps_contract() && !ignores
    }
}

/// What `throng serve` is asked for beside a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServeOptions {
    /// `--workers`.
    pub workers: Option<u32>,
    /// `--accept-threads`.
    pub accept_threads: Option<u32>,
    /// `--delay-inline`.
    pub delay_inline: bool,
    /// `--hand-over`.
    pub hand_over: Option<HandOver>,
}

/// What is asked of a server that speaks HTTP/1.1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HttpTarget {
    /// `HOST` or `HOST:PORT`, for the header.
    pub host: String,
    /// Path and query, beginning with `/`.
    pub path: String,
    /// The method.
    #[serde(default = "HttpTarget::usual_method")]
    pub method: String,
    /// Lines of the head that were asked for, each `Name: value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// What follows the head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<u8>,
}

impl HttpTarget {
    /// A page to get.
    #[must_use]
    pub fn get(host: &str, path: &str) -> Self {
        Self {
            host: host.to_owned(),
            path: path.to_owned(),
            method: Self::usual_method(),
            headers: vec![],
            body: vec![],
        }
    }

    fn usual_method() -> String {
        "GET".to_owned()
    }
}
