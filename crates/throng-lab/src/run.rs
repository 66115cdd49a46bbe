//! A run: every trial of a plan, in its order, with the record kept after each; then those that were disturbed, again.

mod again;
mod searching;
mod spared;

use std::borrow::Cow;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use throng_record::{BuiltInModel, Plan, RunRecord, SCHEMA_VERSION, Trial};
use throng_sys::clock::monotonic_ns;
use throng_sys::limits;

use crate::event::Event;
use crate::network::{NetworkError, Networks};
use crate::observer::capture::{Capture, CaptureError};
use crate::order::{self, Cell, order, trials};
use crate::search::{self, Bounds};
use crate::stations::Stations;
use crate::store::{Store, StoreError};
use crate::tls::{Identity, IdentityError};
use crate::trial::{Bench, Made, Servers};
use crate::{estimate, machine};
use spared::Spared;
use throng_catalogue::catalogue::Prepared;
use throng_child::guard::Guard;

/// The surroundings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The program that is started as `throng serve` and `throng load`: `std::env::current_exe()`.
    pub throng_program: &'a Path,
    /// How the catalogued servers of the plan are started: what [`throng_catalogue::catalogue::prepare_plan`] made of it.
    pub catalogue: &'a Prepared,
    /// Where runs are kept, each in a folder of its own; made if it is missing.
    pub runs_directory: &'a Path,
    /// Version of the program, for the record.
    pub throng_version: &'a str,
    /// The built-in models, for the estimate.
    pub models: &'a [BuiltInModel],
    /// Where the handshakes seen are to be kept for other tools, in pcapng; `None`: nowhere.
    pub capture: Option<&'a Path>,
    /// How long disturbed trials are made again at the end; `None`: for as long as the plan was estimated to take.
    pub patience: Option<Duration>,
    /// Whether a disturbed trial is an invalid one, and is not made again.
    pub is_strict: bool,
    /// Who generates the load, where that is done on other hosts.
    pub stations: Option<&'a Stations<'a>>,
    /// Where launched servers listen; `None`: on loopback.
    pub listen: Option<IpAddr>,
    /// What is to hold, where rates are searched for.
    pub bounds: Option<&'a dyn Bounds>,
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
    /// Launched servers that are to speak TLS have no certificate.
    #[error(transparent)]
    Identity(#[from] IdentityError),
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
    let _guard = Guard::post(setup.throng_program);
    let capture = setup.capture.map(Capture::create).transpose()?;
    let speak_tls = plan.settings.iter().any(|setting| setting.tls);
    let identity = speak_tls.then(Identity::make).transpose()?;
    let networks = Networks::prepare(plan, setup.throng_program, setup.interrupted)?;
    let started_at_ns = monotonic_ns();
    let started_at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let store = Store::create(
        setup.runs_directory,
        &started_at.replace(':', "-"),
        &plan.name,
    )?;
    let mut record = RunRecord {
        schema_version: SCHEMA_VERSION,
        throng_version: setup.throng_version.to_owned(),
        started_at,
        duration_ns: 0,
        plan: plan.clone(),
        machine: machine::describe(),
        network: networks.record.clone(),
        hosts: setup
            .stations
            .map_or_else(Vec::new, |all| all.hosts().to_vec()),
        trials_planned: expected_trials(plan),
        trials: vec![],
        searches: vec![],
        interrupted: true,
    };
    store.write(&record)?;
    let path = store.path();
    let estimate = estimate(
        &as_one(plan, setup.stations),
        setup.models,
        &machine::limits(),
    );
    on_event(Event::Started {
        plan,
        trials: record.trials_planned,
        estimate,
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
            is_strict: setup.is_strict,
            stations: setup.stations,
            listen: setup.listen,
            identity: identity.as_ref(),
        },
        servers: Servers::default(),
        spared: Spared::default(),
        record: &mut record,
        store: &store,
    };
    match plan.search.as_ref().zip(setup.bounds) {
        Some((spec, bounds)) => conductor.search(spec, bounds, on_event)?,
        None => conductor.measure(setup.patience.unwrap_or(estimate), on_event)?,
    }
    conductor.end()?;
    let captured = capture.map(|capture| capture.finish());
    Ok(Finished {
        record,
        path,
        captured,
    })
}

