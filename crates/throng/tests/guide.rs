//! The guide's commands as a reader types them: each `throng` line of a shell block in a hand-written page runs to its end, with fewer connections and for a shorter time.
//!
//! Left out is what cannot run everywhere: servers that run already, other languages' runtimes, more CPUs than two. That such lines too are commands is tested where flags are
//! declared (`src/cli.rs`). Whether a line shows what its page says of it, the tests of that experiment or finding tell.

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;
use support::{Bench, MEASURING, THRONG, exit_code, signal};

const NUMBER_MAX: u64 = 8;
const TIME_MAX_MS: u64 = 300;

/// What a line has in it that is a form to fill in, or takes more than this program, Python and two CPUs.
const ELSEWHERE: &str = "…|://| unix:| 0-2:| go| cpp| mylang/| python | catalogue | --catalogue | languages | services-languages | run services | servers build | servers check ";

/// A command on a page.
struct Line {
    /// Page and line.
    place: String,
    words: Vec<String>,
}

impl Line {
    fn measures(&self) -> bool {
        MEASURING.contains(&self.words[0].as_str())
    }

    fn is_for_elsewhere(&self) -> bool {
        let line = format!(" {} ", self.words.join(" "));
        ELSEWHERE.split('|').any(|part| line.contains(part))
    }

    /// The same in little. Four clients do not overflow the shortest accept queue of these pages, and so wait for no timer of the kernel's.
    fn short(&self) -> Vec<String> {
        let is_backlog = self.words.iter().any(|word| word.starts_with("backlog"));
        let of_all = match self.measures() {
            true => "--quick --no-html --patience=0 --repeats=1",
            false => "",
        };
        let own = match self.words[0].as_str() {
            "run" if is_backlog => "--clients=4 --requests=2",
            "run" => "--connections=4",
            "backlog" => "--clients=4",
            "echo" | "churn" => "--duration=200ms",
            "serve" => "--listen=127.0.0.1:0",
            _ => "",
        };
        let mut words: Vec<String> = self.words.iter().map(|word| shortened(word)).collect();
        for flag in of_all.split_whitespace().chain(own.split_whitespace()) {
            let name = flag.split('=').next().expect("a name");
            if let Some(at) = words.iter().position(|word| word == name) {
                words.drain(at..=at + usize::from(name != flag));
            }
            words.push(flag.to_owned());
        }
        words
    }
}

/// No number and no length of time above the greatest.
fn shortened(word: &str) -> String {
    let number = |part: &str| match part.parse::<u64>() {
        Ok(number) => number.min(NUMBER_MAX).to_string(),
        Err(_) => part.to_owned(),
    };
    let (digits, unit_ms) = match word.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (word.strip_suffix('s').unwrap_or(""), 1000),
    };
    match digits.parse::<u64>() {
        Ok(time) => format!("{}ms", (time * unit_ms).min(TIME_MAX_MS)),
        Err(_) => word.split(',').map(number).collect::<Vec<_>>().join(","),
    }
}

/// The pages of a folder of the guide: the path of each in it, and its text.
fn pages(folder: &str) -> Vec<(String, String)> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries = fs::read_dir(docs.join(folder)).expect("a folder");
    let paths = entries.map(|entry| entry.expect("listed").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    let page = |path: std::path::PathBuf| {
        let name = path.strip_prefix(&docs).expect("below").display();
        (name.to_string(), fs::read_to_string(&path).expect("text"))
    };
    let mut pages: Vec<(String, String)> = paths.map(page).collect();
    pages.sort();
    pages
}

/// The commands of these pages that can run here and are of the kind wanted.
fn lines(folder: &str, is_wanted: fn(&Line) -> bool) -> Vec<Line> {
    let mut lines = Vec::new();
    for (page, text) in pages(folder) {
        let mut is_shell = false;
        for (number, line) in (1..).zip(text.lines()) {
            let command = line.trim_start_matches("$ ").strip_prefix("throng ");
            if let Some(kind) = line.strip_prefix("```") {
                is_shell = matches!(kind, "sh" | "console");
            } else if let Some(words) = command.filter(|_| is_shell) {
                let place = format!("docs/{page}:{number}");
                let words = shlex::split(words).expect("a command line");
                lines.push(Line { place, words });
            }
        }
    }
    lines.retain(|line| !line.is_for_elsewhere() && is_wanted(line));
    assert!(lines.len() > 3, "only {} lines", lines.len());
    lines
}

