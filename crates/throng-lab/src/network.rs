//! The network of launched servers and the generator: a network namespace of their own, or the host's.
//!
//! The lab stays in the host's. A short-lived child, `throng namespace`, makes a namespace, sets it up ([`hold`]) and
//! hands its descriptors over; server and generator enter it between fork and exec. Each launched server gets a new one, so
//! that counters, ports and connections in TIME_WAIT are those of its trials alone.
//!
//! Whether that works here is found out before anything is measured, by making one for each combination of kernel settings: a run
//! is either private or not, and has every setting or does not begin. Where it does not work the host's network is used, and the
//! record says why; with a `[kernel]` table, which must never reach the host, that is an error.

mod error;
mod holder;
mod job;
mod making;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use throng_record::{Network as Kind, NetworkRecord, Plan};
use throng_sys::namespace::Network;
use throng_sys::sysctl;

pub use error::NetworkError;
pub use holder::hold;

use job::SetUp;
pub(crate) use making::MakeError;
use making::Making;

/// How a run's launched servers get their networks.
#[derive(Debug)]
pub(crate) struct Networks<'a> {
    /// Absent: the host's is used.
    making: Option<Making<'a>>,
    /// For the record.
    pub(crate) record: NetworkRecord,
}

impl<'a> Networks<'a> {
    /// The host's, for all.
    pub(crate) fn host() -> Self {
        Self::fallen_back(None)
    }

    fn fallen_back(reason: Option<String>) -> Self {
        Self {
            making: None,
            record: NetworkRecord {
                fallback: reason,
                ..NetworkRecord::default()
            },
        }
    }

    /// Finds out what can be had of what the plan asks for.
    ///
    /// # Errors
    /// [`NetworkError`] where the plan's `[kernel]` table cannot be had.
    pub(crate) fn prepare(
        plan: &Plan,
        throng_program: &'a Path,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, NetworkError> {
        if plan.net == Kind::Host {
            return Ok(Self::host());
        }
        let mut making = Making {
            host: host_settings(),
            planned: planned(plan),
            throng_program,
            interrupted,
        };
        let set_up = match try_all(&mut making, plan) {
            Ok(set_up) => set_up,
            Err(MakeError::Kernel(refusal)) => return Err(refusal.into()),
            // An interrupted run ends before its first trial: there is nothing to say of its network.
            Err(MakeError::Interrupted) => return Ok(Self::fallen_back(None)),
            Err(error) if making.planned.is_empty() => {
                return Ok(Self::fallen_back(Some(in_one_line(&error))));
            }
            Err(error) => return Err(NetworkError::Refused(in_one_line(&error))),
        };
        Ok(Self {
            making: Some(making),
            record: NetworkRecord {
                used: Kind::Private,
                fallback: None,
                user_namespace: set_up.user_namespace,
                copied: set_up.copied,
                not_copied: set_up.not_copied,
            },
        })
    }

    /// A network for one server and its generators, with these settings of the plan in force.
    ///
    /// # Errors
    /// [`MakeError`] where none can be made although one could be before.
    pub(crate) fn network(&self, kernel: &BTreeMap<String, String>) -> Result<Network, MakeError> {
        match &self.making {
            None => Ok(Network::own()),
            Some(making) => making.make(kernel).map(|made| made.network),
        }
    }
}

/// All values of all kernel settings, over the whole plan.
fn planned(plan: &Plan) -> BTreeMap<String, BTreeSet<String>> {
    let mut planned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in plan.settings.iter().flat_map(|setting| &setting.kernel) {
        let values = planned.entry(name.clone()).or_default();
        values.insert(value.clone());
    }
    planned
}

/// Makes a network for each combination of kernel settings; how the first was set up, and so all.
fn try_all(making: &mut Making<'_>, plan: &Plan) -> Result<SetUp, MakeError> {
    let mut seen = BTreeSet::new();
    let kernels = plan.settings.iter().map(|setting| &setting.kernel);
    let mut combinations = kernels.filter(|kernel| seen.insert(*kernel));
    let none = BTreeMap::new();
    let made = making.make(combinations.next().unwrap_or(&none))?;
    making.try_to_enter(&made.network)?;
    // A new namespace always begins in the same way: what had to be copied once is all that has to be.
    making.host = made.set_up.copied.clone();
    for kernel in combinations {
        if making.interrupted.load(Ordering::Relaxed) {
            return Err(MakeError::Interrupted);
        }
        making.make(kernel)?;
    }
    Ok(made.set_up)
}

/// Secrets excepted, see [`sysctl::network::is_secret`].
fn host_settings() -> BTreeMap<String, String> {
    let names = sysctl::network::names().into_iter();
    names
        .filter(|name| !sysctl::network::is_secret(name))
        .filter_map(|name| {
            let value = sysctl::read(&name).ok()?;
            Some((name, value))
        })
        .collect()
}

/// It may end with the output of a process.
fn in_one_line(error: &MakeError) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whose network it is, for the record.
pub(crate) fn kind(network: &Network) -> Kind {
    if network.is_private() {
        Kind::Private
    } else {
        Kind::Host
    }
}
