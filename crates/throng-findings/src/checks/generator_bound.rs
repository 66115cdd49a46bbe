//! Generator-bound: the generator had nothing to spare while the server had, so the figure is the generator's.
//!
//! Two well-matched sides are both near 100 %, and that is the goal, not a fault. A spinning pacer is always at 100 %: an open
//! loop is judged by its scheduling error instead.

use throng_record::{Check, CheckKind, CheckResult, Pacing};

use throng_record::format::list;

use super::{Kind, made, not_applicable, percent};
use crate::limit::{Busy, GENERATOR_BUSY, SERVER_BUSY};

pub(super) const KIND: Kind = Kind {
    name: "generator-bound",
    title: "generator-bound",
    heading: "Generator-bound",
    is_the_servers_fault: false,
};

/// `hosts`: how busy the generator of each was, by name; none where the only generator is on the machine itself.
pub(super) fn check(
    pacing: &Pacing,
    busy: Busy,
    hosts: &[(String, f64)],
    is_server_visible: bool,
) -> Check {
    let kind = CheckKind::GeneratorBound;
    if matches!(pacing, Pacing::Open { .. }) {
        return not_applicable(kind, "an open loop is judged by its scheduling error");
    }
    let Some(generator) = busy.generator else {
        return not_applicable(kind, "the generator's CPU time was read too late");
    };
    let used = used_in_words(generator, hosts);
    let Some(server) = busy.server else {
        let why = if is_server_visible {
            "was read too late"
        } else {
            "is not visible from here"
        };
        return not_applicable(kind, format!("the server's CPU time {why}; {used}"));
    };
    let evidence = format!("{used}, the server {} of its own", percent(server));
    if generator >= GENERATOR_BUSY && server < SERVER_BUSY {
        let remedy = match hosts {
            [] => "Give the generator more CPUs (cpus) and shards",
            _ => "Let more hosts generate, or give these more CPUs and shards",
        };
        let detail = format!(
            "{evidence}: the server could do more than it was asked; the figure is a lower bound. {remedy}"
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

/// What the generator used; of several those that were bound, or the busiest.
fn used_in_words(busiest: f64, hosts: &[(String, f64)]) -> String {
    let is_told = |(_, busy): &&(String, f64)| *busy >= GENERATOR_BUSY.min(busiest);
    let told: Vec<&(String, f64)> = hosts.iter().filter(is_told).collect();
    let [(first, busy), others @ ..] = &told[..] else {
        return format!("the generator used {} of its cores", percent(busiest));
    };
    let first = format!(
        "the generator on host {first} used {} of its cores",
        percent(*busy)
    );
    let others = others.iter();
    let others = others.map(|(name, busy)| format!("that on host {name} {}", percent(*busy)));
    list(&std::iter::once(first).chain(others).collect::<Vec<_>>())
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
                check(&CLOSED, busy(generator, server), &[], true).result,
                expected,
                "{generator} {server}"
            );
        }
    }

    #[test]
    fn of_several_hosts_those_that_are_bound_are_named() {
        let told = |hosts: &[(&str, f64)], busiest| {
            let hosts = hosts.iter().map(|(name, busy)| ((*name).to_owned(), *busy));
            let hosts: Vec<_> = hosts.collect();
            check(&CLOSED, busy(busiest, 0.4), &hosts, true)
        };
        let one = told(&[("gen1", 0.5), ("gen2", 0.98)], 0.98);
        assert_eq!(one.result, CheckResult::Qualified);
        let expected =
            "the generator on host gen2 used 98.0 % of its cores, the server 40.0 % of its own: ";
        assert!(one.detail.starts_with(expected), "{}", one.detail);
        assert!(one.detail.contains("more hosts"), "{}", one.detail);
        let both = told(&[("gen1", 0.99), ("gen2", 0.981)], 0.99);
        let expected = "the generator on host gen1 used 99.0 % of its cores and that on host gen2 98.1 %, the server 40.0 % of its own: ";
        assert!(both.detail.starts_with(expected), "{}", both.detail);
        let none = told(&[("gen1", 0.5), ("gen2", 0.97)], 0.97);
        assert_eq!(none.result, CheckResult::Passed);
        let expected =
            "the generator on host gen2 used 97.0 % of its cores, the server 40.0 % of its own";
        assert_eq!(none.detail, expected);
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
            check(&open, busy(1.0, 0.1), &[], true).result,
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
            let check = check(&CLOSED, unseen, &[], is_visible);
            assert_eq!(check.result, CheckResult::NotApplicable);
            assert!(check.detail.contains(why), "{}", check.detail);
        }
    }
}
