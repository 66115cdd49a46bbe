//! `throng servers`: the list of models.

mod support;

use support::Bench;
use throng_servers::Model;

#[test]
fn every_model_is_listed_with_family_bound_and_one_line() {
    let outcome = Bench::new().throng(&["servers"]);
    assert_eq!(outcome.code, Some(0));
    assert_eq!(outcome.stderr, "");
    outcome.assert_plain();
    for model in Model::ALL {
        let line = outcome
            .stdout
            .lines()
            .find(|line| line.split_whitespace().next() == Some(model.name()))
            .unwrap_or_else(|| panic!("{model} is listed"));
        for part in [
            model.family().name(),
            &model.serves_at_once(),
            if model.broadcasts() {
                "  yes  "
            } else {
                "  no  "
            },
            model.summary(),
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
    insta::assert_snapshot!("servers", outcome.stdout);
}

#[test]
fn programs_can_read_the_list() {
    let outcome = Bench::new().throng(&["servers", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let list = list.as_array().expect("a list");
    assert_eq!(list.len(), Model::ALL.len());
    assert_eq!(list[0]["model"], "iterative");
    assert_eq!(list[0]["workers"], 1);
    for (model, entry) in Model::ALL.into_iter().zip(list) {
        assert_eq!(entry["model"], model.name());
        assert_eq!(entry["broadcasts"], model.broadcasts(), "{model}");
    }
}
