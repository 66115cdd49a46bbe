//! Manual pages, completions, the table of keys and the schema: made from the program, and known to be stale when they are.

mod support;

use std::fs;

use support::Bench;

#[test]
fn generated_files_are_up_to_date_until_they_are_not() {
    let bench = Bench::new();
    assert_eq!(bench.throng(&["generate", "docs"]).code, Some(0));
    for name in [
        "man/throng.1",
        "man/throng-echo.1",
        "completions/throng.bash",
        "completions/_throng",
        "completions/throng.fish",
        "keys.md",
    ] {
        assert!(bench.path().join("docs").join(name).exists(), "{name}");
    }
    assert_eq!(bench.throng(&["generate", "--check", "docs"]).code, Some(0));
    fs::write(bench.path().join("docs/man/throng.1"), "old").expect("written");
    fs::remove_file(bench.path().join("docs/completions/throng.fish")).expect("removed");
    fs::write(bench.path().join("docs/keys.md"), "old").expect("written");
    let outcome = bench.throng(&["generate", "--check", "docs"]);
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome
            .stderr
            .contains("man/throng.1, completions/throng.fish, keys.md"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("hint: throng generate docs"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        fs::read_to_string(bench.path().join("docs/man/throng.1")).expect("there"),
        "old"
    );
}

#[test]
fn what_is_printed_is_what_is_generated() {
    let bench = Bench::new();
    bench.throng(&["generate", "docs"]);
    for (arguments, name) in [
        (&["man"][..], "man/throng.1"),
        (&["man", "echo"], "man/throng-echo.1"),
        (&["completions", "fish"], "completions/throng.fish"),
    ] {
        let generated =
            fs::read_to_string(bench.path().join("docs").join(name)).expect("generated");
        assert_eq!(bench.throng(arguments).stdout, generated, "{name}");
    }
}

#[test]
fn the_schema_that_is_printed_is_the_published_one() {
    let published = include_str!("../../../docs/run.schema.json");
    assert_eq!(
        Bench::new().throng(&["report", "--schema"]).stdout,
        published
    );
}

#[test]
fn hidden_commands_are_hidden_and_flags_are_documented() {
    let bench = Bench::new();
    let page = bench.throng(&["man"]).stdout;
    assert!(
        !page.contains("throng\\-load") && page.contains("130"),
        "{page}"
    );
    let page = bench.throng(&["man", "echo"]).stdout;
    assert!(
        page.contains("outstanding") && page.contains("io\\-uring"),
        "{page}"
    );
}
