use super::*;

const WHOLE: &str = r#"title = "asyncio streams"
language = "Python"
model = "tasks"
workloads = ["echo", "broadcast", "http", "oneshot"]
source = "The standard library's own idiom."
run = ["python3", "server.py"]

[runtime]
name = "CPython"
version = ["python3", "--version"]
least = "3.11"
install = "apt-get install python3"

[build]
command = ["g++", "-o", "{build}/server", "server.cpp"]

[environment]
RUBY_MN_THREADS = "1"

[exceptions]
backlog = "net.Listen takes none."
half-close = "It closes both directions."

[options]
poll = ["all", "single"]
max-conns = "N"
"#;

#[test]
fn every_key_of_the_contract_is_read() {
    let manifest = Manifest::parse(WHOLE, "server.toml").expect("whole");
    assert_eq!(manifest.model, DeclaredModel::Tasks);
    assert!(manifest.serves("http") && !manifest.serves("framed"));
    assert_eq!(manifest.environment["RUBY_MN_THREADS"], "1");
    assert_eq!(
        manifest.exceptions[&ContractException::Backlog],
        "net.Listen takes none."
    );
    assert_eq!(manifest.exceptions.len(), 2);
    let (poll, most) = (&manifest.options["poll"], &manifest.options["max-conns"]);
    assert_eq!(
        (poll.in_words(), most.in_words()),
        ("all|single".to_owned(), "N".to_owned())
    );
    assert!(poll.take("single") && !poll.take("both"));
    assert!(most.take("7") && !most.take("0") && !most.take("many"));
    assert_eq!(manifest.runtime.least.to_string(), "3.11");
    assert_eq!(manifest.build.expect("there").command[0], "g++");
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_the_right_word() {
    for (right, wrong, line, parts) in [
        ("title =", "titel =", 1, &["`titel`", "`title`"][..]),
        ("\"tasks\"", "\"task\"", 3, &["`task`", "`tasks`"]),
        ("\"tasks\"", "\"magic\"", 3, &["`magic`", "event-loop,"]),
        ("\"http\"", "\"htpp\"", 4, &["`htpp`", "`http`"]),
        ("half-close", "halfclose", 22, &["`half-close`"]),
        ("least = \"3.11\"", "least = \"new\"", 11, &["no version"]),
        ("least = \"3.11\"", "least = 3.11", 11, &["string"]),
        ("install =", "instal =", 12, &["`install`"]),
        ("[environment]", "[enviroment]", 17, &["`environment`"]),
        ("\"asyncio streams\"", "\"\"", 1, &["empty"]),
        ("[\"python3\", \"server.py\"]", "[]", 6, &["empty"]),
        ("\"net.Listen takes none.\"", "\" \"", 21, &["no reason"]),
        ("model = \"tasks\"\n", "", 1, &["`model` is missing"]),
        (
            "[build]\ncommand = [\"g++\", \"-o\", \"{build}/server\", \"server.cpp\"]",
            "",
            6,
            &["{build}", "[build]"],
        ),
    ] {
        let text = WHOLE
            .replace("server.py", "{build}/x")
            .replace(right, wrong);
        let text = if right.contains("server.py") {
            WHOLE.replace(right, wrong)
        } else {
            text
        };
        let error = Manifest::parse(&text, "a/b/server.toml").expect_err(wrong);
        let told = error.in_one_line();
        assert!(told.starts_with("a/b/server.toml, line "), "{told}");
        for part in parts {
            assert!(told.contains(part), "{part} in {told}");
        }
        assert_eq!(error.line, line, "{told}");
    }
}
