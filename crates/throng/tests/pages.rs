//! The page with charts, in a real browser: every chart has its series, everything that can be clicked works, and nothing that comes from outside is markup.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use headless::{Browser, View};
use serde_json::Value;
use support::Bench;

/// Longer than any plan takes in its short form.
const PATIENCE: Duration = Duration::from_secs(240);

/// Scrolls to each chart, chooses each of its views, and tells what was drawn: `[{name, view, asked, drawn, points, empty}]`.
const CHARTS: &str = r##"(async () => {
    const plots = JSON.parse(document.getElementById("plots").textContent);
    const until = async (is) => { for (let i = 0; i < 500 && !is(); i++) await new Promise((done) => setTimeout(done, 10)); };
    const found = [];
    for (const place of document.querySelectorAll(".plot")) {
        const name = place.dataset.chart;
        place.scrollIntoView();
        await until(() => place.data);
        const select = place.closest("figure").querySelector("select");
        for (const [view, { data }] of plots[name].entries()) {
            if (select) {
                select.value = view;
                select.dispatchEvent(new Event("change"));
                await until(() => place.dataset.drawn === String(view));
            }
            const drawn = place.data || [];
            found.push({
                name,
                view: select ? select.selectedOptions[0].textContent : "",
                asked: data.length,
                drawn: drawn.length,
                points: drawn.reduce((sum, trace) => sum + (trace.z ? trace.z.flat() : trace.y).length, 0),
                is_seen: Boolean(place.querySelector("svg.main-svg")),
            });
        }
    }
    return found;
})()"##;

/// Where kept pictures go, for a look at them: below the build's folder.
fn artefacts() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn keep(name: &str, bytes: &[u8]) {
    fs::write(artefacts().join(name), bytes).expect("written");
}

/// The page of the last run.
fn page(bench: &Bench) -> PathBuf {
    let run = bench.runs().pop().expect("a run");
    run.with_file_name("report.html")
}

fn measured(arguments: &[&str]) -> Bench {
    let bench = Bench::new();
    let outcome = bench.throng_as_typed(&[arguments, &["--patience", "0"]].concat());
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    bench
}

fn open(page: &Path, view: View) -> Browser {
    let mut browser = Browser::start().expect("a browser");
    browser.open(page, view).expect("opened");
    browser
}

/// Every chart, in every view, has what it was asked to have; their names.
fn assert_drawn(browser: &mut Browser) -> Vec<String> {
    let charts = browser.evaluate(CHARTS).expect("told");
    let charts = charts.as_array().expect("a list").clone();
    for chart in &charts {
        assert!(chart["drawn"].as_u64() > Some(0), "{chart}");
        assert_eq!(chart["asked"], chart["drawn"], "{chart}");
        assert!(chart["points"].as_u64() > Some(0), "{chart}");
        assert_eq!(chart["is_seen"], true, "{chart}");
    }
    assert_eq!(browser.errors(), &[] as &[String]);
    let mut names: Vec<String> = charts
        .iter()
        .map(|chart| chart["name"].as_str().expect("a name").to_owned())
        .collect();
    names.dedup();
    names
}

fn echo() -> Bench {
    measured(&[
        "echo",
        "poll",
        "epoll-edge",
        "thread-per-connection",
        "--connections",
        "2,5,20",
        "--repeats",
        "2",
        "--duration",
        "300ms",
        "--warmup",
        "100ms",
    ])
}

#[test]
fn an_echo_run_has_its_charts_in_both_schemes_at_every_width() {
    let bench = echo();
    let page = page(&bench);
    let mut browser = open(&page, View::DESKTOP);
    let names = assert_drawn(&mut browser);
    assert_eq!(
        names,
        [
            "rate-along",
            "latency-along",
            "cpu-along",
            "by-target",
            "percentiles",
            "over-time"
        ]
    );
    let ground = "getComputedStyle(document.body).backgroundColor";
    let letters = "getComputedStyle(document.querySelector('.xtick text')).fill";
    let mut seen = Vec::new();
    let views = [
        ("light", View::DESKTOP),
        (
            "dark",
            View {
                is_dark: true,
                ..View::DESKTOP
            },
        ),
        ("phone", View::PHONE),
    ];
    for (name, view) in views {
        browser.look(view).expect("looked");
        let wait = "new Promise((done) => setTimeout(done, 500))";
        browser.evaluate(wait).expect("waited");
        let colours = [ground, letters].map(|script| browser.evaluate(script).expect("told"));
        seen.push(colours);
        // Nothing is wider than the window but what scrolls by itself.
        let width = browser
            .evaluate("document.documentElement.scrollWidth")
            .expect("told");
        assert!(width.as_u64() <= Some(view.width.into()), "{name}: {width}");
        let picture = browser.screenshot().expect("a picture");
        keep(&format!("echo-{name}.png"), &picture);
    }
    assert_ne!(seen[0][0], seen[1][0], "the ground");
    assert_ne!(seen[0][1], seen[1][1], "letters in charts");
    assert_eq!(seen[0], seen[2]);
    assert_eq!(browser.errors(), &[] as &[String]);
}

