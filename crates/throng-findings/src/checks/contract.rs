//! A catalogued server that broke the contract when it was last checked gives figures that are not comparable.
//!
//! Servers of throng's own are held to it by throng's tests, and others have promised nothing.

use throng_record::{CatalogueRecord, Check, CheckKind, CheckResult};

use super::{Kind, made, not_applicable};

pub(super) const KIND: Kind = Kind {
    name: "contract",
    title: "contract",
    heading: "The contract",
    is_the_servers_fault: true,
};

pub(super) fn check(server: Option<&CatalogueRecord>) -> Check {
    let kind = CheckKind::Contract;
    let Some(server) = server else {
        return not_applicable(kind, "only servers of the catalogue are checked against it");
    };
    let name = server.name();
    let Some(standing) = &server.contract else {
        let why =
            format!("not checked since it last changed; throng servers check {name} checks it");
        return not_applicable(kind, why);
    };
    let broken = standing.broken.len() as f64;
    if standing.broken.is_empty() {
        let detail = "it broke no clause when it was last checked".to_owned();
        return made(kind, CheckResult::Passed, broken, 0.0, detail);
    }
    let detail = format!(
        "when it was last checked it broke the contract of the catalogue, so that its figures do not stand beside others': {}; throng servers check {name} says what was seen, and it counts again once it is mended",
        standing.broken.join(", ")
    );
    made(kind, CheckResult::Failed, broken, 0.0, detail)
}

#[cfg(test)]
mod tests {
    use throng_record::ContractStanding;

    use super::*;

    fn server(broken: Option<&[&str]>) -> CatalogueRecord {
        let standing = |clauses: &[&str]| ContractStanding {
            broken: clauses.iter().map(|&clause| clause.to_owned()).collect(),
        };
        CatalogueRecord {
            language: "rust".to_owned(),
            server: "mine".to_owned(),
            title: None,
            model: None,
            runtime: None,
            runtime_version: None,
            options: std::collections::BTreeMap::new(),
            ignores_backlog: false,
            contract: broken.map(standing),
        }
    }

    #[test]
    fn only_a_catalogued_server_that_was_found_to_break_it_fails() {
        let result = |broken| check(Some(&server(broken))).result;
        assert_eq!(check(None).result, CheckResult::NotApplicable);
        assert_eq!(result(None), CheckResult::NotApplicable);
        assert_eq!(result(Some(&[])), CheckResult::Passed);
        assert_eq!(result(Some(&["half-close (echo)"])), CheckResult::Failed);
    }

    #[test]
    fn every_clause_is_named_and_what_to_type() {
        let check = check(Some(&server(Some(&["half-close (echo)", "reset (http)"]))));
        assert_eq!(check.measured, Some(2.0));
        for said in [
            "half-close (echo), reset (http)",
            "throng servers check rust/mine",
        ] {
            assert!(check.detail.contains(said), "{}", check.detail);
        }
    }
}
