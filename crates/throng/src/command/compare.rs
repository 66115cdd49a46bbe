//! `throng compare A B`: runs beside each other, or targets of one run.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use throng_catalogue::suggest::nearest;
use throng_record::RunRecord;
use throng_report::compare::{self, CompareError, Comparison, Line, Named};
use throng_report::gate::Gate;

use crate::exit::Exit;
use crate::experiment::RunsFlag;
use crate::failure::Failure;
use crate::gates::GateFlags;
use crate::table::Column;
use crate::{output, runs, table};

const AFTER_HELP: &str = "\
Examples:
  throng compare 'before the fix' latest        see throng runs --help for labels
  throng compare latest --target epoll-edge --target tokio
  throng compare old new --figure latency_ns_p99_9 --figure server_system_share
  throng compare old new --format html --output comparison.html
  throng compare main branch --fail-if 'p99 > 1.05 * baseline' --fail-if 'errors > 0'

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
    gates: GateFlags,
    #[command(flatten)]
    runs: RunsFlag,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// A table to look at
    Terminal,
    /// A page with charts, both in each
    Html,
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
    let gates = match named.first() {
        Some(first) => arguments.gates.read_between(&first.record.plan)?,
        None => vec![],
    };
    let comparison = arguments.compare(&named, &arguments.figures)?;
    let file = arguments.output.as_deref();
    match arguments.format {
        Form::Terminal => output::write(&terminal(&comparison), file),
        Form::Html => {
            let page = throng_report::page_of_comparison(&comparison, &named, &arguments.targets);
            output::write_page(&page, file)
        }
        Form::Markdown => output::write(&comparison.markdown(), file),
        Form::Json => output::write(&output::json(&comparison), file),
    }?;
    let failures = arguments.judge(&gates, &named)?;
    failures.iter().for_each(Failure::print);
    Ok(match failures.is_empty() {
        true => Exit::Success,
        false => Exit::Failed,
    })
}

impl Arguments {
    /// In these figures, or in the usual ones.
    fn compare(&self, runs: &[Named<'_>], figures: &[String]) -> Result<Comparison, Failure> {
        let comparison = match (runs, self.targets.len()) {
            ([run], 2..) => compare::targets(*run, &self.targets, figures),
            ([_], _) => {
                return Err(
                    Failure::usage("one run, and nothing to compare it with").hint(
                        "name another run, or two of its targets: --target epoll-edge --target tokio",
                    ),
                );
            }
            ([first, others @ ..], 0) => compare::runs(*first, others, figures),
            _ => {
                return Err(Failure::usage(
                    "--target compares targets of one run, and several runs are named",
                )
                .hint("name one run, or leave --target out"));
            }
        };
        comparison.map_err(failure)
    }

    /// Which conditions are met. The baseline is what all else is compared with: the first run, or the first target.
    fn judge(&self, gates: &[Gate], runs: &[Named<'_>]) -> Result<Vec<Failure>, Failure> {
        if gates.is_empty() {
            return Ok(vec![]);
        }
        let figures: Vec<String> = gates.iter().map(|gate| gate.figure().to_owned()).collect();
        let comparison = self.compare(runs, &figures)?;
        Ok(self.gates.judge_between(gates, &comparison))
    }
}

const FIGURE: Column<Line> = ("figure", |line| line.heading.clone());
const FIRST: Column<Line> = ("first", |line| line.before.clone());
const OTHER: Column<Line> = ("other", |line| line.after.clone());
const RATIO: Column<Line> = ("other ÷ first", Line::ratio_in_words);
const VERDICT: Column<Line> = ("", |line| line.verdict.words().to_owned());

/// The first that has room.
const LAYOUTS: &[&[Column<Line>]] = &[
    &[FIGURE, FIRST, OTHER, RATIO, VERDICT],
    &[FIGURE, RATIO, VERDICT],
];

fn terminal(comparison: &Comparison) -> String {
    let mut text = format!("{}\n", comparison.sentence());
    for caution in &comparison.cautions {
        text += &format!("not the same: {caution}\n");
    }
    let lines = &comparison.lines;
    let row_of = |line: &Line| format!("{} · {}", line.row(), line.other);
    let several = lines.iter().any(|line| line.other != lines[0].other);
    text += &table::groups(lines, if several { row_of } else { Line::row }, LAYOUTS);
    if !comparison.unmatched.is_empty() {
        text += "\nNot compared\n";
        for row in &comparison.unmatched {
            text += &format!("- {row}\n");
        }
    }
    text
}

fn failure(error: CompareError) -> Failure {
    let failure = Failure::usage(&error);
    match &error {
        CompareError::Target { name, known } | CompareError::Figure { name, known } => {
            let meant = nearest(name, known.iter().map(String::as_str));
            failure.meant(meant, format_args!("there are {}", known.join(", ")))
        }
        CompareError::Experiments(_) => failure.with_hint_parted(),
        CompareError::NothingInCommon(_) => {
            failure.hint("measure the same targets at the same settings: throng run PLAN")
        }
    }
}
