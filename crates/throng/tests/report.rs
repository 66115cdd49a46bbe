//! A stored run: it is what its schema says, and every report of it can be made again.

mod support;

use std::fs;

use support::{Bench, column};

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
    for format in ["terminal", "markdown", "csv", "csv-tidy", "json", "hdr-log"] {
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
fn tidy_and_wide_csv_say_the_same() {
    let (bench, wide) = measured(&["--format", "csv"]);
    let tidy = bench.throng(&["report", "--format", "csv-tidy"]).stdout;
    let [figures, values, units] = ["figure", "value", "unit"].map(|name| column(&tidy, name));
    for (figure, unit) in [
        ("messages_per_second", "per_second"),
        ("latency_ns_p99", "ns"),
    ] {
        let of_figure = figures.iter().zip(values.iter().zip(&units));
        let of_figure = of_figure.filter(|(one, _)| *one == figure);
        let (tidy, units): (Vec<&String>, Vec<&String>) = of_figure.map(|(_, told)| told).unzip();
        assert_eq!(tidy.len(), 8, "a line for each trial");
        assert_eq!(tidy, column(&wide, figure).iter().collect::<Vec<_>>());
        assert!(units.iter().all(|told| *told == unit), "{units:?}");
    }
}

#[test]
fn what_csv_calls_a_figure_can_be_explained() {
    let (bench, table) = measured(&["--format", "csv-tidy"]);
    let mut figures = column(&table, "figure");
    figures.sort_unstable();
    figures.dedup();
    assert!(figures.len() > 30, "{figures:?}");
    let page = bench.throng(&["explain", "figures"]).stdout;
    for figure in figures.iter().step_by(7) {
        let text = bench.throng(&["explain", figure]).stdout;
        assert!(text.starts_with(&format!("# {figure}\n\n")), "{text}");
    }
    assert!(page.contains("`messages_per_second`"), "{page}");
    let wrong = bench.throng(&["explain", "latency_p99"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("did you mean `latency_ns_p99`?"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn the_json_report_is_json() {
    let (_, text) = measured(&["--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // Two numbers of connections, two targets.
    assert_eq!(value["rows"].as_array().map(Vec::len), Some(4));
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
fn the_json_report_is_what_its_schema_says() {
    let bench = Bench::new();
    let read = |arguments: &[&str]| -> serde_json::Value {
        let text = bench.throng(&[&["report"], arguments].concat()).stdout;
        serde_json::from_str(&text).expect("JSON")
    };
    let schema = read(&["--schema", "--format", "json"]);
    let registry = jsonschema::Registry::new()
        .add("json-schema:///run.schema.json", read(&["--schema"]))
        .expect("a schema")
        .prepare()
        .expect("whole");
    let validator = jsonschema::options()
        .with_registry(&registry)
        .build(&schema)
        .expect("a schema");
    for command in [&["hold", "50", "epoll-edge", "--hold", "10ms"][..], &RUN] {
        let outcome = bench.throng(&[command, &["--format", "json"]].concat());
        let mut summary: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let errors: Vec<String> = validator
            .iter_errors(&summary)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new());
        summary["rows"][0]["standing"] = "best".into();
        assert!(
            !validator.is_valid(&summary),
            "a schema that lets everything through"
        );
        summary["rows"][0]["standing"] = "ranked".into();
        summary["plan"]["repeats"] = "many".into();
        assert!(
            !validator.is_valid(&summary),
            "what is of the record is checked too"
        );
    }
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
