//! `throng servers`: the servers there are to choose from, for people or for programs.

mod check;
mod subject;

use clap::{Args, Subcommand};
use comfy_table::{Cell, ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;
use throng_servers::Model;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Audience};

const AFTER_HELP: &str = "\
Examples:
  throng servers
  throng servers --format json
  throng echo epoll-edge tokio may --connections 100,1000    some of them, compared
  throng echo all --connections 100                          all of them
  throng servers check epoll-edge                            whether it keeps the contract

A model that serves few connections at once leaves the others in the accept queue: a trial with more
reads `serves k of N`, and is not ranked. Workers are threads, loops or processes: `--workers`.
Every model serves every workload of `throng serve`, but for broadcast: the list says which do.";

/// List the built-in servers: what each is, and how many connections it serves at once
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// Form of the list
    #[arg(long, value_enum, default_value_t = Audience::Terminal, global = true)]
    format: Audience,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
}

/// One server of the list.
#[derive(Serialize)]
struct Entry {
    model: &'static str,
    family: &'static str,
    serves_at_once: String,
    /// How many threads, loops or processes serve, where that is a number that may be chosen.
    workers: Option<u32>,
    serves_unix: bool,
    takes_accept_threads: bool,
    /// Whether it serves the broadcast workload; every model serves the others.
    broadcasts: bool,
    takes_hand_over: bool,
    summary: &'static str,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if let Some(Command::Check(check)) = &arguments.command {
        return check::run(check, arguments.format);
    }
    let entries: Vec<Entry> = Model::ALL.into_iter().map(entry).collect();
    let text = match arguments.format {
        Audience::Terminal => for_people(&entries),
        Audience::Json => output::json(&entries),
    };
    output::write(&text, None)?;
    Ok(Exit::Success)
}

fn entry(model: Model) -> Entry {
    Entry {
        model: model.name(),
        family: model.family().name(),
        serves_at_once: model.serves_at_once(),
        workers: model.workers(None).map(std::num::NonZeroU32::get),
        serves_unix: model.serves_unix(),
        takes_accept_threads: model.takes_accept_threads(),
        broadcasts: model.broadcasts(),
        takes_hand_over: model.takes_hand_over(),
        summary: model.summary(),
    }
}

fn for_people(entries: &[Entry]) -> String {
    let mut table = table();
    table.set_header([
        "model",
        "family",
        "serves at once",
        "broadcast",
        "how it works",
    ]);
    for entry in entries {
        let serves = entry.serves_at_once.as_str();
        let broadcasts = if entry.broadcasts { "yes" } else { "no" };
        let row = [entry.model, entry.family, serves, broadcasts, entry.summary];
        table.add_row(row.map(Cell::new));
    }
    text_of(table)
}

/// An empty one, as wide as the terminal allows.
fn table() -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
    table.force_no_tty();
    if let Some(width) = output::stdout_width() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
    }
    table
}

fn text_of(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}
