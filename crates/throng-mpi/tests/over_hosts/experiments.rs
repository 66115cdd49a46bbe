//! The experiments over several hosts under a real `mpirun`: what several generators measure together is what one would.

use throng::record::{CheckKind, CheckResult, Measured, Outcome, RunRecord, Trial};

use crate::cluster::Cluster;

fn only(record: &RunRecord) -> &Trial {
    let [trial] = &record.trials[..] else {
        panic!("{} trials", record.trials.len());
    };
    trial
}

/// Neither wrong nor cut short, whatever the machine did meanwhile: tests beside this one may have held a host up when all were to begin.
fn assert_well(trial: &Trial) {
    assert_eq!(trial.outcome, Outcome::Completed);
    let mut failed = trial
        .checks
        .iter()
        .filter(|check| check.result == CheckResult::Failed);
    assert!(
        failed.all(|check| check.kind == CheckKind::StartSkew),
        "{:#?}",
        trial.checks
    );
}

/// One trial by so many generators; what each test asks for, of no more time than it needs.
fn trial(generators: u32, arguments: &[&str]) -> Trial {
    let always = ["--repeats", "1", "--patience", "0", "--no-html"];
    let record = Cluster::of(generators).record_of(&[arguments, &always].concat());
    assert_eq!(record.hosts.len(), generators as usize);
    let trial = only(&record).clone();
    assert_well(&trial);
    assert_eq!(trial.hosts.len(), generators as usize);
    trial
}

const ECHO: [&str; 8] = [
    "echo",
    "epoll-level",
    "--connections",
    "11",
    "--messages",
    "10007",
    "--warmup",
    "13 messages",
];

#[test]
fn messages_of_several_hosts_are_those_of_one() {
    for generators in [1, 2] {
        let trial = trial(generators, &ECHO);
        let exchange = trial.phases.exchange().expect("an exchange");
        assert_eq!((exchange.replies, exchange.warmup_replies), (10_007, 13));
        assert_eq!(exchange.latency.count, 10_007);
        assert_eq!(exchange.timeline.replies.iter().sum::<u64>(), 10_007);
        let replies: u64 = trial.hosts.iter().map(|host| host.replies).sum();
        assert_eq!(replies, 10_007);
        let connections: u32 = trial.hosts.iter().map(|host| host.connections).sum();
        assert_eq!(connections, 11);
        // Neither on loopback nor by any other way than the hosts' own.
        assert!(
            trial.job.fleet.addresses[0].starts_with("tcp://10.77.0.1:"),
            "{:?}",
            trial.job.fleet.addresses
        );
    }
}

#[test]
fn a_server_that_runs_already_is_loaded_by_all_and_observed_by_the_lab() {
    let cluster = Cluster::of(2).serving("epoll-level --listen 10.77.0.1:7000");
    let load = ["--connections", "11", "--messages", "10007"];
    let always = ["--repeats", "1", "--patience", "0", "--no-html"];
    let target = ["echo", "tcp://10.77.0.1:7000"];
    let record = cluster.record_of(&[&target[..], &load, &always].concat());
    let trial = only(&record);
    assert_well(trial);
    let exchange = trial.phases.exchange().expect("an exchange");
    assert_eq!(exchange.replies, 10_007);
    let server = trial.server.as_ref().expect("it is on the lab's host");
    assert!(server.cpu_ns > 0);
}

