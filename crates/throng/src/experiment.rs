//! What every command that measures has in common: a draft becomes a plan, the plan is carried out, the record is reported.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueHint};
use throng_lab::capacity::{LoadFrom, foresee};
use throng_lab::plan::{Environment, PlanDraft, PlanError, Resolved, resolve, value};
use throng_lab::target::TargetDraft;
use throng_lab::{Finished, RunError, Setup};
use throng_record::plan::Experiment;
use throng_record::{BuiltInModel, RunRecord};
use throng_report::Format;
use throng_report::gate::Gate;
use throng_servers::Model;
use throng_sys::address::ParseError;

use crate::exit::Exit;
use crate::failure::{Failure, note};
use crate::gates::GateFlags;
use crate::hosts::{self, Hosts};
use crate::progress::Progress;
use crate::{bounds, catalogue, interrupt, output, verdict};

/// In which form a report is made, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct ReportFlags {
    /// Form of the report
    #[arg(long, default_value = Format::Terminal.name(), value_parser = formats(), help_heading = "Report")]
    pub(crate) format: Format,
    /// Show every table, cause and remedy in the terminal, instead of one screen
    #[arg(long, help_heading = "Report")]
    full: bool,
    /// File for the report, for hgrm a folder [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Report")]
    pub(crate) output: Option<PathBuf>,
}

/// Where runs are kept.
#[derive(Debug, Args)]
pub(crate) struct RunsFlag {
    /// Folder for the records of runs
    #[arg(long, value_name = "DIR", default_value = "throng-runs", value_hint = ValueHint::DirPath, help_heading = "Report")]
    pub(crate) runs_dir: PathBuf,
}

/// The flags of commands that measure, beyond those of the plan.
#[derive(Debug, Args)]
pub(crate) struct RunFlags {
    /// Fewer and shorter trials: two minutes at most
    #[arg(long, help_heading = "Load")]
    quick: bool,
    /// Time to repeat disturbed trials at the end; 0 for never [default: as long as the plan is estimated to take]
    #[arg(long, value_name = "TIME", value_parser = patience, help_heading = "Load")]
    patience: Option<Duration>,
    /// Treat disturbed trials (stolen CPU time, other programs, drift) as invalid, for a machine that is meant to be quiet
    #[arg(long, conflicts_with = "patience", help_heading = "Load")]
    strict: bool,
    /// Write no report.html beside the record
    #[arg(long, help_heading = "Report")]
    no_html: bool,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    gates: GateFlags,
    #[command(flatten)]
    runs: RunsFlag,
}

/// The page beside a record.
const PAGE: &str = "report.html";

/// Where the handshakes are kept as they were seen.
#[derive(Debug, Args)]
pub(crate) struct CaptureFlag {
    /// Keep the observed handshakes, for Wireshark; for backlog
    #[arg(long, value_name = "FILE.pcapng", value_hint = ValueHint::FilePath, help_heading = "Report")]
    capture: Option<PathBuf>,
}

impl CaptureFlag {
    pub(crate) fn file(&self) -> Option<&Path> {
        self.capture.as_deref()
    }
}

/// `0` needs no unit.
fn patience(text: &str) -> Result<Duration, String> {
    if text.trim() == "0" {
        return Ok(Duration::ZERO);
    }
    value::duration(text)
}

fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).map(|name| {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .expect("only formats are possible values")
    })
}

impl ReportFlags {
    /// Makes the report and writes it where it is wanted.
    pub(crate) fn write(&self, record: &RunRecord) -> Result<(), Failure> {
        let file = self.output.as_deref();
        if self.format == Format::Hgrm {
            return write_each(&throng_report::hgrm::files(record), file);
        }
        let text = throng_report::render(
            record,
            self.format,
            &output::report_options(file, self.full),
        );
        match self.format {
            Format::Html => output::write_page(&text, file),
            _ => output::write(&text, file),
        }
    }
}

