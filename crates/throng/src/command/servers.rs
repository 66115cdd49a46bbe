//! `throng servers`: the servers there are to choose from, and what can be done with them besides measuring.

mod build;
mod check;
mod list;
mod subject;

use clap::{Args, Subcommand};

use crate::catalogue::CatalogueFlag;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Audience;

const AFTER_HELP: &str = "\
Examples:
  throng servers
  throng servers --format json
  throng servers build                                       all that have to be built
  throng servers build cpp haskell/forkio                    those of a language, and one
  throng echo epoll-edge tokio may --connections 100,1000    some of them, compared
  throng echo all --connections 100                          all built-in ones
  throng echo python epoll-edge                              all of a language, beside a model
  throng servers check epoll-edge                            whether it keeps the contract

A model that serves few connections at once leaves the others in the accept queue: a trial with more
reads `serves k of N`, and is not ranked. Workers are threads, loops or processes: `--workers`.
Every model serves every workload of `throng serve`, but for broadcast: the list says which do.
Catalogued servers need a runtime; the list says which is there, and how to install the others.";

/// List built-in and catalogued servers, and whether each can run here
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = Audience::Terminal, global = true)]
    format: Audience,
    #[command(flatten)]
    catalogue: CatalogueFlag,
}

#[derive(Debug, Subcommand)]
enum Action {
    Build(build::Arguments),
    Check(check::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    match &arguments.action {
        None => list::run(arguments.format, arguments.catalogue.folder()),
        Some(Action::Build(build)) => build::run(build),
        Some(Action::Check(check)) => check::run(check, arguments.format),
    }
}
