//! What makes a figure repeat itself, or not: CPUs, their frequency, their hypervisor, their mitigations.

use std::collections::BTreeSet;
use std::time::Duration;

use throng_record::format::exact;
use throng_sys::affinity::{CpuList, allowed_cpus};
use throng_sys::machine::Machine;
use throng_sys::steal::CpuTimes;

use super::{Line, Status};

/// How long stolen time is watched for: some twenty ticks on each CPU.
const WATCH: Duration = Duration::from_millis(200);
/// The share of a window above which a trial is disturbed.
const STEAL_MOST: f64 = 0.02;

pub(super) fn lines() -> Vec<Line> {
    let machine = Machine::read();
    vec![
        count(&machine),
        isolation(&machine),
        frequency(&machine),
        clock(&machine),
        hypervisor(&machine),
        steal(),
        mitigations(&machine),
    ]
}

fn count(machine: &Machine) -> Line {
    let allowed = allowed_cpus();
    let found = format!(
        "{} of {} ({}){}",
        allowed.len(),
        machine.cpus_online.len(),
        CpuList::from(allowed.clone()),
        if machine.smt_active == Some(true) {
            ", hyper-threading on"
        } else {
            ""
        }
    );
    if allowed.len() < 2 {
        let meaning = "server and generator take turns on one CPU: throughput is of both together";
        return Line::new("CPUs", Status::Warn, found, meaning).improve(format!(
            "taskset -c {} throng …",
            CpuList::from(machine.cpus_online.clone())
        ));
    }
    let meaning = "throng gives the server the first half and the generator the rest, unless --cpus says otherwise";
    Line::new("CPUs", Status::Ok, found, meaning)
}

fn isolation(machine: &Machine) -> Line {
    if machine.cpus_isolated.is_empty() {
        let last = machine.cpus_online.last().copied().unwrap_or(0);
        let meaning = "other programs may run on the CPUs of a measurement, and lengthen its highest latencies";
        return Line::new("CPU isolation", Status::Note, "none", meaning).improve(format!(
            "boot with isolcpus={last} nohz_full={last}, and give it to a side with --cpus"
        ));
    }
    let found = CpuList::from(machine.cpus_isolated.clone()).to_string();
    Line::new(
        "CPU isolation",
        Status::Ok,
        found,
        "only what is pinned runs there: name them with --cpus",
    )
}

fn frequency(machine: &Machine) -> Line {
    let name = "frequency scaling";
    let Some(governors) = &machine.frequency_governors else {
        let meaning = "there is nothing to set from here; a host may scale all the same";
        return Line::new(name, Status::Ok, "not visible", meaning);
    };
    let kinds: BTreeSet<&str> = governors.values().map(String::as_str).collect();
    let boost = if machine.frequency_boost == Some(true) {
        ", boost on"
    } else {
        ""
    };
    let found = format!(
        "{}{boost}",
        kinds.iter().copied().collect::<Vec<_>>().join(", ")
    );
    if kinds.iter().all(|kind| *kind == "performance") {
        return Line::new(
            name,
            Status::Ok,
            found,
            "CPUs do not slow down when a server waits",
        );
    }
    let meaning = "a CPU that is not always busy slows down: latencies at low load are those of a slower machine";
    Line::new(name, Status::Warn, found, meaning)
        .improve("sudo cpupower frequency-set -g performance")
}

fn clock(machine: &Machine) -> Line {
    let found = machine
        .clocksource
        .clone()
        .unwrap_or_else(|| "not told".to_owned());
    match found.as_str() {
        "hpet" | "acpi_pm" | "jiffies" => Line::new(
            "clock source",
            Status::Warn,
            found,
            "each reading of the clock costs a microsecond, and the generator reads it for every message",
        )
        .improve("boot with clocksource=tsc, if the CPU's counter is steady"),
        _ => Line::new(
            "clock source",
            Status::Ok,
            found,
            "a reading of the clock costs some tens of nanoseconds",
        ),
    }
}

fn hypervisor(machine: &Machine) -> Line {
    if machine.hypervisor {
        let meaning = "system calls, timers and wake-ups cost more than on bare metal: compare figures made on this machine only";
        return Line::new("virtual machine", Status::Note, "yes", meaning);
    }
    Line::new(
        "virtual machine",
        Status::Ok,
        "no",
        "no hypervisor announces itself",
    )
}

fn steal() -> Line {
    let name = "stolen time";
    let watched = || {
        let before = CpuTimes::read().ok()?;
        std::thread::sleep(WATCH);
        let now = CpuTimes::read().ok()?;
        Some((now.delta_since(&before).steal_share()?, now.steal_share()?))
    };
    let Some((just_now, since_boot)) = watched() else {
        return Line::new(
            name,
            Status::Note,
            "not told",
            "a hypervisor's part in a figure cannot be seen",
        );
    };
    steal_line(just_now, since_boot)
}

/// A fifth of a second says little of an hour, and the time since boot little of this moment: the larger counts.
fn steal_line(just_now: f64, since_boot: f64) -> Line {
    let name = "stolen time";
    let found = format!(
        "{:.1} % in the last {} ms, {:.1} % since boot",
        just_now * 100.0,
        WATCH.as_millis(),
        since_boot * 100.0
    );
    if just_now.max(since_boot) > STEAL_MOST {
        let meaning = "the hypervisor runs something else on these CPUs now and then; trials that lost more than 2 % are disturbed, and repeated";
        return Line::new(name, Status::Warn, found, meaning)
            .improve("measure at another time, or on a machine with CPUs of its own");
    }
    Line::new(
        name,
        Status::Ok,
        found,
        "watched again in every trial; one that lost more than 2 % is disturbed, and repeated",
    )
}

fn mitigations(machine: &Machine) -> Line {
    let name = "mitigations";
    let active = machine
        .mitigations
        .values()
        .filter(|answer| answer.starts_with("Mitigation"))
        .count();
    if active == 0 {
        return Line::new(
            name,
            Status::Ok,
            "none active",
            "system calls cost what the CPU makes them cost",
        );
    }
    let meaning = "each system call costs more, and models that make more of them look worse; they are recorded with every run";
    Line::new(
        name,
        Status::Note,
        format!("{} active", exact(active as u64)),
        meaning,
    )
    .improve("boot with mitigations=off, on a machine of your own that runs nobody else's code")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_of_stolen_just_now_and_since_boot_decides() {
        for (just_now, since_boot, status) in [
            (0.0, 0.035, Status::Warn),
            (0.05, 0.001, Status::Warn),
            (0.02, 0.02, Status::Ok),
        ] {
            let line = steal_line(just_now, since_boot);
            assert_eq!(line.status, status, "{just_now} {since_boot}");
        }
        let found = steal_line(0.0, 0.035).found;
        assert_eq!(found, "0.0 % in the last 200 ms, 3.5 % since boot");
    }
}
