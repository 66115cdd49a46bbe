//! Plans: what a plan file and the command line ask for, turned into a plan with nothing left open.
//!
//! A [`PlanDraft`] holds what was mentioned, in the words of the flags; drafts are laid over one another; [`resolve()`]
//! fills in the defaults and refuses whatever cannot be carried out, all in one place, before anything is started. A key with
//! several values is a [`Sweep`]: every combination of all such values becomes one [`throng_record::Setting`]. The resolved
//! [`throng_record::Plan`] is what runs and what stands in the record.

mod cpus;
mod draft;
mod environment;
mod error;
pub(crate) mod escape;
mod experiments;
mod file;
mod flag;
mod flag_text;
mod interface;
mod kernel;
pub mod keys;
mod keys_in;
mod notes;
mod overlay;
mod phases;
mod resolve;
mod sweep;
mod swept;
#[cfg(test)]
mod test_models;
pub mod value;
mod written;

pub use draft::PlanDraft;
pub(crate) use environment::model_of;
pub use environment::{Environment, GeneratorHost};
pub use error::PlanError;
pub(crate) use experiments::asks_for_service_time;
pub use interface::Interface;
pub(crate) use interface::{near, own_of};
pub use kernel::{KernelDraft, KernelSetting};
pub use resolve::{KernelNameError, Resolved, resolve};
pub use sweep::{Sweep, Swept};
#[cfg(test)]
pub(crate) use test_models::{iterative_test_model, test_model};

use std::time::Duration;

/// A length of time as the record holds it.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(crate) fn test_environment(cpus: u32) -> Environment {
    Environment {
        cpus_allowed: (0..cpus).collect(),
        io_uring_obstacle: None,
        models: ["thread-per-connection", "poll", "epoll-edge", "io-uring"]
            .map(test_model)
            .to_vec(),
        catalogue: throng_catalogue::catalogue::Catalogue::default(),
        kernel_settings: [
            "net.core.somaxconn",
            "net.core.both",
            "net.ipv4.both",
            "net.ipv4.ip_local_port_range",
        ]
        .map(str::to_owned)
        .to_vec(),
        limits: throng_findings::Limits {
            open_files_hard: 20_000,
            ..throng_findings::Limits::default()
        },
        generators: vec![],
    }
}

/// The same where the load comes from other hosts, each with so many CPUs.
#[cfg(test)]
pub(crate) fn hosts_test_environment(cpus_of_hosts: &[u32]) -> Environment {
    let environment = test_environment(2);
    let hosts = cpus_of_hosts.iter().zip(1..);
    let generators = hosts.map(|(&cpus, number)| GeneratorHost {
        name: format!("gen{number}"),
        cpus_allowed: (0..cpus).collect(),
        limits: environment.limits.clone(),
        ..GeneratorHost::default()
    });
    Environment {
        generators: generators.collect(),
        ..environment
    }
}

/// The same with the models that are measured with many connections.
#[cfg(test)]
pub(crate) fn many_test_environment() -> Environment {
    let mut environment = test_environment(2);
    let more = ["two-threads-per-connection", "epoll-level", "tokio", "may"];
    environment.models.extend(more.map(test_model));
    environment.models.push(throng_record::BuiltInModel {
        workers: throng_record::built_in::Workers::OnePerCpu,
        ..test_model("epoll-shared")
    });
    environment.models.push(iterative_test_model());
    let catalogue = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue");
    environment.catalogue =
        throng_catalogue::catalogue::Catalogue::read(&catalogue).expect("the repository has one");
    environment
}

/// The same with the models and settings of the published backlog experiment.
#[cfg(test)]
pub(crate) fn backlog_test_environment() -> Environment {
    let mut environment = test_environment(2);
    let forking = test_model("fork-per-connection");
    environment.models.extend([iterative_test_model(), forking]);
    let settings = [
        "tcp_syn_linear_timeouts",
        "tcp_syncookies",
        "tcp_abort_on_overflow",
    ];
    let settings = settings.map(|name| format!("net.ipv4.{name}"));
    environment.kernel_settings.extend(settings);
    environment
}

#[cfg(test)]
mod tests;
