//! Against servers that are made for the test: a directory each, with a shell script in it at most.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::AtomicBool;

use throng_record::ContractStanding;

use super::*;

mod bench;

use bench::Bench;

impl Bench {
    fn prepare(&self, name: &str) -> Result<(Recipe, u32), Unprepared> {
        let catalogue = self.catalogue();
        let server = catalogue.server(name).expect(name);
        let mut builds = 0;
        let recipe = server.prepare(
            &self.cache(),
            &Versions::default(),
            &AtomicBool::new(false),
            &mut || builds += 1,
        );
        recipe.map(|recipe| (recipe, builds))
    }
}

#[test]
fn each_directory_with_a_declaration_is_a_server_and_a_broken_one_stops_no_other() {
    let bench = Bench::new();
    bench.server("b/one", "");
    bench.server("a/two", "nonsense = 1");
    bench.write("a/helper", "notes.txt", "no server");
    bench.write("a/.hidden", MANIFEST, "");
    bench.write("", "CONTRACT.md", "");
    let catalogue = bench.catalogue();
    let names: Vec<String> = catalogue.servers.iter().map(Server::full_name).collect();
    assert_eq!(names, ["a/two", "b/one"]);
    let error = catalogue.servers[0].manifest.as_ref().expect_err("broken");
    assert_eq!(error.origin, "a/two/server.toml");
    assert!(error.problem.contains("`nonsense`"), "{error}");
    assert!(catalogue.servers[1].manifest.is_ok());
    assert!(catalogue.is_group("a") && catalogue.is_group(ALL) && !catalogue.is_group("b/one"));
    assert_eq!(catalogue.meant_by(ALL).len(), 2);
}

#[test]
fn a_runtime_is_present_too_old_or_missing_with_the_way_to_have_it() {
    let bench = Bench::new();
    for (name, version, expected) in [
        ("l/fine", "echo Thing 2.5.1", None),
        ("l/stderr", "echo Thing 3 >&2", None),
        (
            "l/old",
            "echo Thing 2.4.9",
            Some("Thing 2.4.9 is too old, 2.5 is the least; to install it: apt-get install thing"),
        ),
        (
            "l/broken",
            "echo no module of that name; exit 1",
            Some("says: no module of that name); to install it"),
        ),
        (
            "l/silent",
            "true",
            Some("printed no version); to install it"),
        ),
    ] {
        bench.declare(name, &["echo"], version, "");
        match (bench.prepare(name), expected) {
            (Ok((recipe, 0)), None) => assert!(!recipe.runtime_version.is_empty()),
            (Err(Unprepared::Missing(why)), Some(part)) => assert!(why.contains(part), "{why}"),
            (other, _) => panic!("{name}: {other:?}"),
        }
    }
    let text = "title = 'T'\nlanguage = 'L'\nmodel = 'tasks'\nworkloads = ['echo']\nsource = 'S.'\nrun = ['no-such-program']\n[runtime]\nname = 'N'\nversion = ['sh', '-c', 'echo 1']\nleast = '1'\ninstall = 'I'";
    bench.write("l/gone", MANIFEST, text);
    let Err(Unprepared::Missing(why)) = bench.prepare("l/gone") else {
        panic!("it is not there")
    };
    assert_eq!(
        why,
        "N is missing (there is no program `no-such-program`); to install it: I"
    );
}

#[test]
fn a_program_in_the_servers_own_directory_has_to_be_there() {
    let bench = Bench::new();
    let declare = |run: &str, more: &str| {
        let text = format!(
            "title = 'T'\nlanguage = 'L'\nmodel = 'tasks'\nworkloads = ['echo']\nsource = 'S.'\nrun = ['{run}']\n\
             [runtime]\nname = 'N'\nversion = ['sh', '-c', 'echo 1']\nleast = '1'\ninstall = 'I'\n{more}"
        );
        bench.write("l/own", MANIFEST, &text);
        let catalogue = bench.catalogue();
        let manifest = &catalogue.server("l/own").expect("there").manifest;
        manifest.as_ref().err().map(FileError::in_one_line)
    };
    let remedy = "in the server's directory; correct the path, or add the file";
    assert_eq!(
        declare("./serve.sh", ""),
        Some(format!(
            "l/own/server.toml, line 6: there is no file `./serve.sh` {remedy}"
        ))
    );
    let build = "[build]\ncommand = ['../make.sh']";
    assert_eq!(
        declare("{build}/server", build),
        Some(format!(
            "l/own/server.toml, line 13: there is no file `../make.sh` {remedy}"
        ))
    );
    bench.write("l/own", "serve.sh", "true");
    assert_eq!(declare("./serve.sh", ""), None);
}

#[test]
fn a_program_that_several_servers_need_is_asked_for_its_version_once() {
    let bench = Bench::new();
    let asked = bench.cache().root().join("asked");
    fs::create_dir_all(bench.cache().root()).expect("made");
    let version = format!("echo x >> {}; echo 2.5", asked.display());
    for name in ["l/one", "l/two", "l/three"] {
        bench.declare(name, &["echo"], &version, "");
    }
    let versions = Versions::default();
    let catalogue = bench.catalogue();
    for server in &catalogue.servers {
        let found = server.runtime(&bench.cache(), &versions, &AtomicBool::new(false));
        assert!(
            matches!(found, Some(RuntimeFound::Present { .. })),
            "{found:?}"
        );
    }
    assert_eq!(catalogue.servers.len(), 3);
    assert_eq!(fs::read_to_string(asked).expect("it was asked"), "x\n");
}

