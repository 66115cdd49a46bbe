//! Which side bounded the throughput.

use throng_record::{Limit, Pacing, SideRecord};

use crate::checks::steal;

/// A server at this share of its cores is busy.
pub(crate) const SERVER_BUSY: f64 = 0.90;
/// A generator at this share of its cores has nothing to spare.
pub(crate) const GENERATOR_BUSY: f64 = 0.98;
/// An open loop that got this share of its rate answered was bounded by the rate.
const RATE_KEPT: f64 = 0.95;

/// How busy the two sides were: CPU time ÷ (window × cores that the side can use at once), of what the hypervisor left of them.
///
/// A side cannot use more cores than it has threads: a single-threaded server that is busy all the time is at its limit,
/// however many CPUs it was given. Nor can it use what was stolen: a generator at 97 % of a CPU of which a neighbour on the host took 2 %
/// has nothing to spare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Busy {
    /// Absent where the server's CPU time is not visible from here.
    pub(crate) server: Option<f64>,
    /// Absent where the generator could not be observed.
    pub(crate) generator: Option<f64>,
}

/// What share of the cores that it can use at once a side ran on *or waited for*, with others on the same CPUs: idle by its own CPU
/// time, it may have had no CPU to run on.
pub(crate) fn wanted(side: &SideRecord, at_once: u32) -> Option<f64> {
    let wanted_ns = side.cpu_ns.saturating_add(side.run_delay_ns?) as f64;
    (side.window_ns > 0).then(|| wanted_ns / (side.window_ns as f64 * cores(side, at_once)))
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
pub(crate) fn limit(pacing: &Pacing, replies_per_second: f64, busy: Busy) -> Limit {
    if let Pacing::Open {
        rate_per_second, ..
    } = pacing
        && replies_per_second >= RATE_KEPT * rate_per_second
    {
        return Limit::Rate;
    }
    let (Some(server), Some(generator)) = (busy.server, busy.generator) else {
        return Limit::Unknown;
    };
    match (server >= SERVER_BUSY, generator >= GENERATOR_BUSY) {
        (true, true) => Limit::Both,
        (true, false) => Limit::Server,
        (false, true) => Limit::Generator,
        (false, false) => Limit::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Arrivals;

    use super::*;

    const CLOSED: Pacing = Pacing::Closed { outstanding: 1 };

    #[test]
    fn the_busy_side_is_the_limit() {
        for (server, generator, expected) in [
            (0.95, 0.50, Limit::Server),
            (0.89, 0.99, Limit::Generator),
            (0.90, 0.98, Limit::Both),
            (0.89, 0.97, Limit::Waiting),
        ] {
            let busy = Busy {
                server: Some(server),
                generator: Some(generator),
            };
            assert_eq!(limit(&CLOSED, 1.0, busy), expected, "{server} {generator}");
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
    fn a_server_that_cannot_be_seen_leaves_it_open() {
        let busy = Busy {
            server: None,
            generator: Some(1.0),
        };
        assert_eq!(limit(&CLOSED, 1.0, busy), Limit::Unknown);
    }

    #[test]
    fn a_rate_that_is_kept_is_the_limit_and_one_that_is_missed_is_not() {
        let open = Pacing::Open {
            rate_per_second: 1_000.0,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin: true,
        };
        let busy = Busy {
            server: Some(0.95),
            generator: Some(0.6),
        };
        assert_eq!(limit(&open, 990.0, busy), Limit::Rate);
        assert_eq!(limit(&open, 700.0, busy), Limit::Server);
    }
}
