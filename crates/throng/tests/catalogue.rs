//! Catalogued servers as targets, from a `server.toml` to a measured row. The servers are this very program, declared in another
//! way, so that no runtime has to be there.

mod support;

use std::fs;
use std::path::Path;

use support::backlog::assert_valid_but_for_noise;
use support::{Bench, Outcome, THRONG, failed_checks};
use throng_record::{DeclaredModel, Outcome as TrialOutcome, TargetKind};

const MEASURE: [&str; 8] = [
    "--catalogue",
    "mine",
    "--connections",
    "5",
    "--messages",
    "200",
    "--repeats",
    "1",
];

/// Declares `poll`, and what else stands in the file before its tables and after them.
fn declare(bench: &Bench, name: &str, program: &str, more: &str) {
    let folder = bench.path().join("mine").join(name);
    fs::create_dir_all(&folder).expect("made");
    let text = format!(
        "title = 'poll, once more'\nlanguage = 'Rust'\nmodel = 'event-loop'\n\
         workloads = ['echo', 'broadcast', 'http', 'oneshot', 'framed']\nsource = 'The built-in model.'\n\
         run = ['{program}', 'serve', 'poll']\n[runtime]\nname = 'throng'\nversion = ['{program}', '--version']\n\
         least = '0.0.1'\ninstall = 'cargo install throng'\n{more}"
    );
    fs::write(folder.join("server.toml"), text).expect("written");
}

/// One that works, one that is broken, one whose runtime is not there, one that cannot be built.
fn bench() -> Bench {
    let bench = Bench::new();
    declare(&bench, "rust/poll", THRONG, "");
    declare(&bench, "rust/broken", THRONG, "instal = ''");
    declare(&bench, "rust/absent", "no-such-program", "");
    let build = "[build]\ncommand = ['sh', '-c', 'printf \"line %s: wrong\" 7; exit 3']";
    declare(&bench, "rust/unbuilt", THRONG, build);
    bench
}

fn echo(bench: &Bench, targets: &[&str]) -> Outcome {
    bench.throng(&[&["echo"], targets, &MEASURE].concat())
}

#[test]
fn a_catalogued_server_is_measured_beside_a_model() {
    let bench = bench();
    let outcome = echo(&bench, &["rust/poll", "poll"]);
    outcome.assert_well_but_for_noise();
    assert!(outcome.stdout.contains("rust/poll"), "{}", outcome.stdout);
    let record = bench.record();
    assert_eq!(record.trials.len(), 2);
    for trial in &record.trials {
        assert_valid_but_for_noise(trial);
        let exchange = trial.phases.exchange().expect("measured");
        assert_eq!(exchange.replies, 200);
    }
    let target = &record.plan.targets[0];
    assert_eq!((target.kind, &target.model), (TargetKind::Catalogue, &None));
    let declared = target.catalogue.as_ref().expect("catalogued");
    assert_eq!(declared.name(), "rust/poll");
    assert_eq!(declared.model, Some(DeclaredModel::EventLoop));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(declared.runtime_version.as_deref(), Some(version));
}

