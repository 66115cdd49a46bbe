//! `throng servers check`: whether servers keep the contract of the catalogue.

mod table;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::atomic::Ordering;
use throng_lab::contract::{self, Trying};
use throng_record::ContractReport;
use throng_sys::limits;

use super::subject;
use crate::exit::Exit;
use crate::failure::{Failure, note};
use crate::interrupt;
use crate::output::{self, Audience};

const AFTER_HELP: &str = "\
Examples:
  throng servers check
  throng servers check epoll-edge tokio
  throng servers check poll --format json

Every clause is tried on a server of its own: refusals, ready lines, IPv6 and Unix sockets, the
backlog that the kernel was asked for, what each workload answers, slow readers, resets, a thousand
connections, SIGTERM, and whether threads and processes are what its model says. A server takes
about ten seconds. What a server declares that it cannot do must indeed fail.

Clauses that failed are shown with what was seen and what is due; JSON has all of them, each with its
result: held, failed, declared_and_fails, declared_but_holds or not_applicable.

Exit codes:
  0    every server keeps the contract, but for what it declares
  1    a clause failed, or one holds that is declared to fail
  2    there is no such server
  130  ended early by Ctrl-C or SIGTERM";

/// Try whether servers keep the contract: what they answer, how they start and end, what they are
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// The servers; every one where absent
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, audience: Audience) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed("cannot find this program's own file, which contains the servers")
            .cause(error)
    })?;
    let names: Vec<&str> = match arguments.names.as_slice() {
        [] => subject::names(),
        some => some.iter().map(String::as_str).collect(),
    };
    let subjects = names
        .into_iter()
        .map(|name| subject::of(name, &program))
        .collect::<Result<Vec<_>, _>>()?;
    let interrupted = interrupt::watch()?;
    if let Err(error) = limits::raise_open_files() {
        note(error);
    }
    let bar = bar(subjects.len());
    let mut reports: Vec<ContractReport> = Vec::new();
    for subject in &subjects {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let mut tell = |trying: Trying<'_>| bar.set_message(in_words(&subject.name, trying));
        reports.push(contract::check(subject, &interrupted, &mut tell));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let text = match audience {
        Audience::Terminal => table::for_people(&reports),
        Audience::Json => output::json(&reports),
    };
    output::write(&text, None)?;
    Ok(exit(&reports, subjects.len()))
}

fn exit(reports: &[ContractReport], asked: usize) -> Exit {
    let is_cut_short = reports.len() < asked || reports.iter().any(|report| !report.complete);
    if is_cut_short {
        Exit::Interrupted
    } else if reports.iter().all(ContractReport::is_kept) {
        Exit::Success
    } else {
        Exit::Failed
    }
}

/// Hidden by itself where standard error is no terminal.
fn bar(servers: usize) -> ProgressBar {
    let bar = ProgressBar::new(servers as u64);
    let style = ProgressStyle::with_template("{bar:12} {pos}/{len} · {wide_msg}");
    bar.set_style(style.expect("the template is well formed"));
    bar.tick();
    bar
}

fn in_words(server: &str, trying: Trying<'_>) -> String {
    format!(
        "{server} · {} of {} · {} {}",
        trying.done + 1,
        trying.total,
        trying.workload.name(),
        trying.clause
    )
}
