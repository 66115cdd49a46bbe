//! `throng generate DIR`, hidden: the files that are made from the program and kept with the documentation.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command, ValueEnum as _};
use clap_complete::Shell;

use crate::command::explain::figures;
use crate::command::{completions, man};
use crate::exit::Exit;
use crate::failure::Failure;

mod keys;

/// Write manual pages, completions, and the pages of keys and figures into a folder
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct Arguments {
    /// The folder: docs
    directory: PathBuf,
    /// Write nothing; name the files that are stale, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(arguments: &Arguments, command: &Command) -> Result<Exit, Failure> {
    let files = files(command);
    if arguments.check {
        return check(&arguments.directory, &files);
    }
    for (name, text) in files {
        write(&arguments.directory.join(name), &text)?;
    }
    Ok(Exit::Success)
}

/// Each with its name in the folder.
fn files(command: &Command) -> Vec<(String, String)> {
    let man = man::pages(command.clone())
        .into_iter()
        .map(|page| (format!("man/{}", page.file_name), page.text));
    let completions = Shell::value_variants().iter().filter_map(|&shell| {
        Some((
            completions_file(shell)?,
            completions::text(shell, command.clone()),
        ))
    });
    let pages = [
        ("figures.md".to_owned(), figures::page()),
        ("keys.md".to_owned(), keys::page()),
    ];
    man.chain(completions).chain(pages).collect()
}

/// Where a shell looks for it; the shells of other systems are left out.
fn completions_file(shell: Shell) -> Option<String> {
    let name = match shell {
        Shell::Bash => "throng.bash",
        Shell::Zsh => "_throng",
        Shell::Fish => "throng.fish",
        _ => return None,
    };
    Some(format!("completions/{name}"))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| {
            Failure::failed(format_args!("cannot write {}", path.display())).cause(error)
        })
}

fn check(directory: &Path, files: &[(String, String)]) -> Result<Exit, Failure> {
    let stale: Vec<&str> = files
        .iter()
        .filter(|(name, text)| fs::read_to_string(directory.join(name)).ok().as_ref() != Some(text))
        .map(|(name, _)| name.as_str())
        .collect();
    if stale.is_empty() {
        return Ok(Exit::Success);
    }
    Err(Failure::failed(format_args!(
        "out of date in {}: {}",
        directory.display(),
        stale.join(", ")
    ))
    .cause("the program has changed since they were made")
    .hint(format_args!("throng generate {}", directory.display())))
}
