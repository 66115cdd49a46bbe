//! `throng man [COMMAND]`: the manual pages.

use clap::{Args, Command};
use clap_mangen::Man;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use throng_catalogue::suggest::nearest;

const AFTER_HELP: &str = "\
Examples:
  throng man | man -l -
  throng man echo | man -l -";

/// Print a manual page
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The command whose page is meant; throng's own where absent
    command: Option<String>,
}

/// A manual page and the name of its file.
pub(crate) struct Page {
    /// `throng.1`, `throng-echo.1`.
    pub(crate) file_name: String,
    /// Its text, for troff.
    pub(crate) text: String,
}

pub(crate) fn run(arguments: &Arguments, root: Command) -> Result<Exit, Failure> {
    let wanted = match &arguments.command {
        Some(command) => format!("throng-{}.1", command.replace(' ', "-")),
        None => "throng.1".to_owned(),
    };
    let pages = pages(root);
    match pages.iter().find(|page| page.file_name == wanted) {
        Some(page) => output::write(&page.text, None)?,
        None => {
            let names = pages.iter().map(|page| page.file_name.as_str());
            let failure = Failure::usage(format_args!("there is no manual page {wanted}"));
            return Err(match nearest(&wanted, names) {
                Some(meant) => failure.hint(format_args!("did you mean {meant}?")),
                None => failure.hint("throng --help lists the commands"),
            });
        }
    }
    Ok(Exit::Success)
}

/// Every page: throng's own first, then one for each command that is not hidden, followed by its own commands.
pub(crate) fn pages(mut root: Command) -> Vec<Page> {
    root.build();
    let commands: Vec<Command> = root
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .flat_map(|command| std::iter::once(command).chain(command.get_subcommands()))
        .cloned()
        .collect();
    std::iter::once(root).chain(commands).map(page).collect()
}

fn page(command: Command) -> Page {
    let man = Man::new(command).source(concat!("throng ", env!("CARGO_PKG_VERSION")));
    let mut bytes = Vec::new();
    man.render(&mut bytes)
        .expect("writing to memory does not fail");
    Page {
        file_name: man.get_filename(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    }
}