#[test]
fn a_host_that_has_too_little_is_named_before_anything_is_measured() {
    // So few that a shard of it cannot hold its half.
    let cluster = Cluster::of(2).with("WITH_gen2", "prlimit --nofile=200:200");
    let hold = ["hold", "1000", "epoll-level", "--shards", "1"];
    let always = ["--repeats", "1", "--hold", "100ms", "--no-html"];
    let ended = cluster.run(&[&hold[..], &always].concat());
    let note = "of 500 connections to epoll-level host gen2 can hold about 192: descriptors";
    assert!(ended.stderr.contains(note), "{}", ended.stderr);
    assert!(
        !ended.stderr.contains("host gen1 can hold"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.left, "");
    let record = cluster.record();
    let [quick, short] = &only(&record).hosts[..] else {
        panic!("{:?}", only(&record).hosts);
    };
    assert_eq!(quick.connected, 500);
    assert!((150..200).contains(&short.connected), "{}", short.connected);
}

#[test]
fn the_merged_histogram_is_the_sum_of_the_hosts() {
    let trial = trial(2, &ECHO);
    let decoded = |histogram: &throng::record::Histogram| histogram.decode().expect("readable");
    let mut sum = throng::record::histogram::empty();
    for host in &trial.hosts {
        let own = host.latency.as_ref().expect("each has measured");
        assert_eq!(own.count, host.replies);
        sum.add(decoded(own)).expect("of the same bounds");
    }
    let exchange = trial.phases.exchange().expect("an exchange");
    assert!(decoded(&exchange.latency) == sum);
}

#[test]
fn rates_of_an_open_loop_add_up() {
    let open = ["--rate", "2000", "--duration", "1s", "--warmup", "200ms"];
    let trial = trial(
        2,
        &[&["echo", "epoll-edge", "--connections", "10"], &open[..]].concat(),
    );
    let exchange = trial.phases.exchange().expect("an exchange");
    assert!(
        (1_990..=2_010).contains(&exchange.replies),
        "{}",
        exchange.replies
    );
}

#[test]
fn connections_are_held_and_pinged_by_all() {
    let hold = [
        "hold",
        "101",
        "epoll-level",
        "--hold",
        "300ms",
        "--pings",
        "17",
    ];
    for generators in [1, 2] {
        let trial = trial(generators, &hold);
        let connect = trial.phases.connect().expect("a connect phase");
        assert_eq!((connect.connected, connect.latency.count), (101, 101));
        let ping = trial.phases.ping().expect("a ping phase");
        assert_eq!(
            (ping.pinged, ping.answered, ping.latency.count),
            (17, 17, 17)
        );
        let close = trial.phases.close().expect("a close phase");
        assert_eq!(close.closed_in_order, 101);
    }
}

#[test]
fn requests_with_connections_of_their_own_are_those_of_all() {
    let backlog = ["backlog", "thread-per-connection", "--clients", "7"];
    let each = ["--requests", "3", "--service-time", "1ms"];
    let churn = ["churn", "epoll-edge", "--clients", "7"];
    let messages = ["--messages", "1009", "--warmup", "0 messages"];
    for generators in [1, 2] {
        let backlog = trial(generators, &[&backlog[..], &each].concat());
        let requests = backlog.phases.connections().expect("a request phase");
        assert_eq!((requests.begun, requests.answered), (21, 21));
        assert_eq!(requests.request_latency.count, 21);
        let handshakes = backlog.handshakes.as_ref().expect("seen at the server");
        assert_eq!(handshakes.syns, 21);
        let churn = trial(generators, &[&churn[..], &messages].concat());
        let requests = churn.phases.connections().expect("a request phase");
        assert_eq!((requests.begun, requests.answered), (1_009, 1_009));
    }
}

#[test]
fn clients_of_services_are_whole() {
    let services = [
        "services",
        "epoll-level",
        "--family",
        "ipv4",
        "--services",
        "3",
    ];
    let clients = ["--clients", "5", "--requests", "7", "--tasks", "2"];
    for generators in [1, 2] {
        let trial = trial(generators, &[&services[..], &clients].concat());
        let tasks = trial.phases.tasks().expect("clients with tasks");
        assert_eq!(tasks.clients.len(), 5);
        let answered: u64 = tasks.services.iter().map(|service| service.answered).sum();
        assert_eq!(answered, 3 * 5 * 7);
    }
}

#[test]
fn a_line_is_put_and_heard_by_one_generator_and_refused_for_several() {
    let fanout = ["fanout", "epoll-level", "--connections", "53"];
    let trial = trial(1, &fanout);
    let heard = trial
        .phases
        .0
        .iter()
        .find_map(|phase| match &phase.measured {
            Measured::Get(get) => Some(get.line.received),
            _ => None,
        });
    assert_eq!(heard, Some(53));
    let ended = Cluster::of(2).run(&fanout);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("one generator"), "{}", ended.stderr);
    assert_eq!(ended.left, "");
}

#[test]
fn phases_of_a_plan_are_collective() {
    let cluster = Cluster::of(2);
    let plan = r#"
        experiment = "phases"
        targets = ["epoll-level"]
        repeats = 1
        [[phase]]
        do = "connect"
        connections = 47
        [[phase]]
        do = "hold"
        duration = "200ms"
        [[phase]]
        do = "exchange"
        messages = 2003
        [[phase]]
        do = "close"
    "#;
    std::fs::write(cluster.folder().join("plan.toml"), plan).expect("written");
    let record = cluster.record_of(&["run", "plan.toml", "--no-html", "--patience", "0"]);
    let trial = only(&record);
    assert_well(trial);
    assert_eq!(
        trial.phases.exchange().map(|exchange| exchange.replies),
        Some(2_003)
    );
    // All phases of both began within what the clocks cannot tell and a scheduler's pause.
    for host in &trial.hosts {
        assert!(host.start_skew_ns < 50_000_000, "{host:?}");
    }
}

#[test]
fn a_clock_that_is_hours_off_is_found_within_the_stated_uncertainty() {
    const OFFSET_NS: i64 = 86_400_000_000_000;
    let cluster = Cluster::of(2).with(
        "WITH_gen2",
        "unshare --time --monotonic 86400 --boottime 86400 --fork",
    );
    let always = ["--repeats", "1", "--patience", "0", "--no-html"];
    let record = cluster.record_of(&[&ECHO[..], &always].concat());
    let trial = only(&record);
    assert_well(trial);
    for (host, true_ns) in trial.hosts.iter().zip([0, OFFSET_NS]) {
        let error_ns = host.clock.offset_ns.abs_diff(true_ns);
        assert!(error_ns <= host.clock.uncertainty_ns, "{:?}", host.clock);
        assert!(host.clock.uncertainty_ns < 20_000_000, "{:?}", host.clock);
    }
    let exchange = trial.phases.exchange().expect("an exchange");
    assert_eq!(exchange.replies, 10_007);
    // By one clock: the window is no day long.
    assert!(exchange.duration_ns < 60_000_000_000);
}

