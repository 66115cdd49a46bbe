//! A run: every trial of a plan, in its order, with the record kept after each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use throng_record::{Outcome, Plan, RunRecord, SCHEMA_VERSION, Trial};
use throng_sys::clock::monotonic_ns;
use throng_sys::limits;

use crate::capacity::Facts;
use crate::catalogue::Prepared;
use crate::event::Event;
use crate::lifetime::Launch;
use crate::network::{NetworkError, Networks};
use crate::observer::capture::{Capture, CaptureError};
use crate::order::{Cell, order, trials};
use crate::plan::BuiltInModel;
use crate::store::{Store, StoreError};
use crate::trial::{Bench, Made, Servers};
use crate::{estimate, machine};

/// The surroundings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The program that is started as `throng serve` and `throng load`: `std::env::current_exe()`.
    pub throng_program: &'a Path,
    /// How the catalogued servers of the plan are started: what [`crate::catalogue::prepare_plan`] made of it.
    pub catalogue: &'a Prepared,
    /// Where runs are kept, each in a folder of its own; made if it is missing.
    pub runs_directory: &'a Path,
    /// Version of the program, for the record.
    pub throng_version: &'a str,
    /// The built-in models, for the estimate.
    pub models: &'a [BuiltInModel],
    /// Where the handshakes seen are to be kept for other tools, in pcapng; `None`: nowhere.
    pub capture: Option<&'a Path>,
    /// Raised by the caller (on SIGINT, SIGTERM) to end early and keep what was measured.
    pub interrupted: &'a AtomicBool,
}

/// A run that has ended, early or not.
#[derive(Debug)]
pub struct Finished {
    /// All that was measured, as it is stored.
    pub record: RunRecord,
    /// Its file.
    pub path: PathBuf,
    /// Where a capture was asked for: the segments in it, or why some of them are missing.
    pub captured: Option<Result<u64, CaptureError>>,
}

/// A run that could not begin, or not be kept. That a target fails is no error of the run: it stands in its trials' outcomes.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The record could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The network that the plan asks for cannot be had.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The handshakes could not be kept where they should.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

/// Carries a plan out, and tells what happens. Must be called from a thread that lives until it returns, as children are bound to the
/// thread that starts them; the soft limit on open files is raised for this process and them.
///
/// # Errors
/// [`RunError`] where the record cannot be kept; trials made until then are in the last complete state of the file.
pub fn run(
    plan: &Plan,
    setup: &Setup<'_>,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Finished, RunError> {
    // What is refused here shows up as descriptors that run out, and is explained there.
    let _ = limits::raise_open_files();
    let capture = setup.capture.map(Capture::create).transpose()?;
    let networks = Networks::prepare(plan, setup.throng_program, setup.interrupted)?;
    let started_at_ns = monotonic_ns();
    let now = jiff::Timestamp::now();
    let store = Store::create(
        setup.runs_directory,
        &now.strftime("%Y-%m-%dT%H-%M-%SZ").to_string(),
        &plan.name,
    )?;
    let mut record = RunRecord {
        schema_version: SCHEMA_VERSION,
        throng_version: setup.throng_version.to_owned(),
        started_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        duration_ns: 0,
        plan: plan.clone(),
        machine: machine::describe(),
        network: networks.record.clone(),
        trials_planned: trials(plan),
        trials: vec![],
        interrupted: false,
    };
    store.write(&record)?;
    let path = store.path();
    on_event(Event::Started {
        plan,
        trials: record.trials_planned,
        estimate: estimate(plan, setup.models, &Facts::read()),
        network: &record.network,
        path: &path,
    });
    let mut conductor = Conductor {
        bench: Bench {
            plan,
            throng_program: setup.throng_program,
            catalogue: setup.catalogue,
            networks: &networks,
            interrupted: setup.interrupted,
            started_at_ns,
            capture: capture.as_ref(),
        },
        servers: Servers::default(),
        hopeless: HashMap::new(),
    };
    for (order, cell) in (0_u32..).zip(order(plan)) {
        if setup.interrupted.load(Ordering::Relaxed) {
            break;
        }
        let trial = conductor.make(cell, order, record.trials_planned, on_event);
        record.trials.push(trial);
        record.duration_ns = monotonic_ns().saturating_sub(started_at_ns);
        record.interrupted = setup.interrupted.load(Ordering::Relaxed);
        store.write(&record)?;
        if let Some(trial) = record.trials.last() {
            let target = &plan.targets[trial.target as usize];
            on_event(Event::TrialFinished { trial, target });
        }
    }
    // Lives still where the run was ended in the middle of its sweep.
    conductor.servers.end();
    record.duration_ns = monotonic_ns().saturating_sub(started_at_ns);
    record.interrupted = setup.interrupted.load(Ordering::Relaxed);
    store.write(&record)?;
    let captured = capture.map(|capture| capture.finish());
    Ok(Finished {
        record,
        path,
        captured,
    })
}

/// Makes trials, and spares those of targets that cannot be started.
struct Conductor<'a> {
    bench: Bench<'a>,
    servers: Servers,
    /// Why, by target and what it is launched with.
    hopeless: HashMap<(u32, Launch), String>,
}

impl Conductor<'_> {
    fn make(
        &mut self,
        cell: Cell,
        order: u32,
        trials: u32,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Trial {
        let setting = &self.bench.plan.settings[cell.setting as usize];
        on_event(Event::TrialStarted {
            order,
            trials,
            target: &self.bench.plan.targets[cell.target as usize],
            setting,
            repeat: cell.repeat,
        });
        let launch = (cell.target, Launch::of(setting));
        if let Some(message) = self.hopeless.get(&launch) {
            return self.bench.spare(cell, order, message.clone());
        }
        let mut on_progress = |phase, replies, elapsed: Duration| {
            on_event(Event::Progress {
                order,
                phase,
                replies,
                elapsed,
            });
        };
        let Made { trial, is_hopeless } =
            self.bench
                .make(cell, order, &mut self.servers, &mut on_progress);
        if let (true, Outcome::Failed { message }) = (is_hopeless, &trial.outcome) {
            self.hopeless.insert(launch, message.clone());
        }
        trial
    }
}

#[cfg(test)]
mod tests;
