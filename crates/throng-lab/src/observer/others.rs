//! What other programs used of the CPUs of both sides: the time in which these CPUs were not idle and not stolen, less what the sides, the
//! lab itself and the kernel's own threads used.
//!
//! Where the sides share no CPU, each side's are looked at apart; otherwise those of both together, since nobody tells on which a side ran. Of the
//! lab it is not known either, so all that it used is taken off.
//!
//! There are two accounts of a CPU's time, and the smaller counts. *Idle* is exact, but what a CPU does on its way into and out of idleness is
//! in nobody's account: of a side that waits for each message it is several percent. *What ran* is looked up at each tick: exact of a CPU
//! that is always busy, and of one that is busy for half of the time a sample, so three standard deviations are taken off.
//!
//! Interrupts count with whatever they interrupt, and so with the sides, unless the kernel accounts for them apart
//! (`CONFIG_IRQ_TIME_ACCOUNTING`; otherwise `irq` of `/proc/stat` is 0 for ever): then they are taken off, since most are the sides' packets.
//! What the kernel's own threads used is taken off as well, wherever it was: they free what the sides' connections held and handle their packets. A connection
//! for each request over a Unix socket had them at 0.9 s of 4.8.

use throng_findings::{Others, TICK_NS};
use throng_record::SideRecord;
use throng_sys::clock::monotonic_ns;
use throng_sys::kernel_threads::KernelThreads;
use throng_sys::process;
use throng_sys::steal::{CpuTime, CpuTimes};

/// All CPUs at one end of the window.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) at_ns: u64,
    pub(super) cpus: CpuTimes,
    /// CPU time of the lab so far.
    pub(super) lab_ns: u64,
    pub(super) kernel: KernelThreads,
}

impl Moment {
    pub(super) fn now() -> Option<Self> {
        Some(Self {
            at_ns: monotonic_ns(),
            cpus: CpuTimes::read().ok()?,
            kernel: KernelThreads::read(),
            lab_ns: process::cpu_time_ns(std::process::id()).ok()?,
        })
    }
}

