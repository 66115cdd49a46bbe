//! Which side bounded the throughput.

use throng_record::{Limit, LoadJob, Pacing, Phases, SideRecord, Trial};

use crate::cpu_time::{Others, certain_ns};
use crate::hosts::{Generator, generators};
use crate::lost::Lost;

/// A server at this share of its cores is busy.
pub(crate) const SERVER_BUSY: f64 = 0.90;
/// A generator at this share of its cores has nothing to spare.
pub(crate) const GENERATOR_BUSY: f64 = 0.98;
/// An open loop that got this share of its rate answered kept it, and was bounded by it.
pub(crate) const RATE_KEPT: f64 = 0.95;

/// How busy the two sides were: CPU time ÷ (window × cores that the side can use at once), of what the hypervisor left of them.
///
/// A side cannot use more cores than it has threads: a single-threaded server that is busy all the time is at its limit,
/// however many CPUs it was given. Nor can it use what was stolen: a generator at 97 % of a CPU of which a neighbour on the host took 2 %
/// has nothing to spare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Busy {
    /// Absent where the server's CPU time is not visible from here, or was read too late.
    pub(crate) server: Option<f64>,
    /// Absent where the generator could not be observed, or not in time. Of several the busiest: it can be the limit by itself.
    pub(crate) generator: Option<f64>,
}

impl Busy {
    /// In the measured window.
    pub(crate) fn of(trial: &Trial) -> Self {
        Self {
            server: trial.server.as_ref().and_then(server_busy),
            generator: of_busiest(trial, busy),
        }
    }

    /// The same with the time in which they waited for a CPU; absent where that could not be read.
    pub(crate) fn wanted_by(trial: &Trial) -> Self {
        let server = trial.server.as_ref();
        Self {
            server: server.and_then(|side| wanted(side, side.threads_max)),
            generator: of_busiest(trial, wanted),
        }
    }
}

/// Whether it was the server's CPUs that held it back, at a rate at which bounds on its latency did not hold. The rate is no limit then, and a generator that
/// spins is always busy.
#[must_use]
pub fn limit_of_server(trial: &Trial) -> Limit {
    let wanted = Busy::wanted_by(trial).server;
    match (Busy::of(trial).server, wanted) {
        (Some(busy), _) if busy >= SERVER_BUSY => Limit::Server,
        (Some(_), Some(wanted)) if wanted >= SERVER_BUSY => Limit::OtherPrograms,
        (Some(_), _) => Limit::Waiting,
        (None, _) if trial.server.is_some() => Limit::ReadLate,
        (None, _) => Limit::Unknown,
    }
}

/// Of all generators the most; absent where one of them is not known.
fn of_busiest(trial: &Trial, figure: fn(&SideRecord, u32) -> Option<f64>) -> Option<f64> {
    let all = generators(trial).into_iter().map(|generator| {
        let (side, shards) = generator?;
        figure(side, shards)
    });
    let all: Option<Vec<f64>> = all.collect();
    all?.into_iter().reduce(f64::max)
}

/// What the limit is told by.
#[derive(Clone, Copy, Debug)]
struct Sides {
    busy: Busy,
    is_server_visible: bool,
    /// By other programs.
    are_crowded_out: bool,
}

/// What share of the cores that it can use at once a side ran on *or waited for*, with others on the same CPUs: idle by its own CPU
/// time, it may have had no CPU to run on.
fn wanted(side: &SideRecord, at_once: u32) -> Option<f64> {
    let wanted_ns = side.cpu_ns.saturating_add(side.run_delay_ns?) as f64;
    (side.window_ns > 0).then(|| wanted_ns / (side.window_ns as f64 * cores(side, at_once)))
}

