//! What is published of a row, of whichever experiment.

use serde::Serialize;

use crate::experiments::accept::published as accept;
use crate::experiments::backlog::published as backlog;
use crate::experiments::echo::published as echo;
use crate::experiments::services::published as services;

/// What is published of one row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Published {
    /// Of an echo server.
    Echo(echo::PublishedRate),
    /// Of an accept queue.
    Backlog(backlog::Published),
    /// Of a multiplexer.
    Accept(accept::Published),
    /// Of a system of services.
    Services(services::Published),
}
