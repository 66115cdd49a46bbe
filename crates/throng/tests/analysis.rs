//! What docs/analysis.md says of other tools: its code runs as it stands there, and comes to what throng itself says.

mod support;

use std::path::Path;
use std::process::Command;

use support::{Bench, column};

const PAGE: &str = include_str!("../../../docs/analysis.md");

/// The first block of code in a language.
fn block(language: &str) -> &'static str {
    let fence = format!("```{language}\n");
    let after = PAGE.split_once(&fence).expect("a block").1;
    after.split_once("```").expect("its end").0
}

/// A run of two servers, and its tidy table as the page calls it.
fn measured() -> (Bench, String) {
    let bench = Bench::new();
    let asked = "echo poll epoll-edge --connections 4 --repeats 6 --messages 2003 --warmup 0";
    let words: Vec<&str> = asked.split(' ').collect();
    let outcome = bench.throng(&words);
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    let outcome = bench.throng(&["report", "--format", "csv-tidy", "--output", "run.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let table = std::fs::read_to_string(bench.path().join("run.csv")).expect("written");
    (bench, table)
}

fn said_by(program: &str, script: &Path, bench: &Bench) -> String {
    let output = Command::new(program)
        .arg(script)
        .current_dir(bench.path())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// The median of each target's rate, as throng's own table of trials has it.
fn medians(table: &str) -> Vec<f64> {
    let rows = column(table, "figure").into_iter();
    let rows = rows
        .zip(column(table, "target"))
        .zip(column(table, "value"));
    let rates: Vec<(String, f64)> = rows
        .filter(|((figure, _), _)| figure == "messages_per_second")
        .map(|((_, target), value)| (target, value.parse().expect("a number")))
        .collect();
    ["poll", "epoll-edge"]
        .map(|name| {
            let of_target = rates.iter().filter(|(target, _)| target == name);
            let mut values: Vec<f64> = of_target.map(|(_, value)| *value).collect();
            assert_eq!(values.len(), 6);
            values.sort_by(f64::total_cmp);
            f64::midpoint(values[2], values[3])
        })
        .to_vec()
}

/// Every median is among the numbers that were printed.
fn assert_told(printed: &str, medians: &[f64]) {
    let words = printed.split_whitespace();
    let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    for median in medians {
        let is_it = |number: &&f64| (*number / median - 1.0).abs() < 1e-4;
        assert!(
            numbers.iter().any(|number| is_it(&number)),
            "{median}: {printed}"
        );
    }
}

#[test]
fn pandas_reads_a_run_as_the_page_says() {
    let (bench, table) = measured();
    let script = bench.write("run.py", block("python"));
    assert_told(
        &said_by("/usr/bin/python3", &script, &bench),
        &medians(&table),
    );
}

#[test]
fn r_reads_a_run_as_the_page_says() {
    let (bench, table) = measured();
    let script = bench.write("run.r", block("r"));
    assert_told(&said_by("Rscript", &script, &bench), &medians(&table));
}

#[test]
fn percentiles_are_written_into_a_folder_a_file_for_each_row() {
    let (bench, _) = measured();
    let refused = bench.throng(&["report", "--format", "hgrm"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("--output FOLDER"),
        "{}",
        refused.stderr
    );
    let outcome = bench.throng(&["report", "--format", "hgrm", "--output", "percentiles"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for target in ["poll", "epoll-edge"] {
        let name = format!("percentiles/{target}-4_connections-latency.hgrm");
        let text = std::fs::read_to_string(bench.path().join(&name)).expect("written");
        // All messages of six repeats.
        let told = text.lines().find(|line| line.starts_with("#[Max"));
        let count = told.and_then(|line| line.split('=').next_back());
        let count = count.map(|text| text.trim().trim_end_matches(']'));
        assert_eq!(count, Some("12018"), "{text}");
    }
}
