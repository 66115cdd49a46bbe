//! `throng report RUN`: every report again, from a stored run.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use throng_record::schema;
use throng_report::Format;

use crate::exit::Exit;
use crate::experiment::{ReportFlags, RunsFlag};
use crate::failure::Failure;
use crate::gates::GateFlags;
use crate::{output, runs};

const AFTER_HELP: &str = "\
Examples:
  throng report                                        the last run in throng-runs
  throng report latest --format markdown --output run.md
  throng report throng-runs/2026-01-31T12-00-00Z-tour --format csv
  throng report 'before the fix' --full                see throng runs --help for labels
  throng report --fail-if 'p99 > 5ms' --fail-if 'errors > 0'
  throng report --schema > run.schema.json
  throng report --schema --format json > summary.schema.json

Nothing is measured again: a report only reads the record.";

/// Make a report again from a stored run
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// A run's folder or its name in --runs-dir, its run.json, its label, or `latest`
    #[arg(default_value = "latest", value_hint = ValueHint::AnyPath)]
    run: PathBuf,
    /// Print the JSON Schema of run.json, with --format json that of this report, and do nothing else
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    gates: GateFlags,
    #[command(flatten)]
    runs: RunsFlag,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if arguments.schema {
        let schema = match arguments.report.format {
            Format::Json => throng_report::schema::JSON_SCHEMA,
            _ => schema::JSON_SCHEMA,
        };
        output::write(schema, arguments.report.output.as_deref())?;
        return Ok(Exit::Success);
    }
    let path = runs::find(&arguments.run, &arguments.runs.runs_dir)?;
    let record = runs::read(&path)?;
    let gates = arguments.gates.read(&record.plan)?;
    arguments.report.write(&record)?;
    let failures = arguments.gates.judge(&gates, &record);
    failures.iter().for_each(Failure::print);
    Ok(match failures.is_empty() {
        true => Exit::Success,
        false => Exit::Failed,
    })
}
