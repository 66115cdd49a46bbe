//! The server's own count against the generator's: two programs that share no event loop counted the same bytes.
//!
//! A server counts over its whole life, and tells at its end. One that serves several trials is judged at the last of them, by the
//! sum of what their generators counted.

use throng_record::{Check, CheckKind, CheckResult, TargetKind};

use super::{Kind, made, not_applicable};
use crate::asked::Asked;
use crate::server::LifeEnd;

pub(super) const KIND: Kind = Kind {
    name: "server-count",
    title: "server's own count",
    heading: "The server's own count",
    is_the_servers_fault: true,
};

pub(super) fn check(target: TargetKind, server: &LifeEnd) -> Check {
    let kind = CheckKind::ServerCount;
    if target != TargetKind::BuiltIn {
        return not_applicable(kind, "only built-in servers tell what they have served");
    }
    let (ending, asked) = match server {
        LifeEnd::Ended(ending, asked) => (ending, *asked),
        LifeEnd::LivesOn => {
            return not_applicable(
                kind,
                "the server serves the next trial too, and tells what it has served at its end: judged at its last trial",
            );
        }
        LifeEnd::NotOurs => return not_applicable(kind, "throng does not end this server"),
    };
    let Some(served) = ending.served else {
        return not_applicable(kind, "the server did not live to tell what it has served");
    };
    if asked.errors > 0 {
        return not_applicable(kind, "connections failed, so the counts need not agree");
    }
    if asked.unserved > 0 {
        return not_applicable(
            kind,
            "some connections got no reply, and may have been served while they closed",
        );
    }
    if asked.untold > 0 {
        return not_applicable(
            kind,
            "the generator of another trial of this server ended without a result, so there is no sum to compare with",
        );
    }
    if asked.uncounted > 0 {
        return not_applicable(
            kind,
            "what came back was counted in lines, in answers of various lengths or as what was within TLS, and not in bytes of the server's",
        );
    }
    let difference = served.bytes as f64 - asked.bytes as f64;
    let evidence = format!(
        "the server says that it sent {} bytes over {} connections, the generator received {} bytes over {}{}",
        served.bytes,
        served.connections,
        asked.bytes,
        asked.connections,
        over_trials(asked)
    );
    if (served.bytes, served.connections) == (asked.bytes, asked.connections) {
        made(kind, CheckResult::Passed, difference, 0.0, evidence)
    } else {
        let detail = format!(
            "{evidence}: one of the two miscounts, or somebody else used the server; if it happens again, report it with the stored run"
        );
        made(kind, CheckResult::Failed, difference, 0.0, detail)
    }
}

fn over_trials(asked: Asked) -> String {
    match asked.trials {
        0 | 1 => String::new(),
        trials => format!(" in {trials} trials"),
    }
}

#[cfg(test)]
mod tests {
    use throng_record::{ConnectPhase, ErrorKind, ExchangePhase, LoadRecord, Measured};

    use super::*;
    use crate::hand_made::Case;
    use crate::server::{Ending, Served};

    fn load() -> LoadRecord {
        let phases = [
            Measured::Connect(ConnectPhase {
                connected: 10,
                ..ConnectPhase::default()
            }),
            Measured::Exchange(ExchangePhase {
                received_bytes: 600,
                connections_served: 10,
                ..ExchangePhase::default()
            }),
        ];
        LoadRecord {
            phases: phases.into_iter().collect(),
            ..LoadRecord::default()
        }
    }

    fn exchange(load: &mut LoadRecord) -> &mut ExchangePhase {
        load.phases.exchange_mut().expect("made with one")
    }

    /// What the generators of such trials had.
    fn asked(trials: &[Option<LoadRecord>]) -> Asked {
        let job = Case::echo().trial.job;
        let mut asked = Asked::default();
        for trial in trials {
            asked.add(&job, trial.as_ref());
        }
        asked
    }

    fn ending(connections: u64, bytes: u64) -> Ending {
        Ending {
            served: Some(Served { connections, bytes }),
            ..Ending::in_order_for_tests()
        }
    }

    fn check_of(ending: &Ending, trials: &[Option<LoadRecord>]) -> Check {
        let ended = LifeEnd::Ended(ending.clone(), asked(trials));
        check(TargetKind::BuiltIn, &ended)
    }

    #[test]
    fn the_counts_must_be_equal() {
        for (connections, bytes, expected) in [
            (10, 600, CheckResult::Passed),
            (10, 601, CheckResult::Failed),
            (10, 599, CheckResult::Failed),
            (11, 600, CheckResult::Failed),
        ] {
            let result = check_of(&ending(connections, bytes), &[Some(load())]).result;
            assert_eq!(result, expected, "{connections} {bytes}");
        }
    }

    #[test]
    fn a_server_of_several_trials_is_judged_by_their_sum() {
        let trials = [Some(load()), Some(load()), Some(load())];
        let check = check_of(&ending(30, 1_800), &trials);
        assert_eq!(check.result, CheckResult::Passed);
        assert!(check.detail.contains("in 3 trials"), "{}", check.detail);
        assert_eq!(
            check_of(&ending(10, 600), &trials).result,
            CheckResult::Failed
        );
    }

    #[test]
    fn it_is_not_made_where_there_is_nothing_to_compare() {
        let mut broken = load();
        exchange(&mut broken)
            .errors
            .count(ErrorKind::Reset, || "first".to_owned());
        let mut partial = load();
        exchange(&mut partial).connections_served = 9;
        let some = ending(1, 1);
        for check in [
            check(
                TargetKind::Command,
                &LifeEnd::Ended(some.clone(), asked(&[])),
            ),
            check(TargetKind::BuiltIn, &LifeEnd::NotOurs),
            check(TargetKind::BuiltIn, &LifeEnd::LivesOn),
            check_of(&Ending::in_order_for_tests(), &[Some(load())]),
            check_of(&some, &[Some(broken), Some(load())]),
            check_of(&some, &[None, Some(load())]),
            check_of(&some, &[Some(partial), Some(load())]),
        ] {
            assert_eq!(check.result, CheckResult::NotApplicable, "{}", check.detail);
        }
    }
}
