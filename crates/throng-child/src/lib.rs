//! Processes that throng starts: servers, the generator, builds, makers of networks.
//!
//! Each is bound to the thread that started it, its output is read to its end, and whatever it leaves behind is ended with it ([`child`]). A
//! [`guard`] ends what is left where throng itself is killed.
#![forbid(unsafe_code)]

pub mod child;
pub mod guard;
pub mod output;

pub use child::{Child, SpawnError};
pub use output::{Lines, NextLine};
