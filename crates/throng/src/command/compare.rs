//! `throng compare A B`: runs beside each other, or targets of one run.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use throng_catalogue::suggest::nearest;
use throng_record::RunRecord;
use throng_record::format::plural;
use throng_report::compare::{self, CompareError, Comparison, Line, Named, Verdict};

use crate::exit::Exit;
use crate::experiment::RunsFlag;
use crate::failure::Failure;
use crate::table::Column;
use crate::{output, runs, table};

const AFTER_HELP: &str = "\
Examples:
  throng compare 'before the fix' latest        see throng runs --help for labels
  throng compare latest --target epoll-edge --target tokio
  throng compare old new --figure latency_ns_p99_9 --figure server_system_share
  throng compare old new --format markdown --output comparison.md

Targets and settings that both have are compared. \"faster\" and \"slower\" are said where the 95 % interval of the
ratio does not contain 1, which takes four repeats in each run.";

/// Compare runs, or targets of one run
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Runs: folders, names in --runs-dir, run.json files, labels, or `latest`; the others are compared with the first
    #[arg(value_name = "RUN", required = true, value_hint = ValueHint::AnyPath)]
    names: Vec<PathBuf>,
    /// Compare targets of one run, the others with the first; repeat it
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    /// Figure to compare instead of the usual ones, by its name in CSV and JSON; may be repeated
    #[arg(long = "figure", value_name = "FIGURE")]
    figures: Vec<String>,
    /// Form of the comparison
    #[arg(long, value_enum, default_value_t = Form::Terminal, help_heading = "Report")]
    format: Form,
    /// File for the comparison [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Report")]
    output: Option<PathBuf>,
    #[command(flatten)]
    runs: RunsFlag,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// A table to look at
    Terminal,
    /// The same as GitHub Markdown, for an issue or a pull request
    Markdown,
    /// For programs
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let read = |name: &PathBuf| -> Result<(String, RunRecord), Failure> {
        let path = runs::find(name, &arguments.runs.runs_dir)?;
        Ok((name.display().to_string(), runs::read(&path)?))
    };
    let records: Vec<_> = arguments.names.iter().map(read).collect::<Result<_, _>>()?;
    let named: Vec<Named<'_>> = records
        .iter()
        .map(|(name, record)| Named { name, record })
        .collect();
    let comparison = match (&named[..], arguments.targets.len()) {
        ([run], 2..) => compare::targets(*run, &arguments.targets, &arguments.figures),
        ([_], _) => {
            return Err(
                Failure::usage("one run, and nothing to compare it with").hint(
                    "name another run, or two of its targets: --target epoll-edge --target tokio",
                ),
            );
        }
        ([first, others @ ..], 0) => compare::runs(*first, others, &arguments.figures),
        _ => {
            return Err(Failure::usage(
                "--target compares targets of one run, and several runs are named",
            )
            .hint("name one run, or leave --target out"));
        }
    };
    let comparison = comparison.map_err(failure)?;
    let text = match arguments.format {
        Form::Terminal => terminal(&comparison),
        Form::Markdown => comparison.markdown(&sentence(&comparison)),
        Form::Json => output::json(&comparison),
    };
    output::write(&text, arguments.output.as_deref())?;
    Ok(Exit::Success)
}

/// A line as it is shown: cells of one column are equally wide in all tables.
struct Shown {
    row: String,
    other: String,
    cells: [String; 5],
}

const FIGURE: Column<Shown> = ("figure", |line| line.cells[0].clone());
const FIRST: Column<Shown> = ("first", |line| line.cells[1].clone());
const OTHER: Column<Shown> = ("other", |line| line.cells[2].clone());
const RATIO: Column<Shown> = ("other ÷ first", |line| line.cells[3].clone());
const VERDICT: Column<Shown> = ("", |line| line.cells[4].clone());

/// The first that has room.
const LAYOUTS: &[&[Column<Shown>]] = &[
    &[FIGURE, FIRST, OTHER, RATIO, VERDICT],
    &[FIGURE, RATIO, VERDICT],
];

fn aligned(lines: &[Line]) -> Vec<Shown> {
    let cells = |line: &Line| {
        [
            line.heading.clone(),
            line.before.clone(),
            line.after.clone(),
            line.ratio_in_words(),
            line.verdict.words().to_owned(),
        ]
    };
    let wide = |text: &String| text.chars().count();
    let widest = |column: usize| lines.iter().map(|line| wide(&cells(line)[column])).max();
    let widths = [0, 1, 2, 3].map(|column| widest(column).unwrap_or(0));
    let shown = |line: &Line| {
        let mut cells = cells(line);
        for (cell, width) in cells.iter_mut().zip(widths) {
            // A terminal's table cuts blanks off at the end of a cell, but not these.
            let missing = width.saturating_sub(wide(cell));
            cell.push_str(&"\u{a0}".repeat(missing));
        }
        Shown {
            row: format!("{} at {}", line.target, line.setting),
            other: line.other.clone(),
            cells,
        }
    };
    lines.iter().map(shown).collect()
}

fn terminal(comparison: &Comparison) -> String {
    let mut text = format!("{}\n", sentence(comparison));
    for caution in &comparison.cautions {
        text += &format!("not the same: {caution}\n");
    }
    let several = comparison
        .lines
        .iter()
        .any(|line| line.other != comparison.lines[0].other);
    let shown: Vec<Shown> = aligned(&comparison.lines);
    let mut rest = &shown[..];
    while let Some(first) = rest.first() {
        let is_same = |line: &&Shown| line.row == first.row && line.other == first.other;
        let (group, others) = rest.split_at(rest.iter().take_while(is_same).count());
        let whose = match several {
            true => format!("{} · {}", first.row, first.other),
            false => first.row.clone(),
        };
        text += &format!("\n{whose}\n{}", table::list(group, LAYOUTS));
        rest = others;
    }
    if !comparison.unmatched.is_empty() {
        text += "\nNot compared\n";
        for row in &comparison.unmatched {
            text += &format!("- {row}\n");
        }
    }
    text
}

/// The answer first: in how many lines something is seen.
fn sentence(comparison: &Comparison) -> String {
    let verdicts = [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::More,
        Verdict::Less,
        Verdict::NoDifferenceSeen,
        Verdict::TooFewRepeats,
        Verdict::OnlyABound,
        Verdict::NoRatio,
    ];
    let parts = verdicts.into_iter().filter_map(|verdict| {
        let lines = comparison.lines.iter();
        match lines.filter(|line| line.verdict == verdict).count() {
            0 => None,
            number => Some(format!("{number} {}", verdict.words())),
        }
    });
    let figures = plural(comparison.lines.len() as u64, "figure");
    let parts = parts.collect::<Vec<_>>().join(", ");
    format!("Compared with {}, {figures}: {parts}.", comparison.first)
}

fn failure(error: CompareError) -> Failure {
    let failure = Failure::usage(&error);
    match &error {
        CompareError::Target { name, known } | CompareError::Figure { name, known } => {
            let nearest = nearest(name, known.iter().map(String::as_str));
            match nearest {
                Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
                None => failure.hint(format!("there are {}", known.join(", "))),
            }
        }
        CompareError::Experiments(_) => failure.with_hint_parted(),
        CompareError::NothingInCommon(_) => {
            failure.hint("measure the same targets at the same settings: throng run PLAN")
        }
    }
}
