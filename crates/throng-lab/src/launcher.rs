//! Starting the server under measurement, knowing when it is ready, and ending it.
//!
//! A built-in model (`throng serve MODEL`, a child process), a catalogued server and a user's command take the same way; only the
//! sign of readiness differs: the former print `ready ADDRESS`, of the last the listener is looked up in the kernel. Never by a
//! probe connection: that would disturb a server that serves one client at a time, or greets everybody.

mod address;
mod command;
mod ending;
mod error;
mod life;
mod readiness;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use throng_findings::Ending;
use throng_record::{Setting, TargetKind, TargetRecord};
use throng_sys::address::Address;
use throng_sys::namespace::Network;
use throng_sys::orphans::Orphan;
use throng_sys::process_tree::ProcessTree;

use crate::network::Networks;
use crate::tls::Identity;
use throng_catalogue::catalogue::Prepared;
use throng_child::Child;
use throng_child::Lines;

pub(crate) use error::LaunchError;
pub(crate) use life::Life;
pub(crate) use readiness::Announced;

/// How long a server may take to leave after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// What a launch needs besides the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launcher<'a> {
    pub(crate) setting: &'a Setting,
    /// The program that contains the built-in servers: this one.
    pub(crate) throng_program: &'a Path,
    /// How catalogued servers are started.
    pub(crate) catalogue: &'a Prepared,
    pub(crate) networks: &'a Networks<'a>,
    pub(crate) interrupted: &'a AtomicBool,
    /// Where servers are told to listen; `None`: on loopback.
    pub(crate) listen: Option<IpAddr>,
    /// Who servers are that speak TLS, where any does.
    pub(crate) identity: Option<&'a Identity>,
}

/// A launched server that is ready: one process, or several services that are one target. Ended, with everything it started, when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    members: Vec<Member>,
    /// Where it can be reached, and what it said of itself.
    pub(crate) announced: Announced,
    /// Where it runs, and nobody else but its generators where that is private.
    pub(crate) network: Network,
    /// It and what it started.
    pub(crate) tree: ProcessTree,
}

/// A process that was launched, and where.
#[derive(Debug)]
struct Member {
    child: Child,
    tree: ProcessTree,
    /// What it was told to listen on.
    asked: Vec<Address>,
    /// Hold the Unix sockets; removed with it.
    _folders: Vec<tempfile::TempDir>,
}

impl Launcher<'_> {
    /// Starts the target and waits until it is ready. Several services start together.
    ///
    /// # Errors
    /// [`LaunchError`]; nothing of the server is left then.
    pub(crate) fn launch(&self, target: &TargetRecord) -> Result<Server, LaunchError> {
        let network = self.networks.network(&self.setting.kernel)?;
        let lines = if target.kind.keeps_contract() {
            Lines::Wanted {
                longest_bytes: 4_096,
            }
        } else {
            Lines::Unwanted
        };
        let numbers = 0..self.setting.services;
        let of_several = |number: u32, error| match self.setting.services {
            1 => error,
            of => LaunchError::OfService {
                number: number + 1,
                of,
                error: Box::new(error),
            },
        };
        let mut members = Vec::new();
        for number in numbers.clone() {
            let member = self.start(target, number, lines, &network);
            members.push(member.map_err(|error| of_several(number, error))?);
        }
        let mut announced = Vec::new();
        for (number, member) in numbers.zip(&mut members) {
            let (child, tree) = (&mut member.child, &member.tree);
            let ready = readiness::wait(child, tree, lines, &member.asked, &network, self);
            announced.push(ready.map_err(|error| of_several(number, error))?);
        }
        let trees = members.iter().map(|member| member.tree.clone());
        let tree = ProcessTree::joined(trees).expect("there is at least one service");
        Ok(Server {
            members,
            announced: Announced::joined(announced),
            network,
            tree,
        })
    }

    /// Starts one of its services.
    fn start(
        &self,
        target: &TargetRecord,
        number: u32,
        lines: Lines,
        network: &Network,
    ) -> Result<Member, LaunchError> {
        let (listeners, needs_port) = (self.setting.listeners, target.command.is_some());
        let places = (0..listeners).map(|listener| {
            let place = number * listeners + listener;
            address::choose(
                (self.setting.listen, self.listen),
                place,
                needs_port,
                network,
            )
        });
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let (asked, folders): (Vec<_>, Vec<_>) = places
            .into_iter()
            .map(|place| (place.address, place.folder))
            .unzip();
        let mut command = self.command(target, &asked)?;
        network.join(&mut command);
        let child = Child::spawn(command, &self.setting.server_cpus, lines)?;
        let tree = ProcessTree::of(child.pid()).map_err(LaunchError::Observe)?;
        Ok(Member {
            child,
            tree,
            asked,
            _folders: folders.into_iter().flatten().collect(),
        })
    }

    fn command(
        &self,
        target: &TargetRecord,
        addresses: &[Address],
    ) -> Result<Command, LaunchError> {
        let setting = self.setting;
        if target.kind == TargetKind::Catalogue {
            let recipe = self.catalogue.recipe(target);
            let recipe = recipe.map_err(LaunchError::Unprepared)?;
            let own = target.catalogue.as_ref();
            return Ok(command::catalogued(
                recipe.command(),
                &target.options,
                own.map_or(&BTreeMap::new(), |server| &server.options),
                setting,
                addresses,
            ));
        }
        match (&target.model, &target.command) {
            (Some(model), _) => {
                let program = self.throng_program;
                let mut command =
                    command::built_in(program, model, &target.options, setting, addresses);
                if let Some(identity) = self.identity.filter(|_| setting.tls) {
                    command.arg("--tls-certificate").arg(identity.certificate());
                    command.arg("--tls-key").arg(identity.key());
                }
                Ok(command)
            }
            (None, Some(line)) => command::users(line, &addresses[0]),
            (None, None) => unreachable!("a target that already runs is not launched"),
        }
    }
}

impl Server {
    /// Whether it has ended by itself, or one of its services has.
    pub(crate) fn has_died(&mut self) -> bool {
        let mut members = self.members.iter_mut();
        members.any(|member| member.child.exited().is_some())
    }

    /// Ends it: SIGTERM to the group of each of its services, two seconds of grace, SIGKILL.
    pub(crate) fn end(self) -> Ending {
        let mut members = self.members;
        let left: Vec<_> = members.iter_mut().map(Member::terminate).collect();
        let ends = members.into_iter().zip(left);
        ending::joined(ends.map(|(member, left)| member.end(left)).collect())
    }
}

impl Member {
    /// Tells it to leave; what it had left in the background, where it had ended before.
    fn terminate(&mut self) -> Option<Vec<Orphan>> {
        let died_early = self.child.exited().is_some();
        if died_early {
            return Some(self.child.left());
        }
        self.child.terminate();
        None
    }

    fn end(mut self, left: Option<Vec<Orphan>>) -> Ending {
        let was_killed = self.child.wait(GRACE).is_none();
        let status = self.child.kill();
        let how = status.to_string();
        Ending {
            died_early: left.is_some(),
            was_killed,
            succeeded: status.success(),
            how: match left {
                Some(left) if !left.is_empty() && status.success() => {
                    error::background(&how, &left)
                }
                _ => how,
            },
            served: ending::served(&self.child),
            tail: self.child.output().tail(),
            tails: vec![],
        }
    }
}

#[cfg(test)]
mod tests;
