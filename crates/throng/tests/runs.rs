//! Stored runs are listed, labelled, found by label, and removed.

mod support;

use support::Bench;

/// Makes so many runs.
fn bench_with(runs: usize) -> Bench {
    let bench = Bench::new();
    for _ in 0..runs {
        let arguments = ["echo", "poll", "--connections", "1", "--messages", "11"];
        let outcome = bench.throng(&[&arguments[..], &["--repeats", "1"]].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    bench
}

/// The first word of each line of the list, its heading and rule left out.
fn names(bench: &Bench) -> Vec<String> {
    let outcome = bench.throng(&["runs"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let lines = outcome.stdout.lines().skip(2);
    let words = lines.filter_map(|line| line.split_whitespace().next());
    words.map(str::to_owned).collect()
}

#[test]
fn a_labelled_run_is_found_by_its_label_and_outlives_the_others() {
    let bench = bench_with(3);
    let made = names(&bench);
    assert_eq!(made.len(), 3);
    let oldest = &made[2];
    let labelled = bench.throng(&["runs", "label", oldest, "before the fix"]);
    assert_eq!(labelled.code, Some(0), "{}", labelled.stderr);
    assert!(bench.throng(&["runs"]).stdout.contains("before the fix"));
    let report = bench.throng(&["report", "before the fix"]);
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    assert_eq!(report.stdout, bench.throng(&["report", oldest]).stdout);

    let taken = bench.throng(&["runs", "label", "latest", "before the fix"]);
    assert_eq!(taken.code, Some(2));
    assert!(taken.stderr.contains("already"), "{}", taken.stderr);

    let shown = bench.throng(&["runs", "prune", "--keep", "1", "--dry-run"]);
    assert!(shown.stdout.contains(&made[1]), "{}", shown.stdout);
    assert_eq!(names(&bench), made);
    let pruned = bench.throng(&["runs", "prune", "--keep", "1"]);
    assert_eq!(pruned.stdout, shown.stdout);
    assert_eq!(names(&bench), [made[0].clone(), oldest.clone()]);
    bench.throng(&["runs", "label", "before the fix", ""]);
    bench.throng(&["runs", "prune", "--keep", "0"]);
    assert!(names(&bench).is_empty());
}

#[test]
fn what_is_no_run_is_told_and_never_removed() {
    let bench = bench_with(1);
    let runs = bench.path().join("throng-runs");
    std::fs::create_dir(runs.join("mine")).expect("made");
    std::fs::create_dir(runs.join("broken")).expect("made");
    std::fs::write(runs.join("broken/run.json"), "{").expect("written");
    let outcome = bench.throng(&["runs"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("not readable"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains("mine"), "{}", outcome.stdout);
    let unknown = bench.throng(&["runs", "label", "nowhere", "x"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    bench.throng(&["runs", "prune", "--keep", "0"]);
    assert!(runs.join("mine").exists());
    let listed = bench.throng(&["runs", "--format", "json"]);
    assert_eq!(listed.stdout, "[]\n");
}
