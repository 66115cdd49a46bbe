//! A stored run: it is what its schema says, and every report of it can be made again.

mod support;

use std::fs;

use support::Bench;

const RUN: [&str; 13] = [
    "echo",
    "poll",
    "epoll-edge",
    "--connections",
    "2,5",
    "--repeats",
    "2",
    "--messages",
    "1009",
    "--warmup",
    "100 messages",
    "--size",
    "100",
];

fn measured(flags: &[&str]) -> (Bench, String) {
    let bench = Bench::new();
    let outcome = bench.throng(&[RUN.as_slice(), flags].concat());
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    outcome.assert_plain();
    (bench, outcome.stdout)
}

#[test]
fn every_report_is_made_again_as_it_was() {
    for format in ["terminal", "markdown", "csv", "json"] {
        let (bench, first) = measured(&["--format", format]);
        assert!(first.contains("epoll-edge"), "{first}");
        let run = bench.runs().pop().expect("a run");
        for named in [
            run.to_str(),
            run.parent().and_then(|folder| folder.to_str()),
            Some("latest"),
        ] {
            let outcome = bench.throng(&["report", named.expect("text"), "--format", format]);
            assert_eq!(
                (outcome.code, outcome.stderr.as_str()),
                (Some(0), ""),
                "{format}"
            );
            assert_eq!(outcome.stdout, first, "{format}");
        }
    }
}

#[test]
fn a_report_goes_to_a_file_where_asked() {
    let (bench, printed) = measured(&["--format", "csv", "--output", "run.csv"]);
    assert_eq!(printed, "");
    let written = fs::read_to_string(bench.path().join("run.csv")).expect("written");
    assert_eq!(
        written.lines().count(),
        1 + 8,
        "a line for each trial under a header"
    );
    let again = bench.throng(&["report", "--format", "csv"]);
    assert_eq!(again.stdout, written);
}

#[test]
fn the_json_report_is_json() {
    let (_, text) = measured(&["--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["groups"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_stored_run_is_what_the_schema_says() {
    let (bench, _) = measured(&[]);
    let schema = bench.throng(&["report", "--schema"]);
    let schema: serde_json::Value = serde_json::from_str(&schema.stdout).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let text = fs::read_to_string(bench.runs().pop().expect("a run")).expect("readable");
    let mut record: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let errors: Vec<String> = validator
        .iter_errors(&record)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    let exchange = &mut record["trials"][0]["phases"][1];
    assert_eq!(exchange["phase"], "exchange");
    exchange["measured"]["latency"]["p50_ns"] = "fast".into();
    assert!(
        !validator.is_valid(&record),
        "a schema that lets everything through"
    );
}

#[test]
fn a_record_of_another_version_is_refused_by_name() {
    let bench = Bench::new();
    bench.write(
        "run.json",
        r#"{"schema_version": 99, "throng_version": "9.9.9"}"#,
    );
    let outcome = bench.throng(&["report", "run.json"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("9.9.9"), "{}", outcome.stderr);
}

#[test]
fn latest_is_the_run_written_last() {
    let (bench, first) = measured(&["--format", "csv"]);
    let outcome = bench.throng(&[RUN.as_slice(), &["--format", "csv", "--seed", "7"]].concat());
    assert_ne!(outcome.stdout, first);
    assert_eq!(bench.runs().len(), 2);
    let again = bench.throng(&["report", "latest", "--format", "csv"]);
    assert_eq!(again.stdout, outcome.stdout);
}
