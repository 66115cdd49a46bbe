//! The server lived to the end of the trial, and left in order when told to.
//!
//! A built-in server must drain and exit with 0. From a command only the first is asked: most servers simply die of SIGTERM,
//! and one that ignores it is a nuisance, but its figures stand.

use throng_record::format::tail_in_words;
use throng_record::{Check, CheckKind, CheckResult, TargetKind};

use super::{Kind, made, not_applicable};
use crate::server::LifeEnd;

pub(super) const KIND: Kind = Kind {
    name: "server-died",
    title: "server died",
    heading: "The server died",
    is_the_servers_fault: true,
};

pub(super) fn check(target: TargetKind, server: &LifeEnd) -> Check {
    let kind = CheckKind::ServerDied;
    let ending = match server {
        LifeEnd::Ended(ending, _) => ending,
        LifeEnd::LivesOn => {
            let detail = "the server lived to the end of the trial, and serves the next one";
            return made(kind, CheckResult::Passed, None, None, detail.to_owned());
        }
        LifeEnd::NotOurs => {
            return not_applicable(
                kind,
                "throng did not start this server, and does not end it",
            );
        }
    };
    let fail = |what: &str| {
        let detail = format!("{what}{}", tail_in_words(&ending.tail));
        made(kind, CheckResult::Failed, None, None, detail)
    };
    if ending.died_early {
        return fail(&format!(
            "the server ended before it was told to ({}): it crashed, or something killed it",
            ending.how
        ));
    }
    match (target, ending.was_killed, ending.succeeded) {
        (TargetKind::BuiltIn, true, _) => fail("the server did not leave within two seconds of SIGTERM, and was killed"),
        (TargetKind::BuiltIn, false, false) => fail(&format!("the server left, but not in order ({})", ending.how)),
        (_, true, _) => made(
            kind,
            CheckResult::Passed,
            None,
            None,
            "the server lived to the end of the trial; it did not leave within two seconds of SIGTERM, and was killed".to_owned(),
        ),
        (_, false, _) => made(
            kind,
            CheckResult::Passed,
            None,
            None,
            format!("the server lived to the end of the trial, and left when told to ({})", ending.how),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Asked;
    use crate::server::Ending;

    fn check_of(target: TargetKind, ending: &Ending) -> Check {
        let ended = LifeEnd::Ended(ending.clone(), Asked::default());
        check(target, &ended)
    }

    fn result(target: TargetKind, ending: &Ending) -> CheckResult {
        check_of(target, ending).result
    }

    #[test]
    fn a_server_that_died_fails_whoever_wrote_it() {
        let ending = Ending {
            died_early: true,
            tail: vec!["out of memory".to_owned()],
            ..Ending::in_order_for_tests()
        };
        for target in [TargetKind::BuiltIn, TargetKind::Command] {
            let check = check_of(target, &ending);
            assert_eq!(check.result, CheckResult::Failed);
            assert!(check.detail.contains("out of memory"), "{}", check.detail);
        }
    }

    #[test]
    fn leaving_in_order_is_asked_of_built_in_servers_only() {
        let in_order = Ending::in_order_for_tests();
        let killed = Ending {
            was_killed: true,
            succeeded: false,
            ..Ending::in_order_for_tests()
        };
        let by_signal = Ending {
            succeeded: false,
            ..Ending::in_order_for_tests()
        };
        assert_eq!(result(TargetKind::BuiltIn, &in_order), CheckResult::Passed);
        assert_eq!(result(TargetKind::BuiltIn, &killed), CheckResult::Failed);
        assert_eq!(result(TargetKind::BuiltIn, &by_signal), CheckResult::Failed);
        assert_eq!(result(TargetKind::Command, &killed), CheckResult::Passed);
        assert_eq!(result(TargetKind::Command, &by_signal), CheckResult::Passed);
        assert_eq!(
            check(TargetKind::Running, &LifeEnd::NotOurs).result,
            CheckResult::NotApplicable
        );
        assert_eq!(
            check(TargetKind::BuiltIn, &LifeEnd::LivesOn).result,
            CheckResult::Passed
        );
    }
}
