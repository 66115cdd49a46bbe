//! Files that are no plans.

use throng_record::Amount;

use crate::plan::PlanDraft;
use crate::plan::value::Pings;

#[test]
fn what_is_wrong_in_a_file_is_shown_with_its_line() {
    for (text, line, parts) in [
        (
            "targets = ['poll']\nconections = 5",
            2,
            &["no key `conections`", "did you mean `connections`?"][..],
        ),
        (
            "\n\nmax_duration = '1s'",
            3,
            &["did you mean `max-duration`?"],
        ),
        ("colour = 1", 1, &["the keys are name, title", "quick"]),
        (
            "repeats = 2\n[cpus]\nserver = '0'\nserve = '1'",
            4,
            &["did you mean `server`?"],
        ),
        ("[quick]\nrepeat = 1", 2, &["did you mean `repeats`?"]),
        (
            "targets = [{ comand = 'x' }]",
            1,
            &["did you mean `command`?"],
        ),
        ("repeats = 'many'", 1, &["string \"many\"", "u32"]),
        ("seed = 1\nconnections = -3", 2, &["`-3`"]),
        (
            "seed = 1\nbacklog = -1",
            2,
            &["`-1` is below 0", "write 0 or more"],
        ),
        ("clients = [1, -2]", 1, &["`-2` is below 0"]),
        ("workload = 'htp'", 1, &["htp", "did you mean `http`?"]),
        ("connections = 'ten'", 1, &["ten"]),
        ("duration = 3", 1, &["integer `3`", "string"]),
        ("duration = 'soon'", 1, &["`soon`", "300ms"]),
        ("warmup = 'x messages'", 1, &["1000 messages"]),
        (
            "arrivals = 'poisson'",
            1,
            &["poisson", "constant", "exponential"],
        ),
        ("backend = 'iouring'", 1, &["iouring", "io-uring"]),
        ("cpus = 'all'", 1, &["SERVER:GENERATOR"]),
        ("[cpus]\nserver = '0-'", 2, &["`0-`"]),
        ("source = 'here'", 1, &["IP address"]),
        (
            "seed = 1\nconnections = []",
            2,
            &["list is empty", "leave the key out"],
        ),
        ("size = [6, 'six']", 1, &["`six` is no count", "5k"]),
        ("messages = '0.5'", 1, &["`0.5` is no whole number", "5k"]),
        ("connections = 1.5", 1, &["`1.5`", "a count, such as 5000"]),
        (
            "clients = '5000m'",
            1,
            &["`5000m` is too large", "4294967295"],
        ),
        ("duration = ['1s', 'soon']", 1, &["`soon`", "300ms"]),
        ("verify = [true, 1]", 1, &["integer `1`", "boolean"]),
        (
            "server = 'per-run'",
            1,
            &["there is no word `per-run`", "per-trial"],
        ),
        ("repeats = [1, 2]", 1, &["sequence", "u32"]),
        ("a = = 1", 1, &[]),
        ("repeats = 1\nrepeats = 2", 2, &["duplicate"]),
    ] {
        let error = PlanDraft::parse(text, "plan.toml").expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        let error = error.to_string();
        assert!(
            error.starts_with(&format!("plan.toml, line {line}: ")),
            "{error}"
        );
        for part in parts {
            assert!(error.contains(part), "{text}: `{part}` in: {error}");
        }
    }
}

#[test]
fn a_count_in_a_file_is_written_as_on_the_command_line() {
    let counts = |text: &str| {
        let draft = PlanDraft::parse(text, "plan.toml").unwrap_or_else(|error| panic!("{error}"));
        draft.connections.expect("mentioned").values().to_vec()
    };
    assert_eq!(
        counts("connections = [7, '5k', '1.5m', '10_000', '1,500']"),
        [7, 5_000, 1_500_000, 10_000, 1_500]
    );
    assert_eq!(counts("connections = '1,000'"), [1_000]);
    let text = "clients = '1k'\nmessages = '2m'\npings = '3k'\nwarmup = '4k messages'";
    let draft = PlanDraft::parse(text, "plan.toml").expect(text);
    assert_eq!(draft.clients, Some(1_000.into()));
    assert_eq!(draft.messages, Some(2_000_000.into()));
    assert_eq!(draft.pings, Some(Pings::Count(3_000).into()));
    assert_eq!(draft.warmup, Some(Amount::Messages(4_000).into()));
}

#[test]
fn the_error_of_a_file_reads_well() {
    let error =
        PlanDraft::parse("targets = ['poll']\nconections = 5\n", "my.toml").expect_err("misspelt");
    insta::assert_snapshot!(error, @r"
    my.toml, line 2: there is no key `conections`; did you mean `connections`?
      2 | conections = 5
    ");
}
