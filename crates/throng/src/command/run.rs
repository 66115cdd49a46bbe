//! `throng run [PLAN]`: carries a plan out.

use std::path::Path;

use clap::{Args, ValueHint};
use throng_lab::plan::PlanDraft;
use throng_lab::plans::{self, BuiltInPlan};

use crate::catalogue::CatalogueFlag;
use crate::exit::Exit;
use crate::experiment::{self, CaptureFlag, Inputs, RunFlags};
use crate::failure::Failure;
use crate::flags::PlanFlags;
use crate::hosts::{Hosts, ListenFlag};
use crate::output;
use throng_catalogue::suggest::nearest;

const AFTER_HELP: &str = "\
Examples:
  throng run                          the tour: every model at 1, 100 and 1,000 connections
  throng run --quick                  the same with fewer and shorter trials
  throng run backlog --quick          a corner of the published tables of the accept queue
  throng run c10k --quick             what waiting costs while connections sit idle
  throng run many --quick             a line to each of 7,000 connections
  throng run million                  a million connections, held and pinged
  throng run my-plan.toml             a plan of your own; docs/plans.md documents the keys
  throng run tour --connections 1,10,100,1000 --format markdown --output tour.md

A flag given here replaces what the plan says. A flag with a list (…,…) is swept:
every combination of all values is measured, connections or clients varying fastest.
Flags that the plan's experiment has no use for are refused.";

/// Run a plan: a built-in one, or your own
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// Name of a built-in plan, or path of a .toml file
    #[arg(default_value = plans::BUILT_IN[0].name, value_hint = ValueHint::FilePath)]
    plan: String,
    /// List the built-in plans
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    flags: PlanFlags,
    #[command(flatten)]
    catalogue: CatalogueFlag,
    #[command(flatten)]
    listen: ListenFlag,
    #[command(flatten)]
    run: RunFlags,
    #[command(flatten)]
    capture: CaptureFlag,
}

impl Arguments {
    /// Not where it only lists.
    pub(crate) fn measures(&self) -> bool {
        !self.list
    }
}

pub(crate) fn run(arguments: &Arguments, hosts: Option<&Hosts<'_>>) -> Result<Exit, Failure> {
    if arguments.list {
        output::write(&listing()?, None)?;
        return Ok(Exit::Success);
    }
    let draft = read(&arguments.plan)?;
    let flags = arguments.flags.0.clone();
    let inputs = Inputs {
        capture: arguments.capture.file(),
        catalogue: arguments.catalogue.folder(),
        listen: arguments.listen.listen,
        hosts,
    };
    experiment::carry_out(draft, flags, &arguments.run, inputs)
}

fn listing() -> Result<String, Failure> {
    let mut text = String::new();
    for plan in plans::BUILT_IN {
        let title = parse(plan.text, plan.name)?.title.unwrap_or_default();
        text += &format!("{:<16} {title}\n", plan.name);
    }
    Ok(text)
}

fn read(name: &str) -> Result<PlanDraft, Failure> {
    if let Some(plan) = plans::find(name) {
        return parse(plan.text, plan.name);
    }
    let path = Path::new(name);
    let is_meant_as_file = path.extension().is_some() || name.contains('/');
    if !is_meant_as_file && !path.exists() {
        return Err(unknown(name));
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format_args!("cannot read the plan {name}"))
            .cause(error)
            .hint("throng run --list shows the plans that are built in")
    })?;
    parse(&text, name)
}

fn parse(text: &str, origin: &str) -> Result<PlanDraft, Failure> {
    PlanDraft::parse(text, origin).map_err(|error| {
        // The problem comes with its suggestion; the quoted line belongs under the problem.
        let (problem, hint) = match error.problem.rsplit_once("; ") {
            Some((problem, hint)) => (problem, Some(hint)),
            None => (error.problem.as_str(), None),
        };
        let line = error.line;
        let failure = Failure::usage(format_args!(
            "{}, line {line}: {problem}\n  {line} | {}",
            error.origin, error.source_line
        ));
        failure.hint(hint.unwrap_or("docs/plans.md documents the keys of a plan"))
    })
}

fn unknown(name: &str) -> Failure {
    let names = || plans::BUILT_IN.iter().map(|plan: &BuiltInPlan| plan.name);
    let failure = Failure::usage(format_args!(
        "there is no built-in plan `{name}`, and no file of that name"
    ));
    failure.meant(
        nearest(name, names()),
        "throng run --list shows the plans that are built in",
    )
}
