//! `throng namespace`, hidden: the process that makes a private network for the lab, hands it over and ends. It has one thread,
//! without which a user namespace cannot be entered.

use std::io;

use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;

/// Make a network namespace and hand it over on standard input, a socket (started by run and echo)
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<Exit, Failure> {
    throng_lab::network::hold(io::stdin().lock(), io::stdout().lock())
        .map_err(|error| Failure::failed("cannot tell of the namespace").cause(error))?;
    Ok(Exit::Success)
}