/// A folder with the files that the pages name: `./mine`, an echo server that takes its port or path last; `my-plan.toml`; and each program in Python that begins
/// with its own name.
fn bench() -> Bench {
    let bench = Bench::new();
    let mine = format!(
        "#!/bin/sh\nfor at; do :; done\ncase $at in /*) at=unix:$at;; *) at=127.0.0.1:$at;; esac\nexec {THRONG} serve poll --listen $at\n"
    );
    let mine = bench.write("mine", &mine);
    fs::set_permissions(mine, fs::Permissions::from_mode(0o755)).expect("set");
    for (_, text) in ["", "findings"].into_iter().flat_map(pages) {
        for block in text.split("\n```") {
            if let Some(program) = block.strip_prefix("python\n# ") {
                let name = program.split(' ').next().expect("a word");
                bench.write(name, &format!("# {program}"));
            } else if block.starts_with("toml\nname = ") {
                bench.write("my-plan.toml", &block["toml".len()..]);
            }
        }
    }
    bench
}

/// Runs them; whatever is wrong with one is told with its page and line.
#[expect(
    clippy::print_stdout,
    reason = "of a test that fails, the last line shown is the command that it failed at"
)]
fn run(bench: &Bench, lines: &[Line]) {
    for line in lines {
        let words = line.short();
        let shown = format!("{}: throng {}", line.place, words.join(" "));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        println!("{shown}");
        let before = bench.runs().len();
        let outcome = bench.throng_as_typed(&words);
        let kept = bench.runs().len() - before;
        // What is provoked may be wrong, and a condition may be met.
        let may_fail = line.measures() || words.contains(&"--fail-if");
        let is_well = outcome.code == Some(0) || may_fail && outcome.code == Some(1);
        let is_kept = kept == usize::from(line.measures());
        let Some(code) = outcome.code.filter(|_| is_well && is_kept) else {
            panic!("{shown}\n{:?}\n{}", outcome.code, outcome.stderr);
        };
        println!("    {code} after {:.1} s", outcome.took.as_secs_f64());
    }
}

#[test]
fn what_the_guide_measures_can_be_measured() {
    run(&bench(), &lines("", Line::measures));
}

#[test]
fn what_provokes_a_finding_can_be_measured() {
    run(&bench(), &lines("findings", Line::measures));
}

#[test]
fn what_the_guide_says_of_a_stored_run_can_be_said() {
    let bench = bench();
    for label in ["old", "new", "the last"] {
        let measured = bench.throng(&["echo", "epoll-edge", "tokio", "-c", "2", "--quick"]);
        assert!(matches!(measured.code, Some(0 | 1)), "{}", measured.stderr);
        bench.throng(&["runs", "label", "latest", label]);
    }
    let last = bench.runs().pop().expect("a run");
    let named = bench.path().join("throng-runs/2026-01-31T12-00-00Z-tour");
    fs::create_dir(&named).expect("made");
    fs::copy(last, named.join("run.json")).expect("copied");
    let mut lines = lines("", |line| !line.measures() && line.words[0] != "serve");
    // A label is given before it is used.
    lines.sort_by_key(|line| line.words[0] != "runs");
    run(&bench, &lines);
}

#[test]
fn servers_that_the_guide_starts_are_ready_and_end_when_told() {
    let bench = bench();
    for line in lines("", |line| line.words[0] == "serve") {
        let words = line.short();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut server = bench.start(&words);
        let output = server.stdout.take().expect("a pipe");
        let mut said = BufReader::new(output).lines().map_while(Result::ok);
        let is_ready = said.any(|line| line.starts_with("ready "));
        signal(&server, Signal::TERM);
        let code = exit_code(&mut server);
        assert!(is_ready && code == Some(0), "{}: {code:?}", line.place);
    }
}

#[test]
fn every_page_is_in_the_book() {
    let pages = ["", "findings", "results"].into_iter().flat_map(pages);
    let (summary, pages): (Vec<_>, Vec<_>) = pages.partition(|(page, _)| page == "SUMMARY.md");
    for (page, _) in pages {
        let is_listed = summary[0].1.contains(&format!("({page})"));
        assert!(is_listed, "docs/SUMMARY.md does not list {page}");
    }
}
