//! `throng doctor`: the same examination for people and for programs.

mod support;

use serde_json::Value;
use support::Bench;

#[test]
fn every_line_says_what_it_means_and_problems_say_what_to_do() {
    let outcome = Bench::new().throng(&["doctor", "--format", "json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let examination: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let sections = examination["sections"].as_array().expect("sections");
    let lines: Vec<&Value> = sections
        .iter()
        .flat_map(|section| section["lines"].as_array().expect("lines"))
        .collect();
    for line in &lines {
        for key in ["name", "found", "meaning"] {
            assert!(
                line[key].as_str().is_some_and(|text| !text.is_empty()),
                "{key}: {line}"
            );
        }
        let status = line["status"].as_str().expect("a word");
        assert!(["ok", "note", "warn"].contains(&status), "{line}");
        assert!(status != "warn" || line["improve"].is_string(), "{line}");
    }
    let names: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["name"].as_str())
        .collect();
    for name in [
        "open files",
        "descriptor tables",
        "ephemeral ports",
        "net.core.somaxconn",
        "kernel.pid_max",
        "io_uring",
        "network namespaces",
        "CPUs",
        "CPU isolation",
        "frequency scaling",
        "stolen time",
        "tcp_syncookies",
        "mitigations",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

#[test]
fn a_person_reads_it_without_colour() {
    let outcome = Bench::new().throng(&["doctor"]);
    assert_eq!(outcome.code, Some(0));
    outcome.assert_plain();
    assert!(
        outcome.stdout.contains("open files: soft"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("throng can measure here"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn too_few_descriptors_are_told_and_fail() {
    let bench = Bench::new();
    let limited = |limit: &str| {
        let output = std::process::Command::new("sh")
            .args([
                "-c",
                &format!("ulimit -n {limit}; exec {} doctor", support::THRONG),
            ])
            .current_dir(bench.path())
            .output()
            .expect("started");
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("text"),
        )
    };
    let (code, text) = limited("1000");
    assert_eq!(code, Some(0));
    assert!(
        text.contains("warn  open files: soft 1,000, hard 1,000"),
        "{text}"
    );
    assert!(text.contains("prlimit"), "{text}");
    let (code, text) = limited("40");
    assert_eq!(code, Some(1));
    assert!(text.contains("FAIL  open files"), "{text}");
}
