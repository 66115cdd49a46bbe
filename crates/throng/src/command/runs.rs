//! `throng runs`: the runs that are kept, their labels, and removing those that nobody needs.
//!
//! A label is a file in the run's folder: the record stays as it was measured.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueHint};
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::experiment::RunsFlag;
use crate::failure::Failure;
use crate::output::{self, Audience};
use crate::runs::{self, LABEL};
use crate::table;

const AFTER_HELP: &str = "\
Examples:
  throng runs                                     the runs in throng-runs, newest first
  throng runs label latest 'before the fix'
  throng report 'before the fix'
  throng runs prune --keep 20 --dry-run           what would be removed
  throng runs prune --keep 20                     keeps the newest 20, and all that have a label";

/// List the runs that are kept, label them, remove old ones
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = Audience::Terminal)]
    format: Audience,
    #[command(flatten)]
    runs: RunsFlag,
}

#[derive(Debug, Subcommand)]
enum Action {
    Label(LabelArguments),
    Prune(PruneArguments),
}

/// Give a run a label, under which `throng report` finds it
#[derive(Debug, Args)]
struct LabelArguments {
    /// A run's folder, its name, its present label, or `latest`
    #[arg(value_hint = ValueHint::AnyPath)]
    run: PathBuf,
    /// The label; an empty one takes it away
    label: String,
    #[command(flatten)]
    runs: RunsFlag,
}

/// Remove old runs; those with a label stay
#[derive(Debug, Args)]
struct PruneArguments {
    /// Runs to keep, the newest
    #[arg(long, value_name = "N")]
    keep: usize,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    runs: RunsFlag,
}

/// A run as the list shows it.
#[derive(Debug, Serialize)]
struct StoredRun {
    /// Name of its folder.
    name: String,
    label: Option<String>,
    /// Absent where its record cannot be read.
    record: Option<Head>,
    #[serde(skip)]
    folder: PathBuf,
}

/// What the list reads of a record: its trials are only counted.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    started_at: String,
    duration_ns: u64,
    trials_planned: u32,
    #[serde(rename(serialize = "trials_made"), deserialize_with = "counted")]
    trials: usize,
    interrupted: bool,
    plan: Title,
}

#[derive(Debug, Serialize, Deserialize)]
struct Title {
    name: String,
    title: String,
}

/// Attempts that another took the place of do not count.
fn counted<'de, D: serde::Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    #[derive(Deserialize)]
    struct Trial {
        #[serde(default)]
        is_superseded: bool,
    }
    let trials = Vec::<Trial>::deserialize(from)?;
    let superseded = trials.iter().filter(|trial| trial.is_superseded).count();
    Ok(trials.len() - superseded)
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    match &arguments.action {
        None => list(arguments),
        Some(Action::Label(label)) => give_label(label),
        Some(Action::Prune(prune)) => remove_old(prune),
    }
}

/// The runs below a folder, the newest first: their names begin with their time.
fn kept(runs_directory: &Path) -> Vec<StoredRun> {
    let entries = fs::read_dir(runs_directory).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path());
    let mut kept: Vec<StoredRun> = folders
        .filter(|folder| folder.join("run.json").is_file())
        .map(|folder| {
            let text = fs::read_to_string(folder.join("run.json")).ok();
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            StoredRun {
                name: name.into_owned(),
                label: runs::label(&folder),
                record: text.and_then(|text| serde_json::from_str(&text).ok()),
                folder,
            }
        })
        .collect();
    kept.sort_by(|one, other| other.name.cmp(&one.name));
    kept
}

fn list(arguments: &Arguments) -> Result<Exit, Failure> {
    let kept = kept(&arguments.runs.runs_dir);
    let text = match arguments.format {
        Audience::Json => output::json(&kept),
        Audience::Terminal if kept.is_empty() => format!(
            "There is no run in {}.\n",
            arguments.runs.runs_dir.display()
        ),
        Audience::Terminal => for_people(&kept),
    };
    output::write(&text, None)?;
    Ok(Exit::Success)
}

fn for_people(kept: &[StoredRun]) -> String {
    let mut table = table::of(["run", "label", "trials", "took", "question"]);
    for run in kept {
        let label = run.label.clone().unwrap_or_default();
        let cells = match &run.record {
            Some(head) => [
                trials(head),
                throng_record::format::setting_ns(head.duration_ns / 100_000_000 * 100_000_000),
                head.plan.title.clone(),
            ],
            None => [String::new(), String::new(), "not readable".to_owned()],
        };
        table.add_row([run.name.clone(), label].into_iter().chain(cells));
    }
    table::text_of(table)
}

/// `171`, or `12 of 171, interrupted`.
fn trials(head: &Head) -> String {
    let planned = head.trials_planned as usize;
    match (head.interrupted, head.trials == planned) {
        (false, true) => planned.to_string(),
        (false, false) => format!("{} of {planned}", head.trials),
        (true, _) => format!("{} of {planned}, interrupted", head.trials),
    }
}

fn give_label(arguments: &LabelArguments) -> Result<Exit, Failure> {
    let record = runs::find(&arguments.run, &arguments.runs.runs_dir)?;
    let folder = record.parent().unwrap_or(Path::new("."));
    if !record.is_file() {
        return Err(
            Failure::usage(format_args!("there is no run {}", arguments.run.display()))
                .hint("`throng runs` lists those there are"),
        );
    }
    let label = arguments.label.trim();
    if label == "latest" || label.contains('/') {
        return Err(Failure::usage("a label is neither `latest` nor a path"));
    }
    let of_another = runs::labelled(label, &arguments.runs.runs_dir);
    if let Some(other) = of_another.filter(|other| !is_same(other, folder)) {
        return Err(Failure::usage(format_args!(
            "{} has the label '{label}' already",
            other.display()
        ))
        .hint("choose another one, or take it away there first: throng runs label RUN ''"));
    }
    let file = folder.join(LABEL);
    let written = match label {
        "" => fs::remove_file(&file).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        }),
        label => fs::write(&file, format!("{label}\n")),
    };
    let failed =
        |error| Failure::failed(format_args!("cannot write {}", file.display())).cause(error);
    written.map_err(failed)?;
    Ok(Exit::Success)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn remove_old(arguments: &PruneArguments) -> Result<Exit, Failure> {
    let kept = kept(&arguments.runs.runs_dir);
    let old = kept.iter().skip(arguments.keep);
    let mut text = String::new();
    for run in old.filter(|run| run.label.is_none()) {
        if !arguments.dry_run {
            fs::remove_dir_all(&run.folder).map_err(|error| {
                Failure::failed(format_args!("cannot remove {}", run.folder.display())).cause(error)
            })?;
        }
        text += &format!("{}\n", run.folder.display());
    }
    output::write(&text, None)?;
    Ok(Exit::Success)
}
