//! Generator-bound: the figure is the generator's, as the check of that name found it.

use throng_record::{CheckKind, CheckResult, Finding, finding};

use super::Evidence;

pub(super) fn find(evidence: &Evidence<'_>) -> Option<Finding> {
    let is_bound = evidence.checks.iter().any(|check| {
        check.kind == CheckKind::GeneratorBound && check.result == CheckResult::Qualified
    });
    is_bound.then_some(Finding::GeneratorBound(finding::GeneratorBound {
        generator_busy: evidence.busy.generator?,
        server_busy: evidence.busy.server?,
    }))
}

#[cfg(test)]
mod tests {
    use throng_record::Check;

    use super::*;
    use crate::explain::findings::hand_made::Case;
    use crate::limit::Busy;

    fn found(kind: CheckKind, result: CheckResult) -> Option<Finding> {
        let mut case = Case::echo();
        case.busy = Busy {
            server: Some(0.6),
            generator: Some(0.99),
        };
        case.checks = vec![Check {
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
        let expected = Finding::GeneratorBound(finding::GeneratorBound {
            generator_busy: 0.99,
            server_busy: 0.6,
        });
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
