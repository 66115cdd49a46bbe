//! What cannot be done as written: one message with the next step, exit code 2, nothing started and nothing stored.

mod support;

use support::Bench;

fn transcript(cases: &[&[&str]]) -> String {
    let bench = Bench::new();
    bench.write("typo.toml", "targets = [\"poll\"]\nconections = 5\n");
    bench.write("kind.toml", "targets = [\"poll\"]\nsize = \"six\"\n");
    bench.write("syntax.toml", "targets = [\n");
    bench.write("empty.toml", "targets = [\"poll\"]\nsize = []\n");
    let mut text = String::new();
    for arguments in cases {
        let outcome = bench.throng_as_typed(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{arguments:?}");
        outcome.assert_plain();
        text += &format!("$ throng {}\n{}\n", arguments.join(" "), outcome.stderr);
    }
    assert!(bench.runs().is_empty(), "nothing was measured");
    text
}

#[test]
fn targets() {
    insta::assert_snapshot!(transcript(&[
        &["echo"],
        &["echo", "epol-edge"],
        &["echo", "nginx"],
        &["echo", "poll", "poll"],
        &["echo", "http://127.0.0.1:80/", "--method", "HEAD"],
        &["echo", "127.0.0.1:80"],
        &["echo", "tcp://127.0.0.1"],
        &["echo", "tcp://127.0.0.1:0"],
        &["echo", "--command", "./mine"],
        &["echo", "--command", "./mine '{port}"],
        &["echo", "poll", "--baseline", "pol"],
        &["serve", "epoll-egde"],
        &["serve", "poll", "--workers", "3"],
        &["serve", "poll", "--listen", "nowhere"],
    ]));
}

#[test]
fn servers() {
    insta::assert_snapshot!(transcript(&[
        &["serve", "poll", "--workload", "htpp"],
        &["serve", "poll", "--delay", "40ms"],
        &["serve", "poll", "--workload", "echo", "--delay-inline"],
        &["serve", "poll", "--workload", "http", "--delay", "40"],
        &["serve", "poll", "--accept-threads", "4"],
        &["serve", "thread-pool", "--accept-threads", "4"],
        &["serve", "thread-per-connection", "--accept-threads", "0"],
        &["serve", "thread-per-connection", "--hand-over", "queues"],
        &[
            "serve",
            "two-threads-per-connection",
            "--hand-over",
            "queue"
        ],
        &["echo", "poll --hand-over queues"],
    ]));
}

#[test]
fn plans() {
    insta::assert_snapshot!(transcript(&[
        &["run", "tuor"],
        &["run", "c10m"],
        &["run", "everything"],
        &["run", "missing.toml"],
        &["run", "typo.toml"],
        &["run", "kind.toml"],
        &["run", "syntax.toml"],
        &["run", "empty.toml"],
        &["report", "missing"],
        &["report", "latest"],
        &["man", "ecoh"],
    ]));
}

#[test]
fn kernel_settings() {
    let running = "tcp://127.0.0.1:9";
    insta::assert_snapshot!(transcript(&[
        &["echo", "poll", "--kernel", "somaxcon=1"],
        &["echo", "poll", "--kernel", "net.core.somaxcon=1"],
        &["echo", "poll", "--kernel", "kernel.pid_max=1000"],
        &["echo", "poll", "--kernel", "net.ipv4.conf.eth0.rp_filter=1"],
        &["echo", "poll", "--kernel", "somaxconn"],
        &["echo", "poll", "--kernel", "somaxconn="],
        &["echo", "poll", "--kernel", "somaxconn=16,,17"],
        &[
            "echo",
            "poll",
            "--kernel",
            "somaxconn=1",
            "--kernel",
            "net.core.somaxconn=2"
        ],
        &["echo", "poll", "--net", "host", "--kernel", "somaxconn=1"],
        &["echo", running, "--kernel", "somaxconn=1"],
        &["echo", "poll", "--net", "mine"],
    ]));
}

#[test]
fn the_accept_experiment() {
    insta::assert_snapshot!(transcript(&[
        &["accept", "tokio"],
        &["accept", "epol-edge"],
        &["accept", "tcp://127.0.0.1:9"],
        &["accept", "poll --workers 2"],
        &["accept", "poll", "poll"],
        &["accept", "--command", "./mine {port}"],
        &["accept", "--connections", "0"],
        &["accept", "--connections", "-5"],
        &["accept", "select", "--published"],
        &["accept", "--cpus", "0:1"],
        &["accept", "--duration", "2s"],
        &["accept", "--backend", "epoll"],
        &["accept", "--clients=5"],
        &["echo", "poll", "--published"],
        &["run", "c10k", "--size", "6"],
        &["run", "tour", "--published"],
    ]));
}

#[test]
fn the_backlog_experiment() {
    let running = "tcp://127.0.0.1:9";
    insta::assert_snapshot!(transcript(&[
        &["backlog"],
        &["backlog", "iterative", "--backlog", "-1"],
        &["backlog", "iterative", "--clients", "0"],
        &["backlog", "iterative", "--clients", "-5"],
        &["backlog", "iterative", "--clients", "many"],
        &["backlog", "iterative", "--requests", "0"],
        &[
            "backlog",
            "iterative",
            "--clients",
            "8,7",
            "--requests-total",
            "160"
        ],
        &[
            "backlog",
            "iterative",
            "--requests",
            "5",
            "--requests-total",
            "160"
        ],
        &[
            "backlog",
            "iterative",
            "--requests",
            "2",
            "--requests-total",
            "8"
        ],
        &["backlog", "iterative", "--service-time", "-5ms"],
        &["backlog", "poll --workers 1", "poll  --workers 1"],
        &["backlog", "http://127.0.0.1:99999/"],
        &["backlog", "iterative", "--connections", "5"],
        &["backlog", "iterative", "--duration=5s"],
        &["backlog", "iterative", "--no-spin"],
        &["backlog", "iterative", "--nonsense"],
        &["backlog", "iterative", "--size", "9"],
        &["backlog", "iterative", "--family", "unix"],
        &["backlog", "unix:/run/a.sock"],
        &["backlog", "https://127.0.0.1/"],
        &["backlog", "http://"],
        &["backlog", "iterative --worker 2"],
        &["backlog", "iterative --workers 2"],
        &["backlog", "iterative", "--accept-threads", "4"],
        &["backlog", running, "--backlog", "5"],
        &["backlog", running, "--workers", "5"],
        &["backlog", running, "--kernel", "tcp_syncookies=0"],
        &["echo", "poll", "--clients", "5"],
        &["echo", "poll --delay-inline"],
        &["run", "backlog", "--connections", "5"],
        &["run", "tour", "--service-time", "5ms"],
        &["run", "tour", "--capture", "x.pcapng"],
    ]));
}

#[test]
fn the_fan_out_experiment() {
    insta::assert_snapshot!(transcript(&[
        &["fanout"],
        &["fanout", "iterative"],
        &["fanout", "http://127.0.0.1:80/"],
        &["fanout", "epoll-edge", "--connections", "0"],
        &["fanout", "epoll-edge", "--line", ""],
        &["fanout", "epoll-edge", "--line", "a\\nb"],
        &["fanout", "epoll-edge", "--greeting", "hi", "--no-greeting"],
        &["fanout", "epoll-edge", "--duration", "2s"],
        &["fanout", "epoll-edge", "--rate", "0"],
        &["fanout", "epoll-edge", "--connect-rate", "nan"],
        &["fanout", "epoll-edge", "--connect-concurrency", "0"],
        &["fanout", "epoll-edge", "--size", "6"],
        &["fanout", "epoll-edge", "--pings", "6"],
        &["fanout", "poll --hand-over queues"],
        &["echo", "poll", "--line", "a"],
        &["echo", "poll", "--no-greeting"],
        &["run", "tour", "--connect-rate", "5"],
    ]));
}

#[test]
fn the_hold_experiment() {
    insta::assert_snapshot!(transcript(&[
        &["hold"],
        &["hold", "epoll-edge"],
        &["hold", "0"],
        &["hold", "-5"],
        &["hold", "0.5"],
        &["hold", "9999m"],
        &["hold", "100", "epol-edge"],
        &["hold", "100", "--pings", "101"],
        &["hold", "100", "--pings", "some"],
        &["hold", "100", "--hold", "2"],
        &["hold", "100", "--duration", "2s"],
        &["hold", "100", "--rate", "5"],
        &["hold", "100", "http://127.0.0.1:80/"],
        &["echo", "poll", "--hold", "2s"],
        &["run", "many", "--pings", "all"],
    ]));
}

#[test]
fn values() {
    insta::assert_snapshot!(
        transcript(&[
            &["echo", "poll", "--size", "0"],
            &["echo", "poll", "--size", "1048577"],
            &["echo", "poll", "--rate", "-5"],
            &["echo", "poll", "--rate", "nan"],
            &["echo", "poll", "--connections", "0"],
            &["echo", "poll", "--connections", "ten"],
            &["echo", "poll", "--connections", "0.5"],
            &["echo", "poll", "--connections", "1,000,5000"],
            &["echo", "poll", "--messages", "5q"],
            &["churn", "poll", "--clients", "5000m"],
            &["echo", "poll", "--duration", "5"],
            &["echo", "poll", "--warmup", "many messages"],
            &["echo", "poll", "--messages", "5", "--duration", "2s"],
            &["echo", "poll", "--lockstep", "2", "--rate", "10"],
            &["echo", "poll", "--arrivals", "exponential"],
            &["echo", "poll", "--send", "a\\q", "--expect", "b"],
            &["echo", "poll", "--backend", "uring"],
            &["echo", "poll", "--cpus", "0"],
            &["echo", "poll", "--cpus", "0:5000"],
            &["echo", "poll", "--cpus", "4000-4001:0"],
            &["echo", "poll", "--server", "per-run"],
            &["echo", "poll", "--size", "6,0"],
            &["echo", "poll", "--size", "6,,7"],
            &[
                "echo", "poll", "--size", "6,7", "--send", "a", "--expect", "b"
            ],
            &["echo", "poll", "--shards", "9", "--connections", "7"],
            &["echo", "poll", "--conections", "7"],
            &["echo", "poll", "--family", "unix", "--source", "127.0.0.2"],
        ])
        // Which CPUs there are is the machine's affair.
        .lines()
        .map(|line| match line.split_once("(it may use ") {
            Some((before, _)) => format!("{before}(it may use …)\n"),
            None => format!("{line}\n"),
        })
        .collect::<String>()
    );
}

#[test]
fn a_sweep_that_explodes() {
    let numbers = (1..=150).map(|number| number.to_string());
    let numbers = numbers.collect::<Vec<_>>().join(",");
    let bench = Bench::new();
    let outcome =
        bench.throng_as_typed(&["echo", "all", "--size", &numbers, "--connections", &numbers]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    for part in [
        "combinations",
        "150 of size × 150 of connections",
        "at most 10000",
        "\nhint: shorten a list",
    ] {
        assert!(
            outcome.stderr.contains(part),
            "{part} in {}",
            outcome.stderr
        );
    }
    assert!(bench.runs().is_empty());
}

#[test]
fn an_error_has_no_colour_where_none_is_wanted() {
    let bench = Bench::new();
    let forced = assert_cmd::Command::new(support::THRONG)
        .args(["run", "tuor"])
        .current_dir(bench.path())
        .env_remove("NO_COLOR")
        .env("CLICOLOR_FORCE", "1")
        .output()
        .expect("started");
    assert!(forced.stderr.contains(&0x1b), "colour is possible");
    let without = assert_cmd::Command::new(support::THRONG)
        .args(["run", "tuor"])
        .current_dir(bench.path())
        .env("NO_COLOR", "1")
        .output()
        .expect("started");
    assert!(!without.stderr.contains(&0x1b));
}