/// One file to standard output, or as many as there are to a folder.
fn write_each(files: &[(String, String)], folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else {
        return match files {
            [(_, text)] => output::write(text, None),
            [] => {
                Err(Failure::failed("this run has no latencies")
                    .hint("throng report says what it has"))
            }
            several => Err(Failure::usage(format_args!(
                "this run has latencies of {} distributions, and the form has one for each file",
                several.len()
            ))
            .hint("name a folder for them: --output FOLDER")),
        };
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format_args!("cannot make the folder {}", folder.display()))
            .cause(error)
            .hint("give another place with --output")
    })?;
    let mut files = files.iter();
    files.try_for_each(|(name, text)| output::write(text, Some(&folder.join(name))))
}

/// What the models say of themselves.
pub(crate) fn built_in_models() -> Vec<BuiltInModel> {
    Model::ALL.map(|model| *model.declaration()).to_vec()
}

/// The targets of an experiment's command: servers that have a name or an address, and those to launch.
pub(crate) fn targets(texts: &[String], commands: &[String]) -> Vec<TargetDraft> {
    let texts = texts.iter().map(|text| text.as_str().into());
    texts
        .chain(commands.iter().map(|text| TargetDraft::command(text)))
        .collect()
}

/// What some commands have beside a plan and the flags of every run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Inputs<'a> {
    /// Where handshakes are kept.
    pub(crate) capture: Option<&'a Path>,
    /// Where the catalogue is.
    pub(crate) catalogue: Option<&'a Path>,
    /// Where launched servers listen, if that is asked for.
    pub(crate) listen: Option<IpAddr>,
    /// Where the load is generated; `None`: here.
    pub(crate) hosts: Option<&'a Hosts<'a>>,
}

/// Carries out what `draft` and, laid over it, `flags` ask for, and reports it.
pub(crate) fn carry_out(
    draft: PlanDraft,
    flags: PlanDraft,
    run: &RunFlags,
    inputs: Inputs<'_>,
) -> Result<Exit, Failure> {
    let capture = inputs.capture;
    let draft = if run.quick { draft.shortened() } else { draft };
    let draft = draft.overlay(flags);
    let program = catalogue::program()?;
    let models = built_in_models();
    let catalogue = catalogue::find_for(&draft, &models, inputs.catalogue, &program)?;
    let stations = inputs.hosts.map(Hosts::muster).transpose()?;
    let mut environment = Environment::detect(models, catalogue);
    if let Some(stations) = &stations {
        stations.remarks().iter().for_each(note);
        environment.generators = stations.generators().to_vec();
    }
    let Resolved { mut plan, notes } = resolve(draft, &environment).map_err(plan_failure)?;
    let listen = hosts::listening(inputs.listen, &plan, &environment, stations.as_ref())?;
    if capture.is_some() && plan.experiment != Experiment::Backlog {
        return Err(Failure::usage(
            "--capture keeps handshakes, and only the backlog experiment looks at them",
        )
        .hint("leave --capture out, or see throng backlog --help"));
    }
    let gates = run.gates.read(&plan)?;
    let bounds = bounds::read(&plan)?;
    notes.iter().for_each(note);
    let from = match listen {
        Some(listen) if stations.is_some() => LoadFrom::Hosts {
            generators: &environment.generators,
            listen,
        },
        _ => LoadFrom::Here,
    };
    let foresight = foresee(&plan, &environment.models, &environment.limits, from);
    foresight.notes.iter().for_each(note);
    if let Some(refusal) = foresight.refusal {
        return Err(Failure::usage(refusal).with_hint_parted());
    }
    let interrupted = match inputs.hosts {
        Some(hosts) => hosts.interrupted(),
        None => interrupt::watch()?,
    };
    let prepared = catalogue::prepare(&mut plan, &environment.catalogue, &interrupted)?;
    let setup = Setup {
        throng_program: &program,
        catalogue: &prepared,
        runs_directory: &run.runs.runs_dir,
        throng_version: env!("CARGO_PKG_VERSION"),
        models: &environment.models,
        capture,
        patience: run.patience,
        is_strict: run.strict,
        stations: stations.as_ref(),
        listen,
        bounds: bounds.as_ref().map(|bounds| bounds as _),
        interrupted: &interrupted,
    };
    let mut progress = Progress::new();
    let finished = throng_lab::run(&plan, &setup, &mut |event| progress.tell(event));
    progress.clear();
    conclude(&finished.map_err(run_failure)?, run, &gates)
}

