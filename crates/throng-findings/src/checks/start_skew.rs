//! Start skew: generators on several hosts measured at the same time.
//!
//! All are told an instant to begin at, and the clocks of their hosts are known to some microseconds. While one of them measures before the others
//! do, or after them, the rate of all together lacks what these would have added: it is wrong by at most the share of the window by which they
//! are apart. Made only where several hosts generate: of one generator there is nothing to compare, and its trial does not have this check at all.

use throng_record::format::time_ns;
use throng_record::{Check, CheckKind, CheckResult, HostPart, Phases};

use super::{Kind, made, not_applicable, percent};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "start-skew",
    title: "start skew",
    heading: "Start skew",
    is_the_servers_fault: false,
};

/// As of Little's law: less is in the noise of a rate.
const SHARE_MAX: f64 = 0.05;

/// How much later than the first of all a host began.
#[derive(Clone, Debug)]
struct Start {
    host: String,
    skew_ns: u64,
    /// What its clock errs by at most.
    uncertainty_ns: u64,
}

/// What was measured in, and what each began.
#[derive(Clone, Copy, Debug)]
struct Window {
    what: &'static str,
    length_ns: u64,
}

/// `None` of fewer than two hosts.
pub(super) fn check(evidence: &Evidence<'_>) -> Option<Check> {
    let hosts = evidence.hosts();
    let start = |host: &HostPart| Start {
        host: host.in_words(hosts),
        skew_ns: host.skew_ns(),
        uncertainty_ns: host.clock.uncertainty_ns,
    };
    let starts: Vec<Start> = hosts.iter().map(start).collect();
    (starts.len() > 1).then(|| judged(&starts, window(evidence.phases())))
}

/// The measured window; without one the longest phase.
fn window(phases: &Phases) -> Window {
    if let Some(exchange) = phases.exchange() {
        return Window {
            what: "the measured window",
            length_ns: exchange.duration_ns,
        };
    }
    let lengths = [
        phases.connect().map(|phase| phase.duration_ns),
        phases.hold().map(|phase| phase.duration_ns),
        phases.ping().map(|phase| phase.duration_ns),
        phases.close().map(|phase| phase.duration_ns),
    ];
    Window {
        what: "the longest phase",
        length_ns: lengths.into_iter().flatten().max().unwrap_or(0),
    }
}

fn judged(starts: &[Start], window: Window) -> Check {
    let kind = CheckKind::StartSkew;
    let apart_ns = |start: &Start| start.skew_ns.saturating_add(start.uncertainty_ns);
    let latest = starts.iter().max_by_key(|start| apart_ns(start));
    let Some(latest) = latest.filter(|_| window.length_ns > 0) else {
        return not_applicable(kind, "nothing was measured for any time");
    };
    let share = apart_ns(latest) as f64 / window.length_ns as f64;
    let time = |length_ns: u64| time_ns(length_ns as f64);
    let evidence = format!(
        "host {} began {} after the first, by clocks known to {}: {} of {}, which took {} (at most {})",
        latest.host,
        time(latest.skew_ns),
        time(latest.uncertainty_ns),
        percent(share),
        window.what,
        time(window.length_ns),
        percent(SHARE_MAX)
    );
    if share <= SHARE_MAX {
        return made(kind, CheckResult::Passed, share, SHARE_MAX, evidence);
    }
    let detail = format!(
        "{evidence}: the hosts did not measure at the same time, and the rate of all together may be wrong by as much. A warm-up of so many messages ends when each host has had its own, and a busy host begins late: measure longer (--duration), give the warm-up as a time (--warmup 1s), or take a nearer or quieter host"
    );
    made(kind, CheckResult::Failed, share, SHARE_MAX, detail)
}

#[cfg(test)]
mod tests {
    use throng_record::{ClockOffset, HoldPhase, Measured};

    use super::*;
    use crate::hand_made::{Case, host};

    const SECOND_NS: u64 = 1_000_000_000;

    fn start(host: &str, skew_ns: u64, uncertainty_ns: u64) -> Start {
        Start {
            host: host.to_owned(),
            skew_ns,
            uncertainty_ns,
        }
    }

    fn of_a_second(starts: &[Start]) -> Check {
        let window = Window {
            what: "the measured window",
            length_ns: SECOND_NS,
        };
        judged(starts, window)
    }

    #[test]
    fn a_twentieth_of_the_window_is_the_bound_and_the_clocks_count() {
        let first = start("gen1", 0, 20_000);
        let result = |skew_ns, uncertainty_ns| {
            let starts = [first.clone(), start("gen2", skew_ns, uncertainty_ns)];
            of_a_second(&starts).result
        };
        assert_eq!(result(50_000_000, 0), CheckResult::Passed);
        assert_eq!(result(50_000_001, 0), CheckResult::Failed);
        assert_eq!(result(49_000_000, 1_000_000), CheckResult::Passed);
        assert_eq!(result(49_000_000, 1_000_001), CheckResult::Failed);
    }

    #[test]
    fn the_host_that_is_furthest_off_is_named_with_what_to_do() {
        let starts = [
            start("gen1", 0, 70_000_000),
            start("gen2", 60_000_000, 5_000_000),
        ];
        let check = of_a_second(&starts);
        let expected = "host gen1 began 0 ns after the first, by clocks known to 70.0 ms: 7.0 % of the measured window, which took 1.00 s (at most 5.0 %): ";
        assert!(check.detail.starts_with(expected), "{}", check.detail);
        for remedy in ["--duration", "--warmup", "quieter host"] {
            assert!(check.detail.contains(remedy), "{}", check.detail);
        }
        assert_eq!((check.measured, check.bound), (Some(0.07), Some(0.05)));
    }

    #[test]
    fn it_is_made_of_several_hosts_alone() {
        let mut case = Case::echo();
        case.exchange().duration_ns = SECOND_NS;
        let found = |case: &Case| check(&case.evidence()).map(|check| check.result);
        assert_eq!(found(&case), None);
        case.trial.hosts = vec![host(1, "gen1")];
        assert_eq!(found(&case), None);
        case.trial.hosts.push(host(2, "gen2"));
        assert_eq!(found(&case), Some(CheckResult::Passed));
        case.trial.hosts[1].start_skew_ns = 80_000_000;
        assert_eq!(found(&case), Some(CheckResult::Failed));
        case.trial.hosts[1].window_skew_ns = Some(3_000_000);
        assert_eq!(found(&case), Some(CheckResult::Passed), "of the window");
        case.trial.hosts[1].clock = ClockOffset {
            offset_ns: -7,
            uncertainty_ns: 48_000_000,
        };
        assert_eq!(found(&case), Some(CheckResult::Failed));
        case.exchange().duration_ns = 0;
        assert_eq!(found(&case), Some(CheckResult::NotApplicable));
    }

    #[test]
    fn without_a_window_the_longest_phase_counts() {
        let mut case = Case::echo();
        case.connect().duration_ns = 3_000_000;
        case.trial.phases.0.pop();
        let hold = HoldPhase {
            duration_ns: SECOND_NS,
            ..HoldPhase::default()
        };
        case.trial.phases.push(Measured::Hold(hold));
        assert_eq!(window(&case.trial.phases).length_ns, SECOND_NS);
    }
}
