//! Help and version, as printed.

mod support;

use support::Bench;

fn help(command: &str) -> String {
    let words = command.split_whitespace();
    let arguments: Vec<&str> = words.chain(["--help"]).collect();
    let outcome = Bench::new().throng(&arguments);
    assert_eq!(outcome.code, Some(0));
    assert_eq!(outcome.stderr, "");
    outcome.assert_plain();
    outcome.stdout
}

#[test]
fn the_help_of_throng() {
    insta::assert_snapshot!("throng", help(""));
}

#[test]
fn the_help_of_every_command() {
    for command in [
        "run",
        "echo",
        "backlog",
        "accept",
        "fanout",
        "hold",
        "churn",
        "serve",
        "servers",
        "doctor",
        "report",
        "runs",
        "explain",
        "completions",
        "man",
        "load",
        "generate",
    ] {
        insta::assert_snapshot!(command, help(command));
    }
}

#[test]
fn the_help_of_a_command_of_a_command() {
    insta::assert_snapshot!("servers_check", help("servers check"));
}

#[test]
fn the_version() {
    let outcome = Bench::new().throng(&["--version"]);
    assert_eq!(
        outcome.stdout,
        concat!("throng ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn without_a_command_the_help_is_shown_and_the_exit_code_says_usage() {
    let outcome = Bench::new().throng(&[]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    assert!(outcome.stderr.contains("throng run"), "{}", outcome.stderr);
}
