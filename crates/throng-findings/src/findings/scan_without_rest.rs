//! A scan without rest: services that used CPU time while every connection was open and nobody asked anything.
//!
//! Seen in the phase between the connects and the first request. What accepting left over may be in its beginning; half of the time is more than that.

use throng_record::PhaseName;
use throng_record::finding::ScanWithoutRest;
use throng_record::format::{hundredths, plural, time_ns};

use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "scan-without-rest",
    title: "A scan that never rests",
    page: include_str!("../../../../docs/findings/scan-without-rest.md"),
};

/// Of the CPUs that they could have used.
const SHARE_MIN: f64 = 0.5;
/// A shorter look is made up of what accepting left to do.
const WINDOW_NS_MIN: u64 = 100_000_000;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<ScanWithoutRest> {
    evidence.phases().tasks()?;
    let cost = evidence.phases().cost(PhaseName::Hold)?;
    let used_ns = cost.server?.cpu_ns;
    let cpus = evidence.trial.server.as_ref()?.cpus.len() as u32;
    let services = evidence.setting.services;
    let cores = used_ns as f64 / cost.window_ns.max(1) as f64;
    let could_use = f64::from(cpus.min(services));
    let is_restless = cost.window_ns >= WINDOW_NS_MIN && cores >= SHARE_MIN * could_use;
    is_restless.then(|| ScanWithoutRest {
        cores,
        cpus,
        window_ns: cost.window_ns,
        services,
        connections_of_service: evidence.phases().kept() / services.max(1),
    })
}

impl Words for ScanWithoutRest {
    fn happened(&self) -> String {
        format!(
            "for {} nobody asked anything, and {} with {} each used {} of the CPU time of {} meanwhile.",
            time_ns(self.window_ns as f64),
            plural(self.services.into(), "service"),
            plural(self.connections_of_service.into(), "kept connection"),
            hundredths(self.cores),
            plural(self.cpus.into(), "CPU"),
        )
    }

    fn cause(&self) -> &'static str {
        "a thread looks at one kept connection after another without waiting, and begins again: a system call for each connection and each round, whether anything came or not. Rounds take longer as connections grow, what came waits for half a round, and the CPU time is taken from those that answer."
    }

    fn remedy(&self) -> String {
        "wait for all connections at once (poll, epoll, one select over all of them), so that the thread sleeps until something comes; --poll all is that way of system 4.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.cores
    }
}

#[cfg(test)]
mod tests {
    use throng_record::{HoldPhase, Measured, PhaseCost, SideCost, TasksRecord};

    use super::*;
    use crate::hand_made::Case;

    fn found(cpu_ms: u64, window_ms: u64) -> Option<ScanWithoutRest> {
        let mut case = Case::echo();
        case.exchange().tasks = Some(TasksRecord::default());
        case.setting.services = 5;
        case.connect().connected = 100;
        case.trial.phases.push(Measured::Hold(HoldPhase::default()));
        case.trial.phases.0.last_mut().expect("pushed").cost = Some(PhaseCost {
            window_ns: window_ms * 1_000_000,
            generator: None,
            server: Some(SideCost {
                cpu_ns: cpu_ms * 1_000_000,
                ..SideCost::default()
            }),
        });
        find(&case.evidence())
    }

    #[test]
    fn who_works_while_nobody_asks_is_told_with_the_connections_of_each() {
        let restless = found(190, 200).expect("of one CPU");
        assert_eq!((restless.cores, restless.cpus), (0.95, 1));
        assert_eq!(
            (restless.services, restless.connections_of_service),
            (5, 20)
        );
        assert!(found(100, 200).is_some());
        assert_eq!(found(99, 200), None);
        assert_eq!(found(99, 99), None, "too short a look");
    }
}
