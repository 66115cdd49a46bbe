//! The command line: which commands there are.

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::command::experiments::OfExperiment;
use crate::command::{
    compare, completions, doctor, explain, generate, guard, load, man, namespace, report, run,
    runs, serve, servers,
};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hosts::Hosts;

const AFTER_HELP: &str = "\
Examples:
  throng run                                   every concurrency model compared, in under 90 s
  throng echo epoll-edge io-uring --connections 10,100,1000
  throng echo tcp://127.0.0.1:7000             a server of your own that already runs
  throng echo --command './mine --port {port}' poll
  throng backlog iterative --backlog 5,256     what a short accept queue does to 32 clients
  throng accept poll epoll-edge                what waiting costs while 10,000 connections idle
  throng fanout epoll-edge --connections 7000  how long until all have heard what one says
  throng hold 100k                             a hundred thousand connections, at how many bytes each
  throng churn epoll-edge poll --closing fin,reset      a connection for every request
  throng servers                               the built-in models and the catalogue
  throng doctor                                what this machine allows
  throng report latest --format markdown       the last run once more
  throng compare 'before the fix' latest       what has become faster, what slower
  throng runs                                  the runs that are kept
  throng explain accept-queue-overflow         a finding, a check or a model in depth

Exit codes:
  0    done
  1    a trial failed, a server answered wrongly or died, a target has no trial to rank, or a --fail-if is met
  2    the command line, a plan or a target is wrong
  130  ended early by Ctrl-C, SIGTERM or SIGHUP; what was measured is kept

Results go to standard output, everything else to standard error. NO_COLOR is honoured.";

/// A laboratory for TCP servers under many connections
///
/// How does a server behave as connections multiply, and why? throng launches servers (built-in concurrency models, or your
/// own command) or connects to a running one, loads them, checks its own figures, and keeps a record from which every
/// report can be made again.
#[derive(Debug, Parser)]
#[command(
    name = "throng",
    version,
    max_term_width = 100,
    after_help = AFTER_HELP,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<run::Arguments>),
    #[command(flatten)]
    Experiment(Box<OfExperiment>),
    Serve(serve::Arguments),
    Servers(servers::Arguments),
    Doctor(doctor::Arguments),
    Report(report::Arguments),
    Compare(compare::Arguments),
    Runs(runs::Arguments),
    Explain(explain::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    Load(load::Arguments),
    Namespace(namespace::Arguments),
    Guard(guard::Arguments),
    Generate(generate::Arguments),
}

impl Command {
    /// `hosts`: where the load is generated, if that is not here.
    pub(crate) fn run(&self, hosts: Option<&Hosts<'_>>) -> Result<Exit, Failure> {
        match self {
            Self::Run(arguments) => run::run(arguments, hosts),
            Self::Experiment(experiment) => experiment.run(hosts),
            Self::Serve(arguments) => serve::run(arguments),
            Self::Servers(arguments) => servers::run(arguments),
            Self::Doctor(arguments) => doctor::run(arguments, hosts),
            Self::Report(arguments) => report::run(arguments),
            Self::Compare(arguments) => compare::run(arguments),
            Self::Runs(arguments) => runs::run(arguments),
            Self::Explain(arguments) => explain::run(arguments),
            Self::Completions(arguments) => completions::run(arguments, Cli::command()),
            Self::Man(arguments) => man::run(arguments, Cli::command()),
            Self::Load(arguments) => load::run(arguments),
            Self::Namespace(arguments) => namespace::run(arguments),
            Self::Guard(arguments) => guard::run(arguments),
            Self::Generate(arguments) => generate::run(arguments, &Cli::command()),
        }
    }

    /// Whether it measures, or examines, all hosts that take part.
    pub(crate) fn concerns_all_hosts(&self) -> bool {
        match self {
            Self::Run(arguments) => arguments.measures(),
            Self::Experiment(_) | Self::Doctor(_) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use clap::Parser as _;

    use super::{AFTER_HELP, Cli};

    /// The Markdown files of a folder and of those below it.
    fn pages(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let paths = entries.map(|entry| entry.path());
        let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
        let is_page = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "md");
        let here = files.into_iter().filter(is_page);
        here.chain(folders.iter().flat_map(|folder| pages(folder)))
            .collect()
    }

    /// The command lines of a page's shell blocks.
    fn shown(page: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let mut is_shell = false;
        for line in page.lines() {
            match line.strip_prefix("```") {
                Some(kind) => is_shell = matches!(kind, "sh" | "console"),
                None if is_shell => lines.push(line.trim_start_matches("$ ").to_owned()),
                None => {}
            }
        }
        lines
    }

    /// Whether it is a throng command and no synopsis, and if so which words it has; what follows a pipe is left out.
    fn words(line: &str) -> Option<Vec<String>> {
        let rest = line.trim().strip_prefix("throng ")?;
        if rest.contains(['…', '[']) {
            return None;
        }
        let rest = rest.split("   ").next().unwrap_or(rest);
        let words = shlex::split(rest).unwrap_or_else(|| panic!("not a command line: {line}"));
        let end = words
            .iter()
            .position(|word| word == "|" || word == ">" || word == "#");
        let own = words.into_iter().take(end.unwrap_or(usize::MAX));
        Some(std::iter::once("throng".to_owned()).chain(own).collect())
    }

    #[test]
    fn every_command_that_the_documentation_shows_is_one() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = pages(&root.join("docs"));
        pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
        let texts = pages
            .iter()
            .map(|page| std::fs::read_to_string(page).expect("text"));
        let mut lines: Vec<String> = texts.flat_map(|text| shown(&text)).collect();
        lines.extend(AFTER_HELP.lines().map(str::to_owned));
        let commands: Vec<Vec<String>> = lines.iter().filter_map(|line| words(line)).collect();
        assert!(commands.len() > 80, "{}", commands.len());
        let wrong = commands.iter().filter_map(|command| {
            let error = Cli::try_parse_from(command).err()?;
            Some(format!("{}: {error}", command.join(" ")))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