#[test]
fn a_page_is_printed_with_every_chart_and_every_finding() {
    let bench = echo();
    let mut browser = open(&page(&bench), View::DESKTOP);
    let pdf = browser.pdf().expect("printed");
    assert!(pdf.starts_with(b"%PDF"));
    keep("echo.pdf", &pdf);
    let drawn = "[...document.querySelectorAll('.plot')].every((place) => place.querySelector('svg.main-svg'))";
    assert_eq!(browser.evaluate(drawn).expect("told"), true);
    assert_eq!(browser.errors(), &[] as &[String]);
}

#[test]
fn two_runs_are_compared_in_the_same_charts() {
    let bench = echo();
    let again = [
        "--repeats",
        "6",
        "--duration",
        "100ms",
        "--warmup",
        "50ms",
        "--patience",
        "0",
    ];
    let asked = [
        &["echo", "poll", "epoll-edge", "--connections", "2,5"][..],
        &again,
    ]
    .concat();
    let outcome = bench.throng_as_typed(&asked);
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    let runs = bench.runs();
    let names: Vec<&str> = runs.iter().map(|run| run.to_str().expect("text")).collect();
    let compare = [
        &[
            "compare",
            names[0],
            names[1],
            "--format",
            "html",
            "--output",
            "both.html",
        ][..],
        &[
            "compare",
            names[1],
            "--target",
            "poll",
            "--target",
            "epoll-edge",
            "--format",
            "html",
            "--output",
            "targets.html",
        ],
    ];
    for (arguments, file) in compare.into_iter().zip(["both.html", "targets.html"]) {
        let outcome = bench.throng(arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let mut browser = open(&bench.path().join(file), View::DESKTOP);
        assert_eq!(
            assert_drawn(&mut browser),
            ["ratios", "values", "percentiles"],
            "{file}"
        );
        keep(
            &format!("{file}.png"),
            &browser.screenshot().expect("a picture"),
        );
        // Both are in each chart.
        let script = "JSON.stringify(JSON.parse(document.getElementById('plots').textContent).percentiles.map((view) => view.data.length))";
        let curves = browser.evaluate(script).expect("told");
        let curves: Vec<u64> =
            serde_json::from_str(curves.as_str().expect("text")).expect("a list");
        assert!(
            curves.iter().all(|&curves| curves == 2),
            "{file}: {curves:?}"
        );
    }
}

/// The middle of something, in pixels of the window.
fn middle(browser: &mut Browser, script: &str) -> (f64, f64) {
    let script = format!(
        "(() => {{ const box = ({script}).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
    );
    let place = browser.evaluate(&script).expect("there");
    let at = |index: usize| place[index].as_f64().expect("a number");
    (at(0), at(1))
}

#[test]
fn points_tell_of_themselves_and_what_is_clicked_answers() {
    let bench = echo();
    let mut browser = open(&page(&bench), View::DESKTOP);
    assert_drawn(&mut browser);
    let chart = "document.querySelector('[data-chart=rate-along]')";
    let scroll = format!("{chart}.scrollIntoView({{ block: 'center' }})");
    browser.evaluate(&scroll).expect("scrolled");

    let (x, y) = middle(
        &mut browser,
        &format!("{chart}.querySelector('.points path')"),
    );
    browser.point(x - 40.0, y - 40.0).expect("moved");
    browser.point(x, y).expect("moved");
    let hovered = format!("{chart}.querySelector('.hovertext')");
    browser.comes_true(&hovered).expect("asked");
    let said = browser.evaluate(&format!("{hovered}?.textContent"));
    let said = said.expect("told");
    assert!(
        said.as_str()
            .is_some_and(|said| said.contains("connections: ")),
        "{said}"
    );

    let shown = format!("{chart}.data.filter((trace) => trace.visible !== 'legendonly').length");
    let before = browser.evaluate(&shown).expect("told").as_u64();
    let (x, y) = middle(
        &mut browser,
        &format!("{chart}.querySelector('.legendtoggle')"),
    );
    browser.click(x, y).expect("clicked");
    // A second click within 300 ms would be another.
    let wait = "new Promise((done) => setTimeout(done, 800))";
    browser.evaluate(wait).expect("waited");
    let after = browser.evaluate(&shown).expect("told").as_u64();
    assert!(after < before, "{after:?} of {before:?}");

    let image = format!("Plotly.toImage({chart}, {{ format: 'png', width: 800, height: 400 }})");
    let image = browser.evaluate(&image).expect("an image");
    let image = image.as_str().expect("text");
    assert!(image.starts_with("data:image/png;base64,") && image.len() > 10_000);
    let image = format!("Plotly.toImage({chart}, {{ format: 'svg' }})");
    let image = browser.evaluate(&image).expect("an image");
    assert!(
        image
            .as_str()
            .is_some_and(|image| image.starts_with("data:image/svg+xml"))
    );

    let logarithmic = format!(
        "(() => {{ const box = {chart}.closest('figure').querySelector('.logarithmic input'); const before = {chart}.layout.yaxis.type; box.click(); return [before, {chart}.layout.yaxis.type]; }})()"
    );
    let types = browser.evaluate(&logarithmic).expect("told");
    assert_ne!(types[0], types[1], "{types}");
    assert_eq!(browser.errors(), &[] as &[String]);
}

#[test]
fn tables_are_sorted_by_their_numbers_and_what_has_none_stays_behind() {
    let bench = echo();
    let mut browser = open(&page(&bench), View::DESKTOP);
    let script = r#"(() => {
        const table = document.querySelector("main table");
        const heads = [...table.querySelectorAll("th")];
        const column = heads.findIndex((head) => head.textContent === "p99");
        const told = [];
        for (let click = 0; click < 2; click++) {
            heads[column].querySelector("button").click();
            told.push({
                way: heads[column].getAttribute("aria-sort"),
                numbers: [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.number)),
            });
        }
        return told;
    })()"#;
    let told = browser.evaluate(script).expect("told");
    let numbers = |index: usize| -> Vec<f64> {
        let numbers = told[index]["numbers"].as_array().expect("a list");
        numbers.iter().filter_map(Value::as_f64).collect()
    };
    assert_eq!(told[0]["way"], "ascending", "{told}");
    assert_eq!(numbers(0).len(), 3, "{told}");
    assert!(
        numbers(0).is_sorted() && numbers(0)[0] < numbers(0)[2],
        "{told}"
    );
    assert_eq!(told[1]["way"], "descending");
    assert!(numbers(1).iter().rev().is_sorted(), "{told}");
}