#[test]
fn throngs_own_runtimes_come_before_those_of_the_path() {
    let bench = Bench::new();
    let runtimes = bench.cache().runtimes();
    fs::create_dir_all(&runtimes).expect("made");
    // A link, since a program that a test has written itself may still count as open for writing.
    std::os::unix::fs::symlink("/bin/true", runtimes.join("sh")).expect("linked");
    let directory = Path::new("/");
    assert_eq!(
        program::find("sh", directory, &runtimes),
        Some(runtimes.join("sh"))
    );
    let elsewhere = program::find("sh", directory, Path::new("/nowhere")).expect("in PATH");
    assert!(elsewhere.is_absolute());
    fs::write(bench.directory("plain"), "").expect("written");
    let mode = fs::metadata(bench.directory("plain")).expect("there");
    assert_eq!(mode.permissions().mode() & 0o111, 0);
    assert_eq!(
        program::find("./plain", &bench.directory(""), &runtimes),
        None
    );
}

#[test]
fn a_server_is_built_when_something_of_it_has_changed_and_not_otherwise() {
    let bench = Bench::new();
    let build = "[build]\ncommand = ['sh', '-c', 'cat source.c > {build}/made']";
    let run = |recipe: &Recipe| recipe.command().output().expect("runs").stdout;
    bench.server("l/made", build);
    bench.write("l/made", "source.c", "one");
    let text = fs::read_to_string(bench.directory("l/made/server.toml")).expect("there");
    let text = text.replace(
        "['sh', 'server.sh']",
        "['sh', '-c', 'cat \"$0\"', '{build}/made']",
    );
    bench.write("l/made", MANIFEST, &text);
    let (recipe, builds) = bench.prepare("l/made").expect("built");
    assert_eq!((builds, run(&recipe)), (1, b"one".to_vec()));
    let (_, builds) = bench.prepare("l/made").expect("there");
    assert_eq!(builds, 0);
    bench.write("l/made", "source.c", "two");
    let (recipe, builds) = bench.prepare("l/made").expect("built anew");
    assert_eq!((builds, run(&recipe)), (1, b"two".to_vec()));
    bench.write("l/made", MANIFEST, &text.replace("2.5.1", "2.6"));
    let (_, builds) = bench.prepare("l/made").expect("with another compiler");
    assert_eq!(builds, 1);
}

#[test]
fn what_a_check_found_counts_until_the_server_changes() {
    let bench = Bench::new();
    bench.server("l/made", "");
    let standing = |version: &str| {
        let catalogue = bench.catalogue();
        let server = catalogue.server("l/made").expect("there");
        server.standing(&bench.cache(), version)
    };
    assert_eq!(standing("2.5.1"), None);
    let found = ContractStanding {
        broken: vec!["half-close (echo)".to_owned()],
    };
    let keep = || {
        let catalogue = bench.catalogue();
        let server = catalogue.server("l/made").expect("there");
        let kept = server.keep_standing(&bench.cache(), "2.5.1", found.clone());
        kept.expect("kept");
    };
    keep();
    assert_eq!(standing("2.5.1"), Some(found.clone()));
    assert_eq!(standing("2.6"), None);
    bench.write("l/made/__pycache__", "helper.pyc", "compiled");
    assert_eq!(standing("2.5.1"), Some(found.clone()));
    fs::write(bench.directory("l").join("shared.sh"), "true").expect("written");
    assert_eq!(standing("2.5.1"), None);
    keep();
    bench.write("l/made", "server.sh", "exit 1");
    assert_eq!(standing("2.5.1"), None);
}

#[test]
fn a_build_that_fails_shows_its_last_lines_and_is_tried_again() {
    let bench = Bench::new();
    let build = "[build]\ncommand = ['sh', '-c', 'echo line 7: no such type >&2; exit 3']";
    bench.server("l/bad", build);
    for _ in 0..2 {
        let Err(Unprepared::Failed(why)) = bench.prepare("l/bad") else {
            panic!("it fails")
        };
        for part in [
            "cannot build l/bad",
            "exit status: 3",
            "line 7: no such type",
        ] {
            assert!(why.contains(part), "{part} in {why}");
        }
    }
}

#[test]
fn an_interrupt_ends_a_build() {
    let bench = Bench::new();
    bench.server("l/slow", "[build]\ncommand = ['sleep', '1000']");
    let catalogue = bench.catalogue();
    let server = catalogue.server("l/slow").expect("there");
    let interrupted = AtomicBool::new(false);
    let ended = server.prepare(
        &bench.cache(),
        &Versions::default(),
        &interrupted,
        &mut || {
            interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
        },
    );
    assert_eq!(ended, Err(Unprepared::Interrupted));
}
