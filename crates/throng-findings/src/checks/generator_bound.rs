//! Generator-bound: the generator had nothing to spare while the server had, so the figure is the generator's.
//!
//! Two well-matched sides are both near 100 %, and that is the goal, not a fault. A spinning pacer is always at 100 %: an open
//! loop is judged by its scheduling error instead.

use throng_record::{Check, CheckKind, CheckResult, Pacing};

use super::{Kind, made, not_applicable, percent};
use crate::limit::{Busy, GENERATOR_BUSY, SERVER_BUSY};

pub(super) const KIND: Kind = Kind {
    name: "generator-bound",
    title: "generator-bound",
    heading: "Generator-bound",
    is_the_servers_fault: false,
};

pub(super) fn check(pacing: &Pacing, busy: Busy, is_server_visible: bool) -> Check {
    let kind = CheckKind::GeneratorBound;
    if matches!(pacing, Pacing::Open { .. }) {
        return not_applicable(kind, "an open loop is judged by its scheduling error");
    }
    let Some(generator) = busy.generator else {
        return not_applicable(kind, "the generator's CPU time was read too late");
    };
    let Some(server) = busy.server else {
        let why = if is_server_visible {
            "was read too late"
        } else {
            "is not visible from here"
        };
        return not_applicable(
            kind,
            format!(
                "the server's CPU time {why}; the generator used {} of its cores",
                percent(generator)
            ),
        );
    };
    let evidence = format!(
        "the generator used {} of its cores, the server {} of its own",
        percent(generator),
        percent(server)
    );
    if generator >= GENERATOR_BUSY && server < SERVER_BUSY {
        let detail = format!(
            "{evidence}: the server could do more than it was asked; the figure is a lower bound. Give the generator more CPUs (cpus) and shards"
        );
        made(
            kind,
            CheckResult::Qualified,
            generator,
            GENERATOR_BUSY,
            detail,
        )
    } else {
        made(
            kind,
            CheckResult::Passed,
            generator,
            GENERATOR_BUSY,
            evidence,
        )
    }
}

#[cfg(test)]
mod tests {
    use throng_record::Arrivals;

    use super::*;

    const CLOSED: Pacing = Pacing::Closed { outstanding: 1 };

    fn busy(generator: f64, server: f64) -> Busy {
        Busy {
            server: Some(server),
            generator: Some(generator),
        }
    }

    #[test]
    fn only_a_full_generator_before_an_idle_server_qualifies_the_figure() {
        for (generator, server, expected) in [
            (0.99, 0.89, CheckResult::Qualified),
            (0.98, 0.89, CheckResult::Qualified),
            (0.97, 0.89, CheckResult::Passed),
            (0.99, 0.90, CheckResult::Passed),
            (0.50, 0.99, CheckResult::Passed),
        ] {
            assert_eq!(
                check(&CLOSED, busy(generator, server), true).result,
                expected,
                "{generator} {server}"
            );
        }
    }

    #[test]
    fn it_is_not_made_in_an_open_loop_or_without_sight_of_the_server() {
        let open = Pacing::Open {
            rate_per_second: 1.0,
            arrivals: Arrivals::Constant,
            outstanding: 1,
            spin: true,
        };
        assert_eq!(
            check(&open, busy(1.0, 0.1), true).result,
            CheckResult::NotApplicable
        );
        let unseen = Busy {
            server: None,
            generator: Some(1.0),
        };
        for (is_visible, why) in [
            (true, "was read too late"),
            (false, "not visible from here"),
        ] {
            let check = check(&CLOSED, unseen, is_visible);
            assert_eq!(check.result, CheckResult::NotApplicable);
            assert!(check.detail.contains(why), "{}", check.detail);
        }
    }
}
