//! The server's own count against the generator's: two programs that share no event loop counted the same bytes.

use throng_record::{Check, CheckKind, CheckResult, LoadRecord, TargetKind};

use super::{made, not_applicable};
use crate::launcher::Ending;

pub(super) fn check(target: TargetKind, load: &LoadRecord, ending: Option<&Ending>) -> Check {
    let kind = CheckKind::ServerCount;
    if target != TargetKind::BuiltIn {
        return not_applicable(kind, "only built-in servers tell what they have served");
    }
    let Some(served) = ending.and_then(|ending| ending.served) else {
        return not_applicable(kind, "the server did not live to tell what it has served");
    };
    let failed =
        load.connect.errors.total() + load.exchange.errors.total() + load.close.errors.total();
    if failed > 0 {
        return not_applicable(kind, "connections failed, so the counts need not agree");
    }
    let bytes = load.exchange.received_bytes;
    let connections = u64::from(load.connect.connected);
    let difference = served.bytes as f64 - bytes as f64;
    let evidence = format!(
        "the server says that it sent {} bytes over {} connections, the generator received {bytes} bytes over {connections}",
        served.bytes, served.connections
    );
    if (served.bytes, served.connections) == (bytes, connections) {
        made(kind, CheckResult::Passed, difference, 0.0, evidence)
    } else {
        let detail = format!(
            "{evidence}: one of the two miscounts, or somebody else used the server; if it happens again, report it with the stored run"
        );
        made(kind, CheckResult::Failed, difference, 0.0, detail)
    }
}

#[cfg(test)]
mod tests {
    use throng_record::ErrorKind;

    use super::*;
    use crate::launcher::{Ending, Served};

    fn load() -> LoadRecord {
        let mut load = LoadRecord::default();
        load.exchange.received_bytes = 600;
        load.connect.connected = 10;
        load
    }

    fn ending(connections: u64, bytes: u64) -> Ending {
        Ending {
            served: Some(Served { connections, bytes }),
            ..Ending::in_order_for_tests()
        }
    }

    #[test]
    fn the_counts_must_be_equal() {
        for (connections, bytes, expected) in [
            (10, 600, CheckResult::Passed),
            (10, 601, CheckResult::Failed),
            (10, 599, CheckResult::Failed),
            (11, 600, CheckResult::Failed),
        ] {
            let ending = ending(connections, bytes);
            let result = check(TargetKind::BuiltIn, &load(), Some(&ending)).result;
            assert_eq!(result, expected, "{connections} {bytes}");
        }
    }

    #[test]
    fn it_is_not_made_where_there_is_nothing_to_compare() {
        let silent = Ending::in_order_for_tests();
        let mut broken = load();
        broken
            .exchange
            .errors
            .count(ErrorKind::Reset, || "first".to_owned());
        for check in [
            check(TargetKind::Command, &load(), Some(&ending(1, 1))),
            check(TargetKind::BuiltIn, &load(), Some(&silent)),
            check(TargetKind::BuiltIn, &load(), None),
            check(TargetKind::BuiltIn, &broken, Some(&ending(1, 1))),
        ] {
            assert_eq!(check.result, CheckResult::NotApplicable, "{}", check.detail);
        }
    }
}
