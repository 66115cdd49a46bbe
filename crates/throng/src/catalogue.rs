//! The catalogue as commands use it: where it is, and what is done with its servers before a run.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueHint};
use throng_catalogue::catalogue::{Cache, Catalogue, CatalogueError, Prepared, prepare_plan};
use throng_lab::plan::PlanDraft;
use throng_record::BuiltInModel;
use throng_record::plan::Experiment;
use throng_record::{Plan, TargetKind};

use crate::failure::{Failure, note};

/// Where the catalogued servers are.
#[derive(Debug, Args)]
pub(crate) struct CatalogueFlag {
    /// Folder of a catalogue of your own: LANGUAGE/SERVER/server.toml [default: throng's own]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Launched servers")]
    catalogue: Option<PathBuf>,
}

impl CatalogueFlag {
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.catalogue.as_deref()
    }
}

/// This program's own file.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::failed("cannot find throng's own program").cause(error))
}

/// The catalogue, which a command must have.
pub(crate) fn find(named: Option<&Path>, program: &Path) -> Result<Catalogue, Failure> {
    let found = Catalogue::find(named, program);
    found.map_err(|error| {
        let failure = match &error {
            CatalogueError::Named { .. } => Failure::usage(error),
            CatalogueError::NoCache(_) | CatalogueError::Unpack { .. } => Failure::failed(error),
        };
        failure.with_hint_parted()
    })
}

/// The catalogue, where a target may be of it: nothing is unpacked for a run of built-in models.
pub(crate) fn find_for(
    draft: &PlanDraft,
    models: &[BuiltInModel],
    named: Option<&Path>,
    program: &Path,
) -> Result<Catalogue, Failure> {
    let mut targets = draft.targets.iter().flatten();
    let is_wanted = draft.experiment != Some(Experiment::Accept)
        && targets.any(|target| target.may_be_catalogued(models));
    if named.is_some() {
        return find(named, program);
    }
    if !is_wanted {
        return Ok(Catalogue::default());
    }
    let found = Catalogue::find(None, program);
    Ok(found.unwrap_or_else(|error| Catalogue::unavailable(error.to_string())))
}

/// Where what is built is kept.
pub(crate) fn cache() -> Result<Cache, Failure> {
    Cache::of_user().map_err(|error| Failure::failed(error).with_hint_parted())
}

/// Looks for what the catalogued servers of a plan need, and builds them; says what is built and what is left out.
pub(crate) fn prepare(
    plan: &mut Plan,
    catalogue: &Catalogue,
    interrupted: &AtomicBool,
) -> Result<Prepared, Failure> {
    let is_catalogued = |kind| kind == TargetKind::Catalogue;
    if !plan.targets.iter().any(|one| is_catalogued(one.kind)) {
        return Ok(Prepared::default());
    }
    let prepared = prepare_plan(plan, catalogue, &cache()?, interrupted, &mut |name| {
        note(format_args!("building {name}"));
    });
    for left_out in &plan.left_out {
        note(format_args!(
            "{} is left out: {}",
            left_out.name, left_out.why
        ));
    }
    if plan.targets.is_empty() {
        return Err(
            Failure::failed("no server that was asked for can run on this machine")
                .hint("install what is missing; throng servers lists it"),
        );
    }
    Ok(prepared)
}
