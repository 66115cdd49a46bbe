//! What this process's control groups bound, of either version: files of a controller on the way from its group to the root (`cgroups(7)`,
//! Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/).

use std::path::{Path, PathBuf};

use procfs::ProcessCGroups;
use procfs::prelude::*;
use procfs::process::MountInfos;

use crate::kernel_file;

/// The lowest `pids.max` on the way; `None` where nothing is limited.
pub fn pids_max() -> Option<u64> {
    // The word `max` is no limit.
    let limits = texts(&groups("pids"), "pids.max").into_iter();
    limits.filter_map(|text| text.parse().ok()).min()
}

/// For how long quotas on CPU time (`cpu.max`, `cpu.cfs_quota_us`) have held this process and its group up so far, summed over CPUs and over the groups on the
/// way, in nanoseconds; `None` where no group has a quota.
pub fn throttled_ns() -> Option<u64> {
    let groups = groups("cpu");
    let is_none = |text: &String| text.starts_with("max") || text.starts_with('-');
    let quotas = ["cpu.max", "cpu.cfs_quota_us"];
    let has_quota = quotas
        .iter()
        .any(|file| !texts(&groups, file).iter().all(is_none));
    has_quota.then(|| {
        let statistics = texts(&groups, "cpu.stat");
        statistics.iter().map(|text| of_statistics(text)).sum()
    })
}

/// `throttled_usec` of version two, `throttled_time` (ns) of version one; 0 where the group has no quota.
fn of_statistics(text: &str) -> u64 {
    let value = |name: &str| -> Option<u64> {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
    };
    let microseconds = || Some(value("throttled_usec")?.saturating_mul(1_000));
    value("throttled_time").or_else(microseconds).unwrap_or(0)
}

/// What the files of that name hold. In the root group most are missing.
fn texts(groups: &[PathBuf], file: &str) -> Vec<String> {
    let files = groups.iter().map(|group| group.join(file));
    files.filter_map(kernel_file::read_if_present).collect()
}

/// The groups of this controller that this process is in, and those above them.
fn groups(controller: &str) -> Vec<PathBuf> {
    let groups = ProcessCGroups::from_file("/proc/self/cgroup").ok();
    let mounts = MountInfos::from_file("/proc/self/mountinfo").ok();
    let Some((groups, mounts)) = groups.zip(mounts) else {
        return vec![];
    };
    let has_it = |controllers: &[String]| controllers.iter().any(|one| one == controller);
    let governing = groups
        .0
        .iter()
        .filter(|group| group.controllers.is_empty() || has_it(&group.controllers));
    governing
        .flat_map(|group| {
            let is_version_two = group.controllers.is_empty();
            let mut mounts = mounts.0.iter();
            let mount = mounts.find(|mount| match is_version_two {
                true => mount.fs_type == "cgroup2",
                false => mount.fs_type == "cgroup" && mount.super_options.contains_key(controller),
            });
            let Some(mount) = mount else { return vec![] };
            let below_mount = Path::new(&group.pathname)
                .strip_prefix(&mount.root)
                .unwrap_or(Path::new(""));
            on_the_way(&mount.mount_point, below_mount)
        })
        .collect()
}

/// `mount_point/below_mount` and the directories above it, up to the mount point.
fn on_the_way(mount_point: &Path, below_mount: &Path) -> Vec<PathBuf> {
    let directory: PathBuf = mount_point.join(below_mount.strip_prefix("/").unwrap_or(below_mount));
    directory
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(mount_point))
        .map(Path::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_on_the_way_up_count_and_no_others() {
        let mount = std::env::temp_dir().join(format!("throng-sys-cgroup-{}", std::process::id()));
        let inner = mount.join("slice/service");
        std::fs::create_dir_all(&inner).unwrap();
        let of = |below: &str| texts(&on_the_way(&mount, Path::new(below)), "pids.max");

        assert!(of("/slice/service").is_empty());
        std::fs::write(inner.join("pids.max"), "500\n").unwrap();
        std::fs::write(mount.join("slice/pids.max"), "max\n").unwrap();
        assert_eq!(of("/slice/service"), ["500", "max"]);
        assert_eq!(of("slice"), ["max"]);
        std::fs::remove_dir_all(&mount).unwrap();
    }

    #[test]
    fn both_versions_say_how_long_a_group_was_held_up() {
        let one = "nr_periods 10\nnr_throttled 4\nthrottled_time 300000000\n";
        let two = "usage_usec 1\nnr_periods 10\nnr_throttled 4\nthrottled_usec 300000\n";
        for text in [one, two] {
            assert_eq!(of_statistics(text), 300_000_000, "{text}");
        }
        assert_eq!(of_statistics("usage_usec 1\n"), 0);
    }
}
