//! `throng guard`, hidden: the process that ends what a lab left that was killed.

use std::io;

use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;

/// Wait for the end of standard input, and end the process groups told there (started by run and the experiments)
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<Exit, Failure> {
    throng_child::guard::stand(io::stdin().lock());
    Ok(Exit::Success)
}