#[test]
fn what_is_wrong_with_one_server_is_said_once_and_the_others_are_measured() {
    let bench = bench();
    let outcome = echo(&bench, &["rust"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    for part in [
        "rust/absent is left out: throng is missing (there is no program `no-such-program`); to install it: cargo install throng",
        "rust/broken/server.toml, line 12: there is no key `instal`",
        "cannot build rust/unbuilt",
        "line 7: wrong",
    ] {
        assert_eq!(
            outcome.stderr.matches(part).count(),
            1,
            "{part} in {}",
            outcome.stderr
        );
    }
    assert!(
        outcome.stdout.contains("rust/absent: throng is missing"),
        "{}",
        outcome.stdout
    );
    let record = bench.record();
    let came = |name: &str| {
        let place = record.plan.targets.iter().position(|one| one.name == name);
        let place = place.expect(name) as u32;
        let trial = record.trials.iter().find(|trial| trial.target == place);
        trial.expect(name).outcome.clone()
    };
    assert_eq!(came("rust/poll"), TrialOutcome::Completed);
    for name in ["rust/broken", "rust/unbuilt"] {
        assert!(matches!(came(name), TrialOutcome::Failed { .. }), "{name}");
    }
    assert_eq!(record.plan.targets.len(), 3);
}

#[test]
fn a_server_that_broke_the_contract_is_not_ranked_until_it_is_mended() {
    let bench = Bench::new();
    let untrue = "[exceptions]\nhalf-close = 'It never ends.'";
    declare(&bench, "rust/poll", THRONG, untrue);
    let measure = || {
        let outcome = echo(&bench, &["rust/poll"]);
        (outcome, failed_checks(&bench.record().trials[0]))
    };
    // Nobody has looked yet.
    assert_eq!(measure().1, Vec::<String>::new());
    let check = ["servers", "check", "--catalogue", "mine", "rust/poll"];
    assert_eq!(bench.throng(&check).code, Some(1));
    let (outcome, failed) = measure();
    assert_eq!(outcome.code, Some(1));
    assert!(failed[0].starts_with("Contract: "), "{failed:?}");
    for part in ["✗ invalid: ", " is invalid (contract): "] {
        assert!(outcome.stdout.contains(part), "{}", outcome.stdout);
    }
    for part in ["half-close", "throng servers check rust/poll"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let list = bench.throng(&["servers", "--catalogue", "mine"]).stdout;
    assert!(list.contains("breaks the contract: "), "{list}");
    assert!(list.contains("half-close-empty (echo)"), "{list}");
    declare(&bench, "rust/poll", THRONG, "");
    assert_eq!(measure().1, Vec::<String>::new());
}

#[test]
fn a_run_of_nothing_that_can_run_here_fails_with_what_is_missing() {
    let bench = bench();
    let outcome = echo(&bench, &["rust/absent"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    for part in [
        "to install it: cargo install throng",
        "error: no server that was asked for",
    ] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    assert!(bench.runs().is_empty());
}

#[test]
fn what_cannot_be_done_as_written_is_refused() {
    let bench = bench();
    declare(
        &bench,
        "rust/less",
        THRONG,
        "[exceptions]\nbacklog = 'It takes none.'\nunix = 'No paths.'",
    );
    for (arguments, parts) in [
        (
            &["echo", "rust/pol"][..],
            &["no server `rust/pol`", "did you mean `rust/poll`?"][..],
        ),
        (
            &["echo", "ruts"],
            &["no model `ruts`", "did you mean `rust`?"],
        ),
        (
            &["echo", "rust/less", "--family", "unix"],
            &["serves no Unix sockets: No paths."],
        ),
        (
            &["backlog", "rust/less"],
            &["accept queue", "It takes none."],
        ),
        (
            &["echo", "rust/poll", "--workers", "2"],
            &["no choice of workers"],
        ),
        (
            &["servers", "build", "rust/pol"],
            &["did you mean `rust/poll`?"],
        ),
    ] {
        let outcome = bench.throng(&[arguments, &["--catalogue", "mine"]].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        for part in parts {
            assert!(
                outcome.stderr.contains(part),
                "{part} in {}",
                outcome.stderr
            );
        }
    }
    let outcome = bench.throng(&["servers", "--catalogue", "nowhere"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("nowhere is no catalogue"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_list_says_what_can_run_here_and_how_to_have_the_others() {
    let bench = bench();
    let outcome = bench.throng(&["servers", "--catalogue", "mine"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    outcome.assert_plain();
    let line = |name: &str| {
        let mut lines = outcome.stdout.lines();
        lines.find(|line| line.starts_with(name)).expect(name)
    };
    let version = concat!("throng ", env!("CARGO_PKG_VERSION"));
    assert!(line("rust/poll ").ends_with(version), "{}", outcome.stdout);
    assert!(line("rust/poll ").contains("event-loop  echo broadcast http oneshot framed"));
    assert!(line("rust/absent").ends_with("to install it: cargo install throng"));
    assert!(line("rust/broken").contains("there is no key `instal`"));

    let outcome = bench.throng(&["servers", "--format", "json", "--catalogue", "mine"]);
    let list: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let find = |name: &str| {
        let mut entries = list["catalogue"].as_array().expect("a list").iter();
        entries.find(|one| one["name"] == name).expect(name).clone()
    };
    assert_eq!(find("rust/poll")["model"], "event-loop");
    assert_eq!(
        find("rust/poll")["runtime_version"],
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(find("rust/poll")["missing"], serde_json::Value::Null);
    assert_eq!(
        find("rust/absent")["runtime_version"],
        serde_json::Value::Null
    );
    assert!(find("rust/broken")["error"].is_string());
}

#[test]
fn servers_are_built_before_a_run_needs_them() {
    let bench = bench();
    let build = "[build]\ncommand = ['sh', '-c', 'echo made > {build}/made']";
    declare(&bench, "sh/made", THRONG, build);
    let of = |names: &[&str]| {
        bench.throng(&[&["servers", "build", "--catalogue", "mine"], names].concat())
    };
    let outcome = of(&["sh"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stdout.starts_with("sh/made: built in "),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("building sh/made"),
        "{}",
        outcome.stderr
    );
    let made = bench.path().join("cache/throng/build/sh-made/made");
    assert_eq!(fs::read_to_string(made).expect("made"), "made\n");
    let again = of(&["sh/made"]);
    assert_eq!(
        (again.stdout.as_str(), again.stderr.as_str()),
        ("sh/made: up to date\n", "")
    );

    let all = of(&[]);
    assert_eq!(all.code, Some(1), "one cannot be built");
    for part in [
        "rust/absent: left out: ",
        "rust/broken: failed",
        "rust/poll: nothing to build",
        "rust/unbuilt: failed",
    ] {
        assert!(all.stdout.contains(part), "{part} in {}", all.stdout);
    }
    assert!(all.stderr.contains("line 7: wrong"), "{}", all.stderr);
    assert_eq!(of(&["rust/absent"]).code, Some(1), "it was named");
    declare(&bench, "other/absent", "no-such-program", "");
    assert_eq!(of(&["other"]).code, Some(0), "it is only missing");
}

/// What `throng servers check` with these words says to programs.
fn check(bench: &Bench, words: &[&str]) -> (Option<i32>, serde_json::Value) {
    let flags = ["--catalogue", "mine", "--format", "json"];
    let outcome = bench.throng(&[&["servers", "check"], words, &flags].concat());
    let checked = serde_json::from_str(&outcome.stdout);
    (outcome.code, checked.expect(&outcome.stderr))
}

fn names(of: &serde_json::Value) -> Vec<&str> {
    let servers = of.as_array().expect("a list").iter();
    servers
        .map(|one| one["name"].as_str().expect("a name"))
        .collect()
}

/// The clauses that speak against the only server that was checked.
fn broken(checked: &serde_json::Value) -> Vec<&str> {
    let clauses = checked["reports"][0]["clauses"].as_array().expect("a list");
    let is_against = |clause: &&serde_json::Value| {
        let result = &clause["result"];
        result == "failed" || result == "declared_but_holds"
    };
    let against = clauses.iter().filter(is_against);
    against
        .map(|clause| clause["name"].as_str().expect("a name"))
        .collect()
}

/// Built-in models listen where they are not told to, for whoever types the command; no other server may.
#[test]
fn a_catalogued_server_is_held_to_the_contract_and_to_what_it_declares() {
    let bench = bench();
    let humble = "[exceptions]\nunix = 'It serves paths all the same.'";
    declare(&bench, "rust/humble", THRONG, humble);
    let (code, checked) = check(&bench, &["rust/poll"]);
    assert_eq!(checked["reports"][0]["server"], "rust/poll");
    assert_eq!((code, broken(&checked)), (Some(1), vec!["no-listener"]));
    let (code, checked) = check(&bench, &["rust/humble"]);
    assert_eq!(
        (code, broken(&checked)),
        (Some(1), vec!["no-listener", "unix"])
    );
}

/// None of them is tried, so that nothing takes long.
#[test]
fn what_cannot_be_checked_is_told_from_what_is_broken() {
    let bench = bench();
    let (code, checked) = check(&bench, &["rust/broken", "rust/unbuilt", "rust/absent"]);
    assert_eq!(code, Some(1));
    assert_eq!(checked["reports"], serde_json::json!([]));
    assert_eq!(names(&checked["broken"]), ["rust/broken", "rust/unbuilt"]);
    assert_eq!(names(&checked["left_out"]), ["rust/absent"]);
    let why = checked["broken"][1]["why"].as_str().expect("a reason");
    assert!(why.contains("line 7: wrong"), "{why}");
    let why = checked["left_out"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("cargo install throng"), "{why}");
    let other = Bench::new();
    declare(&other, "rust/absent", "no-such-program", "");
    assert_eq!(check(&other, &["rust/absent"]).0, Some(1), "it was named");
    assert_eq!(check(&other, &["rust"]).0, Some(0), "its language was");
    assert_eq!(check(&other, &["rust", "--strict"]).0, Some(1));
    let flags = ["servers", "check", "rst", "--catalogue", "mine"];
    let outcome = other.throng(&flags);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("`rust`"), "{}", outcome.stderr);
}

/// What a server's file says to type.
fn runtimes_named() -> std::collections::BTreeSet<String> {
    let catalogue = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue");
    let languages = std::fs::read_dir(catalogue).expect("a folder").flatten();
    let servers = languages.filter_map(|language| std::fs::read_dir(language.path()).ok());
    let files = servers.flat_map(|servers| servers.flatten().map(|server| server.path()));
    let texts = files.filter_map(|server| std::fs::read_to_string(server.join("server.toml")).ok());
    let named = |text: String| {
        let (_, name) = text.split_once("catalogue/runtimes.sh ")?;
        let end = name.find([',', '"'])?;
        Some(name[..end].to_owned())
    };
    texts.filter_map(named).collect()
}

#[test]
fn the_script_that_installs_runtimes_knows_all_that_servers_name() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue/runtimes.sh");
    let list = |name: &str| {
        let mut command = std::process::Command::new(&script);
        command.args(["--list", name]).output().expect("started")
    };
    let named = runtimes_named();
    assert!(named.len() >= 4, "{named:?}");
    for name in named {
        let output = list(&name);
        assert!(output.status.success(), "{name}");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(
            text.lines()
                .any(|line| line.ends_with(&format!("  {name}"))),
            "{text}"
        );
    }
    let unknown = list("perl");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("there is no runtime 'perl'"));
}
