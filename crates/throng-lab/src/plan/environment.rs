//! What of the machine and of this throng a plan is resolved against.

use serde::{Deserialize, Serialize};
use throng_findings::Limits;
use throng_record::{BuiltInModel, TargetRecord};

use super::Interface;
use throng_catalogue::catalogue::Catalogue;

/// The surroundings that decide defaults and what is possible. Made by [`Environment::detect`], or by hand in tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// CPUs this process may use, ascending, at least one.
    pub cpus_allowed: Vec<u32>,
    /// Why `io_uring` cannot be used here; `None` where it can.
    pub io_uring_obstacle: Option<String>,
    /// The built-in models.
    pub models: Vec<BuiltInModel>,
    /// The catalogued servers; none where the plan names none.
    pub catalogue: Catalogue,
    /// The network settings of this kernel, by dotted name.
    pub kernel_settings: Vec<String>,
    /// What bounds the number of connections.
    pub limits: Limits,
    /// The hosts that generate the load; none where it is generated here.
    pub generators: Vec<GeneratorHost>,
}

/// A host that generates load for a server elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorHost {
    /// What it calls itself.
    pub name: String,
    /// Whether it is the lab's host; found by the lab.
    #[serde(skip)]
    pub is_here: bool,
    /// CPUs that its generator may use.
    pub cpus_allowed: Vec<u32>,
    /// Why `io_uring` cannot be used there; `None` where it can.
    pub io_uring_obstacle: Option<String>,
    /// What bounds the number of its connections.
    pub limits: Limits,
    /// Its addresses.
    pub interfaces: Vec<Interface>,
    /// Of the machine since it was started (`/proc/sys/kernel/random/boot_id`); those of one machine share its memory.
    pub boot_id: String,
}

impl GeneratorHost {
    /// This machine.
    #[must_use]
    pub fn here(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_here: true,
            cpus_allowed: throng_sys::affinity::allowed_cpus(),
            io_uring_obstacle: crate::machine::io_uring_obstacle(),
            limits: crate::machine::limits(),
            interfaces: Interface::own(),
            boot_id: throng_sys::sysctl::read("kernel.random.boot_id").unwrap_or_default(),
        }
    }
}

/// The model that a target is, if it is one.
pub(crate) fn model_of<'a>(
    models: &'a [BuiltInModel],
    target: &TargetRecord,
) -> Option<&'a BuiltInModel> {
    let name = target.model.as_ref()?;
    models.iter().find(|model| model.name == *name)
}

impl Environment {
    /// The model that a target is, if it is one.
    pub(crate) fn model_of(&self, target: &TargetRecord) -> Option<&BuiltInModel> {
        model_of(&self.models, target)
    }

    /// Whether the word stands for several servers of the catalogue.
    pub(crate) fn is_group_of_catalogue(&self, word: &str) -> bool {
        self.catalogue.is_group(word)
    }

    /// Whether the load is generated on other hosts.
    pub(crate) fn is_loaded_from_elsewhere(&self) -> bool {
        !self.generators.is_empty()
    }

    /// Whether all generators are processes of this host, and reach what only this host reaches.
    #[must_use]
    pub fn are_generators_here(&self) -> bool {
        self.generators.iter().all(|host| host.is_here)
    }

    /// Generators, of which each has a part of the connections; at least one.
    pub(crate) fn number_of_generators(&self) -> u32 {
        (self.generators.len() as u32).max(1)
    }

    /// CPUs of the generating host that has the fewest; 0 where none is elsewhere.
    pub(crate) fn fewest_cpus_elsewhere(&self) -> u32 {
        let cpus = self.generators.iter().map(|host| host.cpus_allowed.len());
        cpus.min().unwrap_or(0) as u32
    }

    /// The fewest descriptors that a shard can have, whichever host it is on.
    pub(crate) fn open_files_of_generators(&self) -> u64 {
        let elsewhere = self.generators.iter();
        let fewest = elsewhere.map(|host| host.limits.open_files_hard).min();
        fewest.unwrap_or(self.limits.open_files_hard)
    }

    /// Why `io_uring` cannot be used where the load is generated, by the first that cannot.
    pub(crate) fn io_uring_obstacle_of_generators(&self) -> Option<String> {
        if !self.is_loaded_from_elsewhere() {
            return self.io_uring_obstacle.clone();
        }
        self.generators.iter().find_map(|host| {
            let obstacle = host.io_uring_obstacle.as_ref()?;
            Some(format!("host {}: {obstacle}", host.name))
        })
    }

    /// This machine, with the given built-in models and catalogue.
    #[must_use]
    pub fn detect(models: Vec<BuiltInModel>, catalogue: Catalogue) -> Self {
        Self {
            cpus_allowed: throng_sys::affinity::allowed_cpus(),
            io_uring_obstacle: crate::machine::io_uring_obstacle(),
            models,
            catalogue,
            kernel_settings: throng_sys::sysctl::network::names(),
            limits: crate::machine::limits(),
            generators: vec![],
        }
    }
}
