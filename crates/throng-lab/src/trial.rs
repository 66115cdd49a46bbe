//! One trial: launch, observe, load, end, check.
//!
//! Whatever happens, a [`Trial`] comes out: what failed stands in its outcome, and what was measured until then beside it.

mod alone;
mod attributing;
mod conclude;
pub(crate) mod follow;
mod servers;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use throng_findings::LifeEnd;
use throng_record::{
    CheckResult, LoadJob, Outcome, PhaseName, Plan, Setting, SideRecord, TargetKind, TargetRecord,
    Trial, Verdict,
};
use throng_sys::address::Address;
use throng_sys::affinity::allowed_cpus;
use throng_sys::clock::monotonic_ns;
use throng_sys::namespace::Network;

use crate::event::TrialPhase;
use crate::generator::{Generating, Generator};
use crate::job::{self, job};
use crate::launcher::{Announced, LaunchError, Launcher, Life};
use crate::network::{self, Networks};
use crate::observer::capture::Capture;
use crate::observer::{GeneratorFigures, KernelAccount, Observed, Observer, find_running};
use crate::order::Cell;
use crate::series::Series;
use crate::stations::{Conducted, Stations};
use crate::tls::{self, Identity};
use conclude::conclude;
use follow::{Ended, Following};
pub(crate) use servers::Servers;
use throng_catalogue::catalogue::Prepared;

/// What is the same for all trials of a run.
#[derive(Clone, Copy)]
pub(crate) struct Bench<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) throng_program: &'a Path,
    /// How catalogued servers are started.
    pub(crate) catalogue: &'a Prepared,
    pub(crate) networks: &'a Networks<'a>,
    pub(crate) interrupted: &'a AtomicBool,
    /// Start of the run.
    pub(crate) started_at_ns: u64,
    /// Where handshakes are kept for other tools.
    pub(crate) capture: Option<&'a Capture>,
    /// Whether a disturbed trial is an invalid one.
    pub(crate) is_strict: bool,
    /// Who generates the load, where that is not done here.
    pub(crate) stations: Option<&'a Stations<'a>>,
    /// Where launched servers listen; `None`: on loopback.
    pub(crate) listen: Option<IpAddr>,
    /// Who launched servers are that speak TLS, where any does.
    pub(crate) identity: Option<&'a Identity>,
}

/// A trial, and whether its failure will repeat itself: then the target's other trials are spared.
pub(crate) struct Made {
    pub(crate) trial: Trial,
    pub(crate) is_hopeless: bool,
}

/// Told about the phase, replies so far and the time since the trial began.
pub(crate) type OnProgress<'a> = &'a mut dyn FnMut(TrialPhase, u64, Duration);