#[test]
fn nothing_from_outside_is_markup() {
    let bench = Bench::new();
    let hostile = "</script><img src=x onerror=window.hacked=1><b>bold</b>%{y}";
    let plan = format!(
        "title = {title:?}\nexperiment = 'echo'\ntargets = ['poll', {{ name = {hostile:?}, command = 'false {{address}}' }}]\nconnections = 2\nmessages = 100\nrepeats = 1\n",
        title = format!("{hostile} & title"),
    );
    let plan = bench.write("hostile.toml", &plan);
    let plan = plan.to_str().expect("text");
    let outcome = bench.throng_as_typed(&["run", plan, "--patience", "0"]);
    assert_eq!(
        outcome.code,
        Some(1),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    let mut browser = open(&page(&bench), View::DESKTOP);
    assert_drawn(&mut browser);
    let script = "[window.hacked === undefined, document.images.length, document.querySelectorAll('main b b, h1 b, td b, .plot b').length, document.title]";
    let told = browser.evaluate(script).expect("told");
    assert_eq!(told[0], true);
    assert_eq!((&told[1], &told[2]), (&Value::from(0), &Value::from(0)));
    assert_eq!(told[3], format!("{hostile} & title"));
}

#[test]
fn a_run_without_a_figure_says_so_and_draws_nothing() {
    let bench = Bench::new();
    let outcome = bench.throng_as_typed(&["echo", "tcp://127.0.0.1:1", "--repeats", "1"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    let mut browser = open(&page(&bench), View::DESKTOP);
    let told = browser
        .evaluate("[document.querySelectorAll('.plot').length, document.body.innerText]")
        .expect("told");
    assert_eq!(told[0], 0);
    let text = told[1].as_str().expect("text");
    assert!(text.contains("could be opened"), "{text}");
    assert_eq!(browser.errors(), &[] as &[String]);
}

#[test]
fn the_page_is_left_out_where_it_is_not_wanted_and_made_again_as_it_was() {
    let bench = Bench::new();
    let asked = ["echo", "poll", "--connections", "2", "--messages", "100"];
    let outcome = bench.throng_as_typed(&[&asked[..], &["--no-html"]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(!page(&bench).exists());
    assert!(!outcome.stderr.contains("report.html"));
    let outcome = bench.throng_as_typed(&asked);
    assert!(outcome.stderr.contains("report.html"), "{}", outcome.stderr);
    let first = fs::read_to_string(page(&bench)).expect("written");
    let again = bench.throng_as_typed(&["report", "--format", "html"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(again.stdout == first, "differs");
    assert!(first.len() < 8 << 20, "{} bytes", first.len());
}

/// A built-in plan in its short form: every chart of its page is drawn. Their names.
fn charts_of_plan(name: &str, flags: &[&str]) -> Vec<String> {
    let bench = Bench::new();
    let asked = ["run", name, "--quick", "--patience", "0"];
    let outcome = bench.throng_as_typed_within(PATIENCE, &[&asked[..], flags].concat());
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    let page = page(&bench);
    let weight = fs::metadata(&page).expect("written").len();
    assert!(weight < 8 << 20, "{weight} bytes");
    let mut browser = open(&page, View::DESKTOP);
    let names = assert_drawn(&mut browser);
    let picture = browser.screenshot().expect("a picture");
    keep(&format!("plan-{name}.png"), &picture);
    names
}

#[test]
fn the_tour_has_its_charts() {
    let expected = [
        "rate-along",
        "latency-along",
        "cpu-along",
        "by-target",
        "percentiles",
        "over-time",
    ];
    assert_eq!(charts_of_plan("tour", &["--duration", "50ms"]), expected);
}

#[test]
fn the_c10k_figure_is_drawn() {
    assert_eq!(charts_of_plan("c10k", &[]), ["accept", "data"]);
}

#[test]
fn the_million_has_its_charts() {
    assert_eq!(charts_of_plan("million", &[]), ["over-time", "owners"]);
}

#[test]
fn the_backlog_is_drawn_as_a_map_and_in_time() {
    let asked = ["--clients", "1,16", "--service-time", "5ms"];
    let expected = ["amplification", "in-time"];
    assert_eq!(charts_of_plan("backlog", &asked), expected);
    assert_eq!(
        charts_of_plan("backlog-kernel", &["--clients", "16"]),
        expected
    );
}

#[test]
fn the_fan_out_is_drawn_beside_what_is_published() {
    let expected = ["get", "acknowledge", "connect", "deliveries", "order"];
    assert_eq!(
        charts_of_plan("many", &["--connections", "100,300"]),
        expected
    );
}

#[test]
fn services_are_drawn_beside_what_is_published() {
    for plan in ["services", "services-languages"] {
        // In so short a time CPU time may not be told.
        let names = charts_of_plan(plan, &["--requests", "10"]);
        assert_eq!(names[0], "completion", "{plan}");
    }
}

#[test]
fn languages_have_their_charts() {
    let names = charts_of_plan("languages", &["--duration", "50ms"]);
    assert!(names.contains(&"by-target".to_owned()), "{names:?}");
}

#[test]
fn churn_shows_what_is_left_in_time_wait() {
    let bench = measured(&[
        "churn",
        "poll",
        "epoll-edge",
        "--clients",
        "4",
        "--duration",
        "600ms",
        "--repeats",
        "1",
    ]);
    let mut browser = open(&page(&bench), View::DESKTOP);
    let names = assert_drawn(&mut browser);
    assert!(names.contains(&"over-time".to_owned()), "{names:?}");
    let script = "[...document.querySelectorAll('[data-chart=over-time] .ytitle, [data-chart=over-time] .y2title')].map((one) => one.textContent)";
    let titles = browser.evaluate(script).expect("told");
    assert_eq!(titles[1], "in TIME_WAIT", "{titles}");
    let greatest = "Math.max(...document.querySelector('[data-chart=over-time]').data.filter((trace) => trace.yaxis === 'y2').flatMap((trace) => trace.y))";
    let greatest = browser.evaluate(greatest).expect("told");
    assert!(greatest.as_f64() > Some(100.0), "{greatest}");
}

#[test]
fn what_is_held_is_drawn_over_time_and_by_owner() {
    let bench = measured(&["hold", "500", "epoll-edge", "tokio", "--hold", "300ms"]);
    let mut browser = open(&page(&bench), View::DESKTOP);
    assert_eq!(assert_drawn(&mut browser), ["over-time", "owners"]);
}

/// Echoes after 20 ms.
const SLOW: &str = r#"
import socket, sys, threading, time
def echo(connection):
    while data := connection.recv(4096):
        time.sleep(0.02)
        connection.sendall(data)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    threading.Thread(target=echo, args=[listener.accept()[0]], daemon=True).start()
"#;

#[test]
fn a_known_delay_stands_in_the_charts_at_its_height() {
    let bench = Bench::new();
    let server = bench.write("slow.py", SLOW);
    let command = format!("slow=python3 {} {{port}}", server.display());
    let asked = "--connections 4 --duration 500ms --warmup 100ms --repeats 1 --patience 0";
    let words: Vec<&str> = asked.split(' ').collect();
    let asked = [&["echo", "--command", &command][..], &words].concat();
    let outcome = bench.throng_as_typed(&asked);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let mut browser = open(&page(&bench), View::DESKTOP);
    assert_drawn(&mut browser);
    let drawn = |browser: &mut Browser, chart: &str| {
        let script = format!(
            "JSON.stringify(document.querySelector('[data-chart={chart}]').data.map(({{ x, y }}) => [x, y])[0])"
        );
        let told = browser.evaluate(&script).expect("told");
        let told: [Vec<f64>; 2] =
            serde_json::from_str(told.as_str().expect("text")).expect("numbers");
        told
    };
    // Each connection is answered every 20 ms and a little.
    let [rates, _] = drawn(&mut browser, "by-target");
    assert!((150.0..=200.0).contains(&rates[0]), "{rates:?}");
    let [one_in, seconds] = drawn(&mut browser, "percentiles");
    let above_median = one_in
        .iter()
        .zip(&seconds)
        .filter(|(one_in, _)| **one_in >= 2.0);
    for (one_in, seconds) in above_median {
        assert!((0.020..0.1).contains(seconds), "{seconds} at {one_in}");
    }
}

/// A thousand trials, of one small run: settings are made as many as it takes.
#[test]
fn a_thousand_trials_weigh_little_and_open() {
    let bench = echo();
    let run = bench.runs().pop().expect("a run");
    let text = fs::read_to_string(&run).expect("read");
    let mut record: throng_record::RunRecord = serde_json::from_str(&text).expect("a record");
    let (settings, trials) = (record.plan.settings.clone(), record.trials.clone());
    for round in 1..56_u32 {
        for setting in &settings {
            let mut setting = setting.clone();
            setting.connections += 100 * round;
            setting.swept[0].value = setting.connections.to_string();
            record.plan.settings.push(setting);
        }
        for trial in &trials {
            let mut trial = trial.clone();
            trial.setting += 3 * round;
            trial.order += trials.len() as u32 * round;
            record.trials.push(trial);
        }
    }
    assert!(record.trials.len() > 1_000, "{}", record.trials.len());
    record.trials_planned = record.trials.len() as u32;
    fs::write(&run, serde_json::to_string(&record).expect("JSON")).expect("written");
    let outcome = bench.throng(&["report", "--format", "html", "--output", "large.html"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let large = bench.path().join("large.html");
    let weight = fs::metadata(&large).expect("written").len();
    assert!(weight < 12 << 20, "{weight} bytes");
    let mut browser = open(&large, View::DESKTOP);
    // From the begin of the navigation to the end of the load, by the browser's own clock: kept for a look, as time is no matter for a test.
    let took = browser
        .evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        .expect("told");
    keep(
        "thousand.txt",
        format!("{took} ms, {weight} bytes\n").as_bytes(),
    );
    let names = assert_drawn(&mut browser);
    assert_eq!(names.len(), 6);
}
