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
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use throng_findings::Ending;
use throng_record::{Setting, TargetKind, TargetRecord};
use throng_sys::address::Address;
use throng_sys::namespace::Network;
use throng_sys::process_tree::ProcessTree;

use crate::network::Networks;
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
}

/// A launched server that is ready. Ended, with everything it started, when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Where it can be reached, and what it said of itself.
    pub(crate) announced: Announced,
    /// Where it runs, and nobody else but its generators where that is private.
    pub(crate) network: Network,
    /// It and what it started.
    pub(crate) tree: ProcessTree,
    /// Holds the Unix socket; removed with it.
    _folder: Option<tempfile::TempDir>,
}

impl Launcher<'_> {
    /// Starts the target and waits until it is ready.
    ///
    /// # Errors
    /// [`LaunchError`]; nothing of the server is left then.
    pub(crate) fn launch(&self, target: &TargetRecord) -> Result<Server, LaunchError> {
        let network = self.networks.network(&self.setting.kernel)?;
        let place = address::choose(self.setting.listen, target.command.is_some(), &network)?;
        let mut command = self.command(target, &place.address)?;
        let lines = if target.kind.keeps_contract() {
            Lines::Wanted {
                longest_bytes: 4_096,
            }
        } else {
            Lines::Unwanted
        };
        network.join(&mut command);
        let mut child = Child::spawn(command, &self.setting.server_cpus, lines)?;
        let tree = ProcessTree::of(child.pid()).map_err(LaunchError::Observe)?;
        let announced = readiness::wait(&mut child, &tree, lines, &place.address, &network, self)?;
        Ok(Server {
            child,
            announced,
            network,
            tree,
            _folder: place.folder,
        })
    }

    fn command(&self, target: &TargetRecord, address: &Address) -> Result<Command, LaunchError> {
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
                address,
            ));
        }
        match (&target.model, &target.command) {
            (Some(model), _) => Ok(command::built_in(
                self.throng_program,
                model,
                &target.options,
                setting,
                address,
            )),
            (None, Some(line)) => command::users(line, address),
            (None, None) => unreachable!("a target that already runs is not launched"),
        }
    }
}

impl Server {
    /// Whether it has ended by itself.
    pub(crate) fn has_died(&mut self) -> bool {
        self.child.exited().is_some()
    }

    /// Ends it: SIGTERM to its group, two seconds of grace, SIGKILL.
    pub(crate) fn end(mut self) -> Ending {
        let died_early = self.child.exited().is_some();
        let left = if died_early {
            self.child.left()
        } else {
            self.child.terminate();
            vec![]
        };
        let was_killed = self.child.wait(GRACE).is_none();
        let status = self.child.kill();
        Ending {
            died_early,
            was_killed,
            succeeded: status.success(),
            how: if left.is_empty() || !status.success() {
                status.to_string()
            } else {
                error::background(&status.to_string(), &left)
            },
            served: ending::served(&self.child),
            tail: self.child.output().tail(),
        }
    }
}

#[cfg(test)]
mod tests;