/// Whether others were in the way: one side or the other could have run nearly all the time, and one of them waited for a tenth of it, on CPUs that
/// others used. That it waited is not enough: its own threads, and the other side, may have been what it waited for. Each side with the
/// number of cores that it could use at once.
fn are_crowded_out(sides: &[(&SideRecord, u32)]) -> bool {
    const WAITED_MIN: f64 = 0.1;
    let could_run: f64 = sides
        .iter()
        .filter_map(|(side, at_once)| wanted(side, *at_once))
        .sum();
    let has_waited_for_others = |(side, _): &(&SideRecord, u32)| {
        let cpus = side.cpus.len() as u64;
        let others = Others {
            used_ns: side.others_ns.unwrap_or(0),
            all_ns: side.window_ns * cpus,
            cpus,
            ..Others::default()
        };
        let waited_ns = side.run_delay_ns.unwrap_or(0) as f64;
        others.are_too_many(Lost::CpuTime) && waited_ns >= WAITED_MIN * side.window_ns as f64
    };
    could_run >= SERVER_BUSY && sides.iter().any(has_waited_for_others)
}

/// Cores that a side can use at once: no more than it has threads, and of each what the hypervisor left.
fn cores(side: &SideRecord, at_once: u32) -> f64 {
    f64::from((side.cpus.len() as u32).min(at_once.max(1)).max(1)) * left(side)
}

/// The share of its CPUs' time that the hypervisor left, for certain; all of it where there is no window.
pub(crate) fn left(side: &SideRecord) -> f64 {
    let cpus = side.cpus.len() as u64;
    let stolen_ns = certain_ns(side.stolen_ns.unwrap_or(0), cpus);
    let left = 1.0 - stolen_ns as f64 / (side.window_ns as f64 * cpus as f64);
    if left > 0.0 { left } else { 1.0 }
}

/// CPU time ÷ window; `None` without the right window.
pub(crate) fn cores_used(side: &SideRecord) -> Option<f64> {
    (side.window_ns > 0 && !side.is_of_other_window)
        .then(|| side.cpu_ns as f64 / side.window_ns as f64)
}

/// CPU time ÷ (window × cores that this side could use at once); `None` without a window.
pub(crate) fn busy(side: &SideRecord, at_once: u32) -> Option<f64> {
    Some(cores_used(side)? / cores(side, at_once))
}

/// The same for a server, of which it is not known how many threads serve: many have one that does and some that idle (Redis,
/// Node.js, anything under a global lock). One core's worth of CPU time, and no more, is their signature.
fn server_busy(side: &SideRecord) -> Option<f64> {
    const ONE_CORE: std::ops::RangeInclusive<f64> = SERVER_BUSY..=1.05;
    let used = cores_used(side)? / left(side);
    if ONE_CORE.contains(&used) {
        Some(used.min(1.0))
    } else {
        busy(side, side.threads_max)
    }
}

/// Which side bounded a trial's throughput.
#[must_use]
pub fn limit(trial: &Trial) -> Limit {
    let server = trial.server.as_ref().map(|side| (side, side.threads_max));
    let with_server = |generator: &Option<Generator<'_>>| {
        let sides: Vec<_> = server.into_iter().chain(*generator).collect();
        are_crowded_out(&sides)
    };
    let sides = Sides {
        busy: Busy::of(trial),
        is_server_visible: trial.server.is_some(),
        are_crowded_out: generators(trial).iter().any(with_server),
    };
    let (pacing, rate) = pace(&trial.job, &trial.phases);
    judged(&pacing, rate, &sides)
}

/// What has no rate of its own is as fast as it goes.
const UNPACED: Pacing = Pacing::Closed { outstanding: 1 };

/// How fast the measured work was to go, and how fast it went.
fn pace(job: &LoadJob, phases: &Phases) -> (Pacing, f64) {
    if let Some((asked, measured)) = job.phases.exchange().zip(phases.exchange()) {
        return (asked.pacing.clone(), measured.replies_per_second);
    }
    let Some((asked, measured)) = job.phases.sustain().zip(phases.sustained()) else {
        return (UNPACED, 0.0);
    };
    // Lines at a rate are that many deliveries for each connection that was open.
    let of_all = Pacing::Open {
        rate_per_second: asked.rate_per_second * f64::from(phases.kept()),
        arrivals: asked.arrivals,
        outstanding: 1,
        spin: false,
    };
    (of_all, measured.deliveries_per_second)
}