/// A control group that is gone with the test.
struct Quota(String);

const QUOTA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/over_hosts/quota.sh");

impl Drop for Quota {
    fn drop(&mut self) {
        let removed = std::process::Command::new(QUOTA)
            .args([&self.0, "remove"])
            .status();
        assert!(removed.is_ok_and(|status| status.success()), "{}", self.0);
    }
}

#[test]
fn a_host_that_a_quota_slows_down_is_named_and_its_messages_all_count() {
    let quota = Quota(format!("throng-test-{}", std::process::id()));
    let cluster = Cluster::of(2).with("WITH_gen2", &format!("{QUOTA} {} 10", quota.0));
    let always = ["--repeats", "1", "--patience", "0", "--no-html"];
    let many = ["--connections", "10", "--messages", "40009"];
    let echo = ["echo", "epoll-level", "--warmup", "13 messages"];
    let record = cluster.record_of(&[&echo[..], &many, &always].concat());
    let trial = only(&record);
    assert_eq!(trial.outcome, Outcome::Completed);
    let exchange = trial.phases.exchange().expect("an exchange");
    assert_eq!(exchange.replies, 40_009);
    let [quick, slow] = &trial.hosts[..] else {
        panic!("{} hosts", trial.hosts.len());
    };
    assert!(
        quick.throttled_share.is_none_or(|share| share < 0.02),
        "{quick:?}"
    );
    assert!(
        slow.throttled_share.is_some_and(|share| share > 0.3),
        "{slow:?}"
    );
    let other_programs = trial.checks.iter().find(|check| {
        check.kind == CheckKind::OtherPrograms && check.result == CheckResult::Disturbed
    });
    let detail = &other_programs.expect("it is disturbed").detail;
    // The host that lost most is named; other tests may have taken more of gen1's CPUs than the quota of gen2's.
    let lost_by_slow = [slow.throttled_share, slow.others_share];
    let lost_by_slow = lost_by_slow.into_iter().flatten().fold(0.0, f64::max);
    let named = if quick.others_share.unwrap_or(0.0) > lost_by_slow {
        "gen1"
    } else {
        "gen2"
    };
    assert!(detail.contains(named), "{detail}, not of {named}");
}

#[test]
fn nobody_but_the_load_is_on_the_wire_while_it_is_measured() {
    let mut cluster = Cluster::of(2);
    let capture = cluster.folder().join("capture.pcapng");
    cluster = cluster.with("CAPTURE", &capture.display().to_string());
    let always = ["--repeats", "1", "--patience", "0", "--no-html"];
    // Few messages, so that the capture misses none.
    let load = ["--rate", "500", "--duration", "2s", "--connections", "2"];
    let record = cluster.record_of(&[&["echo", "epoll-level"], &load[..], &always].concat());
    let trial = only(&record);
    assert_well(trial);
    let exchange = trial.phases.exchange().expect("an exchange");
    let from_ns = realtime_ns(exchange.started_at_monotonic_ns);
    let window = from_ns..from_ns + exchange.duration_ns;
    let (_, port) = trial.job.fleet.addresses[0]
        .rsplit_once(':')
        .expect("a port");
    let of_load = times_of(&capture, &format!("tcp.port == {port}"));
    let others = times_of(&capture, &format!("tcp && !(tcp.port == {port})"));
    let within = |times: &[u64]| times.iter().filter(|at_ns| window.contains(at_ns)).count();
    // A message and its reply, on the way out of one host and into the other.
    assert!(within(&of_load) > 1_000, "{}", within(&of_load));
    assert!(
        others.len() > 100,
        "before and after MPI has something to say"
    );
    assert_eq!(within(&others), 0);
}

/// By the clock of a capture, unless that was set meanwhile.
fn realtime_ns(monotonic_ns: u64) -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now_ns = now.expect("after 1970").as_nanos() as u64;
    let clock = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let here_ns = clock.tv_sec as u64 * 1_000_000_000 + clock.tv_nsec as u64;
    now_ns - (here_ns - monotonic_ns)
}

/// When such packets were seen, by tshark.
fn times_of(capture: &std::path::Path, filter: &str) -> Vec<u64> {
    let output = std::process::Command::new("tshark")
        .arg("-r")
        .arg(capture)
        .args(["-Y", filter, "-T", "fields", "-e", "frame.time_epoch"])
        .output()
        .expect("tshark is there");
    let text = String::from_utf8(output.stdout).expect("numbers");
    let nanoseconds = |line: &str| {
        let (seconds, fraction) = line.split_once('.').expect("seconds and their fraction");
        let number = |text: &str| text.parse::<u64>().expect("a number");
        number(seconds) * 1_000_000_000 + number(&format!("{fraction:0<9}")[..9])
    };
    text.lines().map(nanoseconds).collect()
}