impl Bench<'_> {
    /// Makes one trial.
    pub(crate) fn make(
        &self,
        cell: Cell,
        order: u32,
        servers: &mut Servers,
        on_progress: OnProgress<'_>,
    ) -> Made {
        let started_at_ns = monotonic_ns();
        let target = &self.plan.targets[cell.target as usize];
        let mut made = if target.kind == TargetKind::Multiplexer {
            self.time_alone(cell, started_at_ns, on_progress)
        } else {
            self.launch_and_load(cell, started_at_ns, servers, on_progress)
        };
        if self.is_strict {
            be_strict(&mut made.trial);
        }
        made.trial.order = order;
        made.trial.started_at_ns = started_at_ns.saturating_sub(self.started_at_ns);
        made.trial.duration_ns = monotonic_ns().saturating_sub(started_at_ns);
        made
    }

    /// A trial that is not made: what came of one before says enough.
    pub(crate) fn spare(&self, cell: Cell, order: u32, outcome: Outcome) -> Trial {
        let mut trial = self.blank(cell, &[unknown_address()]);
        trial.order = order;
        trial.started_at_ns = monotonic_ns().saturating_sub(self.started_at_ns);
        trial.outcome = outcome;
        trial
    }

    fn launch_and_load(
        &self,
        cell: Cell,
        started_at_ns: u64,
        servers: &mut Servers,
        on_progress: OnProgress<'_>,
    ) -> Made {
        on_progress(TrialPhase::Launching, 0, Duration::ZERO);
        let target = &self.plan.targets[cell.target as usize];
        let setting = &self.plan.settings[cell.setting as usize];
        let subject = match self.subject(target, setting, servers) {
            Ok(subject) => subject,
            Err(error) => {
                let mut trial = self.blank(cell, &[unknown_address()]);
                if !matches!(error, LaunchError::Interrupted) {
                    trial.outcome = Outcome::Failed {
                        message: error.to_string(),
                    };
                }
                let is_hopeless = error.will_repeat_itself();
                return Made { trial, is_hopeless };
            }
        };
        let (announced, life, observed) = subject;
        let addresses = announced.addresses;
        let mut trial = self.blank(cell, &addresses);
        trial.server_ordinal = life.as_ref().map(|life| life.ordinal);
        trial.workers = announced.workers;
        if let Some(at_once) = announced.serves_at_once {
            job::limit(&mut trial.job, setting, at_once);
        }
        let network = life
            .as_ref()
            .map_or_else(Network::own, |life| life.server.network.clone());
        trial.network = network::kind(&network);
        let mut observer = Observer::new(observed, network.clone());
        // Of several none is looked at: what one of them has tells nothing of the others.
        let listener = match (&addresses[..], &observer.server) {
            ([Address::Tcp(tcp)], Some(_)) => Some(*tcp),
            _ => None,
        };
        observer.expect(&trial.job, listener);
        trial.backlog_in_force = listener.and_then(|at| {
            let found = network.find_listener(at).ok().flatten()?;
            Some(found.accept_queue_limit)
        });
        let account = self.observe_connections(cell, &addresses, &network);
        let ended = self.load(
            (&setting.generator_cpus, &trial.job),
            network,
            listener,
            &mut observer,
            started_at_ns,
            on_progress,
        );
        let measured = ended.record.as_ref();
        let measured = measured.map_or_else(GeneratorFigures::default, GeneratorFigures::of);
        // The counters are read right after it: they are compared.
        let account = account.map(KernelAccount::stop).unwrap_or_default();
        let mut seen = observer.finish(&measured);
        let server = life.map_or(LifeEnd::NotOurs, |life| {
            servers.keep_or_end(life, cell.server_lives_on, &trial.job, &ended)
        });
        trial.kernel_memory = seen.kernel_memory.take().and_then(|watch| {
            let have_ended = server.ending().is_some();
            watch.record(measured.connected, have_ended, self.interrupted)
        });
        trial.unaccepted = seen.unaccepted;
        trial.series = ended.series;
        if !ended.hosts.is_empty() {
            let sides: Vec<_> = ended
                .hosts
                .iter()
                .map(|host| host.generator.as_ref())
                .collect();
            seen.generator = SideRecord::together(&sides);
        }
        trial.hosts = ended.hosts;
        let is_hopeless = conclude(
            &mut trial,
            (target, setting),
            ended.outcome,
            ended.record,
            (seen, &account),
            server,
        );
        Made { trial, is_hopeless }
    }

    /// Starts the generator and follows it to its end. `listener`: where in `network` the server's accept queue can be seen.
    fn load(
        &self,
        (cpus, job): (&[u32], &LoadJob),
        network: Network,
        listener: Option<SocketAddr>,
        observer: &mut Observer,
        started_at_ns: u64,
        on_progress: OnProgress<'_>,
    ) -> Ended {
        let mut pid = None;
        // A multiplexer is timed within one process, and that is one of the lab's.
        let stations = self
            .stations
            .filter(|_| !job.phases.has(PhaseName::Multiplex));
        let generator: Result<Box<dyn Generating>, _> = match stations {
            Some(stations) => Conducted::begin(stations, job).map(|all| Box::new(all) as _),
            None => Generator::start(self.throng_program, cpus, &network).map(|generator| {
                observer.generator_started(generator.tree.clone(), cpus_or_any(cpus));
                generator.begin(job);
                pid = Some(generator.pid());
                Box::new(generator) as _
            }),
        };
        let generator = match generator {
            Ok(generator) => generator,
            Err(error) => {
                self.end_where_lost();
                return Ended::failed(error.to_string());
            }
        };
        let series = Series::new(started_at_ns, network, listener, pid);
        let following = Following {
            is_interrupted: &|| self.interrupted.load(Ordering::Relaxed),
            fleet: &job.fleet,
            started_at_ns,
        };
        let at_once = &mut |_| None;
        let ended = follow::follow(
            &following,
            generator,
            observer,
            series,
            at_once,
            on_progress,
        );
        self.end_where_lost();
        ended
    }

    /// With a station that is lost nothing more can be measured: what was measured is kept.
    fn end_where_lost(&self) {
        if self.stations.is_some_and(Stations::are_lost) {
            self.interrupted.store(true, Ordering::Relaxed);
        }
    }

    /// Where every message has a connection of its own, their making is what is asked about.
    fn observe_connections(
        &self,
        cell: Cell,
        addresses: &[Address],
        network: &Network,
    ) -> Option<KernelAccount> {
        let setting = &self.plan.settings[cell.setting as usize];
        let [Address::Tcp(server)] = addresses else {
            return None;
        };
        if !setting.phases.is_of_requests() || !setting.observe {
            return None;
        }
        let capture = self.capture.map(|capture| {
            let target = &self.plan.targets[cell.target as usize].name;
            let swept = setting.swept.iter();
            let values: String = swept.map(|one| format!(", {one}")).collect();
            capture.trial(&format!("{target}{values}, repeat {}", cell.repeat + 1))
        });
        let is_loaded_from_elsewhere = self.stations.is_some();
        Some(KernelAccount::start(
            network,
            *server,
            is_loaded_from_elsewhere,
            capture,
        ))
    }

    /// The server: already running, living on from the trial before, or started.
    fn subject(
        &self,
        target: &TargetRecord,
        setting: &Setting,
        servers: &mut Servers,
    ) -> Result<(Announced, Option<Life>, Option<Observed>), LaunchError> {
        let running = target.addresses.iter().flat_map(|text| text.parse().ok());
        let running: Vec<Address> = running.collect();
        if !running.is_empty() {
            let observed = find_running(&running);
            return Ok((Announced::nothing(running), None, observed));
        }
        let launcher = Launcher {
            setting,
            throng_program: self.throng_program,
            catalogue: self.catalogue,
            networks: self.networks,
            interrupted: self.interrupted,
            listen: self.listen,
            identity: self.identity,
        };
        let life = servers.living_or_launched(&launcher, target)?;
        let observed = Observed {
            tree: life.server.tree.clone(),
            cpus: cpus_or_any(&setting.server_cpus),
        };
        Ok((life.server.announced.clone(), Some(life), Some(observed)))
    }

    /// A trial of which nothing is known yet; ended early, unless told otherwise.
    fn blank(&self, cell: Cell, addresses: &[Address]) -> Trial {
        let indices = (cell.target, cell.setting, cell.repeat);
        let target = &self.plan.targets[cell.target as usize];
        let setting = &self.plan.settings[cell.setting as usize];
        let mut job = job(self.plan, cell, addresses);
        tls::fit(&mut job, (target, setting), self.identity);
        Trial::new(indices, job)
    }
}

/// Calls a disturbed trial invalid.
fn be_strict(trial: &mut Trial) {
    for check in &mut trial.checks {
        if check.result == CheckResult::Disturbed {
            check.result = CheckResult::Failed;
            trial.verdict = Verdict::Invalid;
        }
    }
}

/// Where a server would have been, had it started.
fn unknown_address() -> Address {
    Address::any_loopback_port(std::net::Ipv4Addr::LOCALHOST.into())
}

fn cpus_or_any(cpus: &[u32]) -> Vec<u32> {
    if cpus.is_empty() {
        allowed_cpus()
    } else {
        cpus.to_vec()
    }
}