/// A search makes as many as it needs.
fn expected_trials(plan: &Plan) -> u32 {
    match &plan.search {
        Some(spec) => {
            (plan.cells().count() as u32).saturating_mul(search::expected(spec, plan.repeats))
        }
        None => trials(plan),
    }
}

/// With the shards of all generators, as if they were one's: how long a plan takes depends on how many connections there is room for.
fn as_one<'a>(plan: &'a Plan, stations: Option<&Stations<'_>>) -> Cow<'a, Plan> {
    let Some(stations) = stations else {
        return Cow::Borrowed(plan);
    };
    let mut plan = plan.clone();
    for setting in &mut plan.settings {
        setting.shards *= stations.hosts().len() as u32;
    }
    Cow::Owned(plan)
}

/// Makes trials, keeps them, and spares those of which it is known what would come of them.
struct Conductor<'a> {
    bench: Bench<'a>,
    servers: Servers,
    spared: Spared,
    record: &'a mut RunRecord,
    store: &'a Store,
}

impl Conductor<'_> {
    fn is_interrupted(&self) -> bool {
        self.bench.interrupted.load(Ordering::Relaxed)
    }

    /// Every trial of the plan, then those again that were disturbed.
    fn measure(
        &mut self,
        patience: Duration,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), StoreError> {
        for cell in order(self.bench.plan) {
            if self.is_interrupted() {
                break;
            }
            self.make_and_keep(cell, on_event)?;
        }
        self.make_disturbed_again(patience, on_event)
    }

    fn make_and_keep(
        &mut self,
        cell: Cell,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), StoreError> {
        let order = u32::try_from(self.record.trials.len()).unwrap_or(u32::MAX);
        let trial = self.make(cell, order, self.record.trials_planned, on_event);
        if !cell.server_lives_on {
            // Still there where the last trials of its sweep were spared: the next would take it for its own.
            self.servers.end();
        }
        again::keep(&mut self.record.trials, trial);
        self.write()?;
        if let Some(trial) = self.record.trials.last() {
            let target = &self.bench.plan.targets[trial.target as usize];
            on_event(Event::TrialFinished { trial, target });
        }
        Ok(())
    }

    /// Round after round, until none is disturbed or none would be done before patience runs out.
    fn make_disturbed_again(
        &mut self,
        patience: Duration,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), StoreError> {
        let since = Instant::now();
        let left = || patience.saturating_sub(since.elapsed());
        loop {
            let mut round = order::again(self.bench.plan, &again::disturbed(&self.record.trials));
            round.retain(|unit| again::took(&self.record.trials, unit) <= left());
            let trials = round.iter().map(Vec::len).sum::<usize>();
            if trials == 0 {
                return Ok(());
            }
            on_event(Event::MakingAgain {
                trials: u32::try_from(trials).unwrap_or(u32::MAX),
                left: left(),
            });
            for unit in round {
                if again::took(&self.record.trials, &unit) > left() {
                    continue;
                }
                for cell in unit {
                    if self.is_interrupted() {
                        return Ok(());
                    }
                    self.make_and_keep(cell, on_event)?;
                }
            }
        }
    }

    fn end(&mut self) -> Result<(), StoreError> {
        // Lives still where the run was ended in the middle of its sweep.
        self.servers.end();
        self.record.interrupted = self.is_interrupted();
        self.write()
    }

    fn write(&mut self) -> Result<(), StoreError> {
        let passed_ns = monotonic_ns().saturating_sub(self.bench.started_at_ns);
        self.record.duration_ns = passed_ns;
        self.store.write(self.record)
    }

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
        if let Some(outcome) = self.spared.instead(self.bench.plan, cell) {
            return self.bench.spare(cell, order, outcome);
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
        self.spared.learn(self.bench.plan, &trial, is_hopeless);
        trial
    }
}

#[cfg(test)]
mod tests;
