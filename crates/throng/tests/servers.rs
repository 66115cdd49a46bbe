//! `throng servers`: the list of models. What it says of the catalogue is tested in catalogue.rs.

mod support;

use support::{Bench, Outcome};
use throng_servers::Model;

/// With a catalogue that is empty.
fn of_models(more: &[&str]) -> Outcome {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("empty")).expect("made");
    bench.throng(&[&["servers", "--catalogue", "empty"], more].concat())
}

#[test]
fn every_model_is_listed_with_family_bound_and_one_line() {
    let outcome = of_models(&[]);
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
            model.declaration().family.name(),
            &model.declaration().serves_at_once_in_words(),
            if model.declaration().broadcasts {
                "  yes  "
            } else {
                "  no  "
            },
            model.declaration().summary,
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
    insta::assert_snapshot!("servers", outcome.stdout);
}

#[test]
fn programs_can_read_the_list() {
    let outcome = of_models(&["--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(list["catalogue"], serde_json::json!([]));
    let list = list["built_in"].as_array().expect("a list");
    assert_eq!(list.len(), Model::ALL.len());
    assert_eq!(list[0]["model"], "iterative");
    assert_eq!(list[0]["workers"], 1);
    for (model, entry) in Model::ALL.into_iter().zip(list) {
        assert_eq!(entry["model"], model.name());
        assert_eq!(
            entry["broadcasts"],
            model.declaration().broadcasts,
            "{model}"
        );
    }
}
