//! `throng completions SHELL`: what a shell needs to complete the command line.

use clap::{Args, Command};
use clap_complete::Shell;

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

pub(crate) fn run(arguments: &Arguments, command: Command) -> Result<Exit, Failure> {
    output::write(&text(arguments.shell, command), None)?;
    Ok(Exit::Success)
}

/// The script for a shell that completes this command.
pub(crate) fn text(shell: Shell, mut command: Command) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut command, "throng", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
