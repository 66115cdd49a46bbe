//! Connections in numbers: how they are opened, held and closed.

mod connect;
mod hold;
#[path = "../support/mod.rs"]
mod support;
mod wants;
