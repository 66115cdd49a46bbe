//! Which side bounded the throughput.

use throng_record::{Limit, Pacing, SideRecord};

use crate::checks::lost::Lost;
use crate::checks::other_programs::Others;
use crate::checks::steal;

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
    /// Absent where the generator could not be observed, or not in time.
    pub(crate) generator: Option<f64>,
}

/// What the limit is told by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides {
    pub(crate) busy: Busy,
    pub(crate) is_server_visible: bool,
    /// By other programs.
    pub(crate) are_crowded_out: bool,
}

/// What share of the cores that it can use at once a side ran on *or waited for*, with others on the same CPUs: idle by its own CPU
/// time, it may have had no CPU to run on.
pub(crate) fn wanted(side: &SideRecord, at_once: u32) -> Option<f64> {
    let wanted_ns = side.cpu_ns.saturating_add(side.run_delay_ns?) as f64;
    (side.window_ns > 0).then(|| wanted_ns / (side.window_ns as f64 * cores(side, at_once)))
}

/// Whether others were in the way: one side or the other could have run nearly all the time, and one of them waited for a tenth of it, on CPUs that
/// others used. That it waited is not enough: its own threads, and the other side, may have been what it waited for. Each side with the
/// number of cores that it could use at once.
pub(crate) fn are_crowded_out(sides: &[(&SideRecord, u32)]) -> bool {
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
pub(crate) fn cores(side: &SideRecord, at_once: u32) -> f64 {
    f64::from((side.cpus.len() as u32).min(at_once.max(1)).max(1)) * left(side)
}

/// The share of its CPUs' time that the hypervisor left, for certain; all of it where there is no window.
pub(crate) fn left(side: &SideRecord) -> f64 {
    let cpus = side.cpus.len() as u64;
    let stolen_ns = steal::certain_ns(side.stolen_ns.unwrap_or(0), cpus);
    let left = 1.0 - stolen_ns as f64 / (side.window_ns as f64 * cpus as f64);
    if left > 0.0 { left } else { 1.0 }
}

/// CPU time ÷ window; `None` without the right window.
pub(crate) fn cores_used(side: &SideRecord) -> Option<f64> {
    (side.window_ns > 0 && !side.is_of_other_window)
        .then(|| side.cpu_ns as f64 / side.window_ns as f64)
}

/// The limit, as [`Limit`] defines it. A spinning pacer is always busy, so an open loop is judged by its rate first.
pub(crate) fn limit(pacing: &Pacing, replies_per_second: f64, sides: &Sides) -> Limit {
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
                limit(&CLOSED, 1.0, &sides),
                expected,
                "{server} {generator}"
            );
        }
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
        assert_eq!(limit(&CLOSED, 1.0, &crowded_out), Limit::OtherPrograms);
        assert_eq!(limit(&CLOSED, 1.0, &neither), Limit::Waiting);
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
            limit(&CLOSED, 1.0, &sides(None, Some(1.0))),
            Limit::ReadLate
        );
        assert_eq!(
            limit(&CLOSED, 1.0, &sides(Some(1.0), None)),
            Limit::ReadLate
        );
        let unseen = Sides {
            is_server_visible: false,
            ..sides(None, Some(1.0))
        };
        assert_eq!(limit(&CLOSED, 1.0, &unseen), Limit::Unknown);
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
        assert_eq!(limit(&open, 990.0, &sides), Limit::Rate);
        assert_eq!(limit(&open, 700.0, &sides), Limit::Server);
    }
}
