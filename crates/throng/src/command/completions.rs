//! `throng completions SHELL`: what a shell needs to complete the command line.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

const AFTER_HELP: &str = "\
Examples:
  throng completions bash > ~/.local/share/bash-completion/completions/throng
  throng completions zsh > \"${fpath[1]}/_throng\"
  throng completions fish > ~/.config/fish/completions/throng.fish";

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    output::write(&text(arguments.shell), None)?;
    Ok(Exit::Success)
}

/// The script for a shell.
pub(crate) fn text(shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "throng", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
