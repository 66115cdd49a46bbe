//! Load that is generated on other hosts: what a program that joins hosts (throng-mpi) has to say before [`main`](crate::main).
//!
//! The process of rank 0 carries out the command line, launches and observes the server; all others generate, until it lets them go.

use std::hash::{DefaultHasher, Hasher as _};
use std::net::{IpAddr, Ipv4Addr};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::Args;
use throng_lab::plan::Environment;
use throng_lab::stations::{self, Link, Stations, StationsError};
use throng_record::plan::ListenFamily;
use throng_record::{Network, Plan, TargetKind};

use crate::catalogue;
use crate::failure::{Failure, note};
use crate::interrupt;

/// SIGINT, SIGTERM and SIGHUP end the run in order. Made before the process has threads, which a message layer starts.
#[derive(Clone, Debug)]
pub struct Interrupts(Arc<AtomicBool>);

impl Interrupts {
    /// Takes the signals over.
    #[must_use]
    pub fn watch() -> Self {
        let raised = Arc::new(AtomicBool::new(false));
        let raise = Arc::clone(&raised);
        let watched = interrupt::on_termination(move |_| raise.store(true, Relaxed));
        // Without it a run can still be made; it ends less orderly.
        watched.unwrap_or_else(|failure| failure.print());
        Self(raised)
    }

    /// Whether one of them has come.
    #[must_use]
    pub fn are_raised(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The other hosts, for the process of rank 0.
#[derive(Debug)]
pub struct Hosts<'a> {
    link: &'a dyn Link,
    interrupts: Interrupts,
}

impl<'a> Hosts<'a> {
    /// Those that `link` reaches.
    pub fn new(link: &'a dyn Link, interrupts: Interrupts) -> Self {
        Self { link, interrupts }
    }

    /// Asks each who it is.
    pub(crate) fn muster(&self) -> Result<Stations<'a>, Failure> {
        Stations::muster(self.link, &version()?).map_err(failure)
    }

    pub(crate) fn interrupted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupts.0)
    }
}

/// All that a process of another rank does: it generates load as rank 0 orders, until that lets it go.
///
/// # Errors
/// The exit code, where that says that it failed; why has been told.
pub fn generate(link: &dyn Link, name: &str, interrupts: &Interrupts) -> Result<(), i32> {
    let attended = catalogue::program().and_then(|program| {
        let attended = stations::attend(link, &program, (name, &version()?), &interrupts.0);
        attended.map_err(failure)
    });
    attended.map_err(|failure| {
        failure.print();
        failure.exit.code().into()
    })
}

/// The version and a digest of the program: figures of different builds need not mean the same.
fn version() -> Result<String, Failure> {
    let program = catalogue::program()?;
    let bytes = std::fs::read(&program).map_err(|error| {
        Failure::failed(format_args!("cannot read {}", program.display())).cause(error)
    })?;
    let mut digest = DefaultHasher::new();
    digest.write(&bytes);
    Ok(format!(
        "{} (build {:08x})",
        env!("CARGO_PKG_VERSION"),
        digest.finish() >> 32
    ))
}

/// Says what an interrupt means where there are several hosts.
pub fn tell_early_end() {
    note(
        "ended early; the trials that were whole are kept. mpirun ends all hosts where one of its processes is gone, and says which, or where you interrupt it",
    );
}

/// Says why hosts cannot work together, and what to do.
#[must_use]
pub fn refuse(why: &str, hint: &str) -> ExitCode {
    let failure = Failure::usage(why).hint(hint);
    failure.print();
    failure.exit.into()
}

/// As a user reads it.
fn failure(error: StationsError) -> Failure {
    let failure = match error {
        StationsError::Alone | StationsError::Version { .. } => Failure::usage(error),
        error => Failure::failed(error),
    };
    failure.with_hint_parted()
}

/// Where launched servers listen.
#[derive(Debug, Args)]
pub(crate) struct ListenFlag {
    /// Address on which launched servers listen [default: loopback; for load from other hosts, the one in their network]
    #[arg(long, value_name = "IP", help_heading = "Launched servers")]
    pub(crate) listen: Option<IpAddr>,
}

/// Where launched servers listen, if not on loopback.
pub(crate) fn listening(
    asked: Option<IpAddr>,
    plan: &Plan,
    environment: &Environment,
    stations: Option<&Stations<'_>>,
) -> Result<Option<IpAddr>, Failure> {
    if asked.is_some() && plan.net == Network::Private {
        return Err(Failure::usage(
            "--listen names an address of this host, and a private network has none but loopback",
        )
        .hint("add --net host, or leave --listen out"));
    }
    let is_of_each_host = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    if let Some(address) = asked.filter(|&address| is_of_each_host(address))
        && !environment.are_generators_here()
    {
        return Err(Failure::usage(format_args!(
            "launched servers are to listen on {address}, which is another place on each host"
        ))
        .hint("name the address by which the other hosts reach this one, or leave --listen out"));
    }
    let is_launched = |kind| !matches!(kind, TargetKind::Running | TargetKind::Multiplexer);
    let any_is_launched = plan.targets.iter().any(|one| is_launched(one.kind));
    let found = match (asked, stations) {
        (Some(address), _) => Some(address),
        (None, Some(_)) if !any_is_launched => Some(Ipv4Addr::LOCALHOST.into()),
        (None, Some(stations)) => Some(stations.listening().map_err(failure)?),
        (None, None) => None,
    };
    let is_other_family = |address: IpAddr| {
        let family = match address {
            IpAddr::V4(_) => ListenFamily::Ipv4,
            IpAddr::V6(_) => ListenFamily::Ipv6,
        };
        plan.settings.iter().any(|one| one.listen != family)
    };
    match found {
        Some(address) if any_is_launched && is_other_family(address) => Err(Failure::usage(
            format_args!(
                "servers are to listen on {address}, and --family asks for another kind of address"
            ),
        )
        .hint(
            "name an address of that family with --listen, or the family of this one with --family",
        )),
        found => Ok(found),
    }
}