/// Of the CPUs of each side, or of both where they share any. `cpu_ns` of the sides is of the same stretch.
pub(super) fn of_sides(
    window: &[Option<Moment>; 2],
    sides: [Option<&SideRecord>; 2],
) -> Vec<Others> {
    let [Some(begin), Some(end)] = window else {
        return vec![];
    };
    let [server, generator] = sides;
    let shares_cpus =
        |one: &SideRecord, other: &SideRecord| one.cpus.iter().any(|cpu| other.cpus.contains(cpu));
    let of = |whose, sides: &[&SideRecord]| {
        let mut cpus: Vec<u32> = sides.iter().flat_map(|side| side.cpus.clone()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        let own_ns = sides.iter().map(|side| side.cpu_ns).sum();
        let waited_ns = sides.iter().map(|side| side.run_delay_ns).sum();
        others(begin, end, &cpus, own_ns).map(|others| Others {
            whose,
            waited_ns,
            ..others
        })
    };
    match (server, generator) {
        (Some(server), Some(generator)) if shares_cpus(server, generator) => {
            let both = of("the CPUs of both sides", &[server, generator]);
            both.into_iter().collect()
        }
        _ => {
            let server = server.and_then(|side| of("the server's CPUs", &[side]));
            let generator = generator.and_then(|side| of("the generator's CPUs", &[side]));
            server.into_iter().chain(generator).collect()
        }
    }
}

fn others(begin: &Moment, end: &Moment, cpus: &[u32], own_ns: u64) -> Option<Others> {
    let passed = end.cpus.delta_since(&begin.cpus).per_cpu;
    let interrupts_apart = end.cpus.total.irq_ns > 0;
    let interrupts_ns = |time: &CpuTime| {
        if interrupts_apart {
            time.irq_ns + time.softirq_ns
        } else {
            0
        }
    };
    let each: Option<Vec<&CpuTime>> = cpus.iter().map(|cpu| passed.get(cpu)).collect();
    let each = each.filter(|each| !each.is_empty())?;
    let sum = |of: &dyn Fn(&CpuTime) -> u64| each.iter().map(|time| of(time)).sum::<u64>();
    let elapsed_ns = end.at_ns.saturating_sub(begin.at_ns);
    let all_ns = elapsed_ns * each.len() as u64;
    let not_idle = |time: &CpuTime| {
        elapsed_ns
            .saturating_sub(time.idle_ns + time.iowait_ns + time.steal_ns + interrupts_ns(time))
    };
    let ran = |time: &CpuTime| {
        let ran_ns = time.busy_ns().saturating_sub(interrupts_ns(time));
        let of_ours_ns = elapsed_ns.saturating_sub(time.steal_ns);
        ran_ns.saturating_sub(deviations_ns(not_idle(time), of_ours_ns))
    };
    let busy_ns = sum(&not_idle).min(sum(&ran));
    let known_ns =
        own_ns + end.lab_ns.saturating_sub(begin.lab_ns) + end.kernel.used_since_ns(&begin.kernel);
    Some(Others {
        whose: "",
        waited_ns: None,
        used_ns: busy_ns.saturating_sub(known_ns),
        all_ns,
        cpus: each.len() as u64,
    })
}

/// Three standard deviations of what ticks tell of a CPU that was busy for so long of the time that was not stolen. A tick of the kernel is 10 ms at most, as of `/proc/stat`.
fn deviations_ns(busy_ns: u64, elapsed_ns: u64) -> u64 {
    let ticks = elapsed_ns as f64 / TICK_NS as f64;
    let busy = (busy_ns as f64 / elapsed_ns.max(1) as f64).min(1.0);
    (3.0 * (ticks * busy * (1.0 - busy)).sqrt() * TICK_NS as f64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const MS: u64 = 1_000_000;

    /// Two CPUs after so long, each with its time in user mode, idle, stolen and in soft interrupts.
    fn moment(at_ms: u64, cpus_ms: [[u64; 4]; 2], irq_ms: u64) -> Option<Moment> {
        let time = |[user, idle, stolen, softirq]: [u64; 4]| CpuTime {
            user_ns: user * MS,
            idle_ns: idle * MS,
            steal_ns: stolen * MS,
            softirq_ns: softirq * MS,
            ..CpuTime::default()
        };
        Some(Moment {
            at_ns: at_ms * MS,
            cpus: CpuTimes {
                per_cpu: BTreeMap::from([(0, time(cpus_ms[0])), (1, time(cpus_ms[1]))]),
                total: CpuTime {
                    irq_ns: irq_ms * MS,
                    ..CpuTime::default()
                },
            },
            lab_ns: at_ms * MS / 100,
            kernel: KernelThreads::default(),
        })
    }

    fn side(cpus: &[u32], cpu_ms: u64) -> SideRecord {
        SideRecord {
            cpus: cpus.to_vec(),
            cpu_ns: cpu_ms * MS,
            ..SideRecord::default()
        }
    }

    fn used_ms(window: &[Option<Moment>; 2], sides: [Option<&SideRecord>; 2]) -> Vec<(u64, u64)> {
        let all = of_sides(window, sides);
        all.iter().map(|of| (of.used_ns / MS, of.cpus)).collect()
    }

    #[test]
    fn what_nobody_of_ours_used_was_used_by_others() {
        let window = [
            moment(5_000, [[100; 4], [100; 4]], 0),
            // Of CPU 0 the second half was stolen; CPU 1 was never idle.
            moment(6_000, [[600, 100, 600, 100], [1_100, 100, 100, 100]], 0),
        ];
        let (server, generator) = (side(&[0], 490), side(&[1], 590));
        // The lab's 10 ms are taken off from either, and so is what the kernel's threads used.
        assert_eq!(
            used_ms(&window, [Some(&server), Some(&generator)]),
            [(0, 1), (400, 1)]
        );
        let both = side(&[0, 1], 590);
        assert_eq!(
            used_ms(&window, [Some(&server), Some(&both)]),
            [(1_500 - 490 - 590 - 10, 2)]
        );
        assert_eq!(used_ms(&window, [None, Some(&generator)]), [(400, 1)]);
        assert_eq!(used_ms(&window, [None, Some(&side(&[7], 0))]), []);
        assert_eq!(used_ms(&[window[0].clone(), None], [None, Some(&both)]), []);
        let mut window = window;
        window[1].as_mut().expect("made").kernel = KernelThreads::of([(7, 150 * MS)]);
        assert_eq!(used_ms(&window, [None, Some(&generator)]), [(250, 1)]);
    }

    #[test]
    fn ticks_of_a_cpu_that_was_idle_now_and_then_are_a_sample() {
        let window = [
            moment(5_000, [[0; 4], [0; 4]], 0),
            moment(6_000, [[700, 400, 0, 0], [400, 400, 0, 0]], 0),
        ];
        // Busy for 600 ms, 700 by the ticks; and 400 by the ticks, the rest was on the way to idleness and back.
        let sides = [side(&[0], 550), side(&[1], 390)];
        assert_eq!(
            used_ms(&window, [Some(&sides[0]), Some(&sides[1])]),
            [(0, 1), (0, 1)]
        );
        // 700 - 3 × √(100 × 0.6 × 0.4) × 10 = 553
        assert_eq!(used_ms(&window, [None, Some(&side(&[0], 343))]), [(200, 1)]);
    }

    #[test]
    fn interrupts_that_are_accounted_for_apart_are_nobodys() {
        let end = |irq_ms| moment(6_000, [[600, 0, 0, 400], [0; 4]], irq_ms);
        let begin = || moment(5_000, [[0; 4], [0; 4]], 0);
        let server = side(&[0], 590);
        assert_eq!(
            used_ms(&[begin(), end(0)], [Some(&server), None]),
            [(400, 1)]
        );
        assert_eq!(used_ms(&[begin(), end(1)], [Some(&server), None]), [(0, 1)]);
    }
}