/// Reports what was measured, and then what went wrong.
fn conclude(finished: &Finished, run: &RunFlags, gates: &[Gate]) -> Result<Exit, Failure> {
    let Finished {
        record,
        path,
        captured,
    } = finished;
    // The page that stands beside the record is the one that was asked for.
    let is_drawn_anyway = run.report.format == Format::Html
        && run.report.output.is_none()
        && !run.no_html
        && output::is_terminal();
    let written = match is_drawn_anyway {
        true => Ok(()),
        false => run.report.write(record),
    };
    let mut complaints = verdict::complaints(record);
    complaints.extend(run.gates.judge(gates, record));
    complaints.iter().for_each(Failure::print);
    let folder = path.parent().unwrap_or(path);
    let drawn = match run.no_html {
        true => Ok(None),
        false => draw(record, folder).map(Some),
    };
    let charts = match &drawn {
        Ok(Some(page)) => format!("charts: {}; ", page.display()),
        Ok(None) | Err(_) => String::new(),
    };
    note(format_args!(
        "{charts}the record: {}; other reports: throng report {} --format html|markdown|csv|csv-tidy|json|hdr-log|hgrm",
        path.display(),
        folder.display(),
    ));
    written?;
    drawn?;
    match captured {
        Some(Ok(0)) => note(format_args!(
            "no segment of handshakes was captured: {}",
            verdict::why_no_handshakes(record)
        )),
        Some(Ok(segments)) => note(format_args!(
            "{segments} segments of handshakes were captured"
        )),
        Some(Err(error)) => return Err(Failure::failed(error)),
        None => {}
    }
    Ok(match (record.interrupted, complaints.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::Failed,
    })
}

/// The page with charts, where the record is.
fn draw(record: &RunRecord, folder: &Path) -> Result<PathBuf, Failure> {
    let page = folder.join(PAGE);
    let text = throng_report::render(record, Format::Html, &throng_report::Options::default());
    std::fs::write(&page, text).map_err(|error| {
        Failure::failed(format_args!("cannot write {}", page.display()))
            .cause(error)
            .hint("the record is there; make the page elsewhere with throng report --format html --output FILE")
    })?;
    Ok(page)
}

fn run_failure(error: RunError) -> Failure {
    match error {
        RunError::Network(error) => Failure::usage(error),
        RunError::Capture(error) => Failure::usage(error),
        error @ (RunError::Store(_) | RunError::Identity(_)) => Failure::failed(error),
    }
    .with_hint_parted()
}

/// What is wrong with a plan, as a user reads it.
pub(crate) fn plan_failure(error: PlanError) -> Failure {
    match error {
        PlanError::UnknownModel {
            model,
            nearest,
            known,
        } => {
            let meant = nearest.trim_start_matches("; ").trim_end_matches('.');
            let known =
                format!("built in are {known}; a running server is written tcp://HOST:PORT");
            let hint = if meant.is_empty() {
                known
            } else {
                format!("{meant} ({known})")
            };
            Failure::usage(format_args!("there is no model `{model}`")).hint(hint)
        }
        PlanError::Address { text, error } => address_failure(&text, error),
        other => Failure::usage(other).with_hint_parted(),
    }
}

fn address_failure(target: &str, error: ParseError) -> Failure {
    let failure = Failure::usage(format_args!("target `{target}` is no address"));
    match error {
        ParseError::Unresolved { source, .. } => failure
            .cause(source)
            .hint("check the name of the host, or give its numeric address"),
        ParseError::Malformed(_) if target.starts_with("http://") => {
            failure.hint("write http://HOST:PORT/PATH, with a port from 1 to 65535")
        }
        ParseError::Malformed(_) | ParseError::NoPath => {
            failure.hint("write tcp://HOST:PORT, tcp://[IPV6]:PORT or unix:PATH")
        }
    }
}

#[cfg(test)]
mod tests;