/// The limit, as [`Limit`] defines it. A spinning pacer is always busy, so an open loop is judged by its rate first.
fn judged(pacing: &Pacing, replies_per_second: f64, sides: &Sides) -> Limit {
    if let Pacing::Open {
        rate_per_second, ..
    } = pacing
        && replies_per_second >= RATE_KEPT * rate_per_second
    {
        return Limit::Rate;
    }
    let Busy { server, generator } = sides.busy;
    let (Some(server), Some(generator)) = (server, generator) else {
        return if sides.is_server_visible {
            Limit::ReadLate
        } else {
            Limit::Unknown
        };
    };
    match (server >= SERVER_BUSY, generator >= GENERATOR_BUSY) {
        (true, true) => Limit::Both,
        (true, false) => Limit::Server,
        (false, true) => Limit::Generator,
        (false, false) if sides.are_crowded_out => Limit::OtherPrograms,
        (false, false) => Limit::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Arrivals;

    use super::*;
    use crate::hand_made::{Case, host};

    const CLOSED: Pacing = Pacing::Closed { outstanding: 1 };

    fn sides(server: Option<f64>, generator: Option<f64>) -> Sides {
        Sides {
            busy: Busy { server, generator },
            is_server_visible: true,
            are_crowded_out: false,
        }
    }

    #[test]
    fn the_busy_side_is_the_limit() {
        for (server, generator, expected) in [
            (0.95, 0.50, Limit::Server),
            (0.89, 0.99, Limit::Generator),
            (0.90, 0.98, Limit::Both),
            (0.89, 0.97, Limit::Waiting),
        ] {
            let sides = sides(Some(server), Some(generator));
            assert_eq!(
                judged(&CLOSED, 1.0, &sides),
                expected,
                "{server} {generator}"
            );
        }
    }

    #[test]
    fn of_several_generators_the_busiest_may_be_the_limit() {
        let mut case = Case::echo();
        case.server_used(Some(0.5));
        case.trial.hosts = vec![host(1, "gen1"), host(2, "gen2")];
        let result = |case: &Case| (Busy::of(&case.trial).generator, limit(&case.trial));
        assert_eq!(result(&case), (Some(0.05), Limit::Waiting));
        let side = case.trial.hosts[1].generator.as_mut().expect("seen");
        side.cpu_ns = 990_000_000;
        assert_eq!(result(&case), (Some(0.99), Limit::Generator));
        // Together they used more than one has.
        case.generator().cpu_ns = 1_040_000_000;
        assert_eq!(result(&case).0, Some(0.99));
        case.trial.hosts[0].generator = None;
        assert_eq!(result(&case), (None, Limit::ReadLate));
    }

    #[test]
    fn who_waits_for_a_cpu_wants_it() {
        let side = SideRecord {
            cpus: vec![0, 1],
            window_ns: 1_000,
            cpu_ns: 100,
            run_delay_ns: Some(500),
            ..SideRecord::default()
        };
        assert_eq!(wanted(&side, 1), Some(0.6));
        assert_eq!(wanted(&side, 9), Some(0.3));
        assert_eq!(wanted(&SideRecord::default(), 1), None);
    }

    #[test]
    fn a_side_that_others_keep_from_its_cpu_is_no_waiting_one() {
        // A second of one CPU; the bound is 2 % of it and a tick.
        let side = |cpu_ms: u64, waited_ms: u64, others_ms: u64| SideRecord {
            cpus: vec![3],
            window_ns: 1_000_000_000,
            cpu_ns: cpu_ms * 1_000_000,
            run_delay_ns: Some(waited_ms * 1_000_000),
            others_ns: Some(others_ms * 1_000_000),
            ..SideRecord::default()
        };
        for (sides, expected) in [
            (vec![side(500, 400, 400)], true),
            (vec![side(500, 399, 400)], false),
            (vec![side(500, 400, 31)], true),
            (vec![side(500, 400, 30)], false),
            // Both by turns.
            (vec![side(200, 250, 600), side(200, 250, 600)], true),
            (vec![side(200, 250, 600), side(200, 249, 600)], false),
            // On CPUs that others used a little, neither waited for long.
            (vec![side(450, 60, 31), side(450, 60, 31)], false),
            (vec![side(880, 99, 90)], false),
        ] {
            let sides: Vec<_> = sides.iter().map(|side| (side, 1)).collect();
            assert_eq!(are_crowded_out(&sides), expected, "{sides:?}");
        }
        let neither = sides(Some(0.5), Some(0.5));
        let crowded_out = Sides {
            are_crowded_out: true,
            ..neither
        };
        assert_eq!(judged(&CLOSED, 1.0, &crowded_out), Limit::OtherPrograms);
        assert_eq!(judged(&CLOSED, 1.0, &neither), Limit::Waiting);
    }

    #[test]
    fn what_the_hypervisor_took_could_not_be_used() {
        let side = |stolen_ms: u64| SideRecord {
            cpus: vec![0, 1],
            window_ns: 1_000_000_000,
            cpu_ns: 950_000_000,
            stolen_ns: Some(stolen_ms * 1_000_000),
            ..SideRecord::default()
        };
        assert_eq!(cores(&side(0), 1), 1.0);
        assert_eq!(cores(&side(20), 1), 1.0, "a tick of each CPU may be chance");
        assert_eq!(cores(&side(120), 1), 0.95, "of either CPU alike");
        assert_eq!(cores(&side(120), 9), 1.9);
        assert_eq!(cores(&side(9_000), 1), 1.0, "more than there was");
        assert_eq!(cores(&SideRecord::default(), 1), 1.0);
    }

    #[test]
    fn what_was_read_too_late_and_what_cannot_be_seen_are_told_apart() {
        assert_eq!(
            judged(&CLOSED, 1.0, &sides(None, Some(1.0))),
            Limit::ReadLate
        );
        assert_eq!(
            judged(&CLOSED, 1.0, &sides(Some(1.0), None)),
            Limit::ReadLate
        );
        let unseen = Sides {
            is_server_visible: false,
            ..sides(None, Some(1.0))
        };
        assert_eq!(judged(&CLOSED, 1.0, &unseen), Limit::Unknown);
    }

    #[test]
    fn a_rate_that_is_kept_is_the_limit_and_one_that_is_missed_is_not() {
        let open = Pacing::Open {
            rate_per_second: 1_000.0,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin: true,
        };
        let sides = sides(Some(0.95), Some(0.6));
        assert_eq!(judged(&open, 990.0, &sides), Limit::Rate);
        assert_eq!(judged(&open, 700.0, &sides), Limit::Server);
    }

    fn used(cpus: u32, used_cores: f64) -> SideRecord {
        SideRecord {
            cpus: (0..cpus).collect(),
            window_ns: 1_000_000_000,
            cpu_ns: (used_cores * 1e9) as u64,
            ..SideRecord::default()
        }
    }

    #[test]
    fn a_side_is_busy_by_the_cores_that_it_can_use() {
        assert_eq!(busy(&used(1, 0.5), 1), Some(0.5));
        assert_eq!(busy(&used(4, 2.0), 4), Some(0.5));
        assert_eq!(busy(&used(4, 0.5), 1), Some(0.5), "one thread, one core");
        assert_eq!(busy(&SideRecord::default(), 1), None);
        let stolen = SideRecord {
            stolen_ns: Some(60_000_000),
            ..used(1, 0.95)
        };
        assert_eq!(busy(&stolen, 1), Some(1.0), "a twentieth was taken");
    }

    #[test]
    fn one_cores_worth_is_one_thread_at_its_limit_whatever_idles_beside_it() {
        let server_busy = |side: SideRecord| {
            server_busy(&SideRecord {
                threads_max: 5,
                ..side
            })
        };
        assert_eq!(server_busy(used(2, 0.97)), Some(0.97));
        assert_eq!(server_busy(used(2, 1.02)), Some(1.0));
        assert_eq!(server_busy(used(2, 1.2)), Some(0.6));
        assert_eq!(server_busy(used(2, 0.5)), Some(0.25));
        let stolen = SideRecord {
            stolen_ns: Some(520_000_000),
            ..used(2, 0.75)
        };
        assert_eq!(server_busy(stolen), Some(1.0), "a quarter was taken");
    }
}
