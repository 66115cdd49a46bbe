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
    use throng_record::Check;

    use super::*;
    use crate::hand_made::Case;

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
