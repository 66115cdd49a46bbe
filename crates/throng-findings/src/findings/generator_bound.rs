//! Generator-bound: the figure is the generator's, as the check of that name found it.

use throng_record::finding::GeneratorBound;
use throng_record::{CheckKind, CheckResult};

use super::clause::percent;
use super::{Kind, Words};
use crate::evidence::Evidence;

pub(super) const KIND: Kind = Kind {
    name: "generator-bound",
    title: "Generator-bound",
    page: include_str!("../../../../docs/findings/generator-bound.md"),
};

pub(super) fn find(evidence: &Evidence<'_>) -> Option<GeneratorBound> {
    let is_bound = evidence.trial.checks.iter().any(|check| {
        check.kind == CheckKind::GeneratorBound && check.result == CheckResult::Qualified
    });
    is_bound.then_some(GeneratorBound {
        generator_busy: evidence.busy().generator?,
        server_busy: evidence.busy().server?,
    })
}

impl Words for GeneratorBound {
    fn happened(&self) -> String {
        format!(
            "the generator used {} of its CPU, the server {} of its own: it could do more than was measured.",
            percent(self.generator_busy),
            percent(self.server_busy)
        )
    }

    fn cause(&self) -> &'static str {
        "the generator had no time left to ask for more."
    }

    fn remedy(&self) -> String {
        "more CPUs for the generator, or fewer for the server: --cpus SERVER:GENERATOR.".to_owned()
    }

    fn gravity(&self) -> f64 {
        1.0 - self.server_busy
    }
}

#[cfg(test)]
mod tests {
    use throng_record::{Check, Finding};

    use super::*;
    use crate::hand_made::{Case, host};

    fn found(kind: CheckKind, result: CheckResult) -> Option<GeneratorBound> {
        let mut case = Case::echo();
        case.server_used(Some(0.6));
        case.generator_used(Some(0.99));
        case.trial.checks = vec![Check {
            kind,
            result,
            measured: None,
            bound: None,
            detail: String::new(),
        }];
        find(&case.evidence())
    }

    #[test]
    fn the_hosts_whose_generators_were_bound_are_named() {
        let mut case = Case::echo();
        case.trial.hosts = [1, 2, 3].map(|rank| host(rank, "gen")).to_vec();
        for (host, busy) in case.trial.hosts.iter_mut().zip([0.99, 0.5, 0.98]) {
            let side = host.generator.as_mut().expect("seen");
            side.cpu_ns = (busy * side.window_ns as f64) as u64;
        }
        let found = Finding::GeneratorBound(GeneratorBound {
            generator_busy: 0.99,
            server_busy: 0.6,
        });
        let named = crate::findings::hosts(&found, &case.trial);
        assert_eq!(named, ["gen (rank 1)", "gen (rank 3)"]);
        case.trial.hosts.clear();
        assert_eq!(crate::findings::hosts(&found, &case.trial), [""; 0]);
    }

    #[test]
    fn it_follows_its_check() {
        let expected = GeneratorBound {
            generator_busy: 0.99,
            server_busy: 0.6,
        };
        let kind = CheckKind::GeneratorBound;
        assert_eq!(found(kind, CheckResult::Qualified), Some(expected));
        assert_eq!(found(kind, CheckResult::Passed), None);
        assert_eq!(found(kind, CheckResult::NotApplicable), None);
        assert_eq!(
            found(CheckKind::SchedulingError, CheckResult::Qualified),
            None
        );
    }
}
