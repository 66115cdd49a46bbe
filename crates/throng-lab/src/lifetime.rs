//! Which settings one server process can serve: those that it is launched for alike.
//!
//! What a server is told at its launch (where it listens, its accept queue, its workers, what it answers and when, its CPUs, the kernel settings of its network) cannot be changed while it
//! lives; everything else is the generator's affair.

use std::collections::{BTreeMap, HashMap};

use throng_record::plan::{ListenFamily, ServerLifetime};
use throng_record::{Plan, Setting, TargetKind, Workload};

/// All that a launch depends on besides the target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Launch {
    listen: ListenFamily,
    backlog: u32,
    workers: Option<u32>,
    accept_threads: Option<u32>,
    workload: Workload,
    service_time_ns: Option<u64>,
    delay_inline: bool,
    tls: bool,
    cpus: Vec<u32>,
    ready_timeout_ns: u64,
    kernel: BTreeMap<String, String>,
    services: u32,
    listeners: u32,
}

impl Launch {
    /// What the servers of this setting are launched with.
    pub(crate) fn of(setting: &Setting) -> Self {
        Self {
            listen: setting.listen,
            backlog: setting.backlog,
            workers: setting.workers,
            accept_threads: setting.accept_threads,
            workload: setting.workload,
            service_time_ns: setting.service_time_ns,
            delay_inline: setting.delay_inline,
            tls: setting.tls,
            cpus: setting.server_cpus.clone(),
            ready_timeout_ns: setting.ready_timeout_ns,
            kernel: setting.kernel.clone(),
            services: setting.services,
            listeners: setting.listeners,
        }
    }
}

/// What is done in one go in each repeat: one target at the settings, by index, that one process serves in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) target: u32,
    pub(crate) settings: Vec<u32>,
}

/// One repeat of the plan: every target at every setting. A unit has a single setting, unless servers live for a sweep and this is
/// one that is launched.
pub(crate) fn units(plan: &Plan) -> Vec<Unit> {
    let apart: Vec<Vec<u32>> = (0..plan.settings.len() as u32)
        .map(|setting| vec![setting])
        .collect();
    let shared = match plan.server {
        ServerLifetime::PerTrial => apart.clone(),
        ServerLifetime::PerSweep => launched_alike(plan),
    };
    let mut units = Vec::new();
    for (target, record) in (0..).zip(&plan.targets) {
        let groups = match record.kind {
            TargetKind::Running | TargetKind::Multiplexer => &apart,
            TargetKind::BuiltIn | TargetKind::Catalogue | TargetKind::Command => &shared,
        };
        let own = groups.iter().map(|settings| {
            let all = settings.iter().copied();
            all.filter(|&setting| plan.is_measured(target, setting))
                .collect()
        });
        let own = own.filter(|settings: &Vec<u32>| !settings.is_empty());
        units.extend(own.map(|settings| Unit { target, settings }));
    }
    units
}

/// The settings grouped by their launch; in each group connections ascend, and equals keep the plan's order: a process that has
/// served many connections is another than one that has not.
fn launched_alike(plan: &Plan) -> Vec<Vec<u32>> {
    let mut place = HashMap::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (index, setting) in (0..).zip(&plan.settings) {
        let place = *place.entry(Launch::of(setting)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|&index| plan.settings[index as usize].connections);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanDraft, resolve, test_environment};

    fn settings_of(text: &str) -> Vec<(u32, Vec<u32>)> {
        let draft = PlanDraft::parse(text, "test").expect(text);
        let plan = resolve(draft, &test_environment(2)).expect(text).plan;
        units(&plan)
            .into_iter()
            .map(|unit| (unit.target, unit.settings))
            .collect()
    }

    #[test]
    fn a_process_of_its_own_for_each_trial_unless_told_otherwise() {
        let text = "targets = ['poll', 'io-uring']\nconnections = [1, 2]";
        let apart = [(0, vec![0]), (0, vec![1]), (1, vec![0]), (1, vec![1])];
        assert_eq!(settings_of(text), apart);
        assert_eq!(
            settings_of(&format!("server = 'per-sweep'\n{text}")),
            [(0, vec![0, 1]), (1, vec![0, 1])]
        );
    }

    #[test]
    fn what_a_server_is_launched_with_parts_sweeps_and_connections_ascend() {
        let text = "server = 'per-sweep'\ntargets = ['poll']\nbacklog = [8, 16]\nsize = [6, 7]\nconnections = [20, 10]";
        // Settings 0 to 3 have the one backlog, 4 to 7 the other; even ones have 10 connections.
        assert_eq!(
            settings_of(text),
            [(0, vec![0, 2, 1, 3]), (0, vec![4, 6, 5, 7])]
        );
    }

    #[test]
    fn a_network_has_its_kernel_settings_from_the_launch_on() {
        let text = "server = 'per-sweep'\ntargets = ['poll']\nconnections = [1, 2]\n[kernel]\nsomaxconn = [8, 16]";
        assert_eq!(settings_of(text), [(0, vec![0, 1]), (0, vec![2, 3])]);
    }

    #[test]
    fn a_server_that_runs_already_is_not_shared() {
        let text =
            "server = 'per-sweep'\ntargets = ['tcp://127.0.0.1:9', 'poll']\nconnections = [1, 2]";
        assert_eq!(
            settings_of(text),
            [(0, vec![0]), (0, vec![1]), (1, vec![0, 1])]
        );
    }
}
