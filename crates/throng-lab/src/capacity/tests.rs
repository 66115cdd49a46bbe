use throng_record::Plan;

use super::*;
use crate::plan::{GeneratorHost, Interface, PlanDraft, many_test_environment, resolve};

/// A machine on which nothing is short.
fn plenty() -> Limits {
    Limits {
        open_files_hard: 20_000,
        memory_available_bytes: Some(21 << 30),
        file_max: Some(u64::MAX >> 1),
        nr_open: Some(1 << 20),
        ip_local_port_range: Some((32_768, 60_999)),
        pid_max: Some(1 << 22),
        threads_max: Some(1 << 22),
        user_threads_max: None,
        cgroup_pids_max: None,
        max_map_count: Some(1 << 24),
        epoll_max_user_watches: Some(5_000_000),
        conntrack_max: None,
        somaxconn: Some(4_096),
        tcp_mem_pages_max: Some(5_000_000),
    }
}

fn plan(text: &str) -> Plan {
    let draft = PlanDraft::parse(text, "test").unwrap_or_else(|error| panic!("{error}"));
    resolve(draft, &many_test_environment())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .plan
}

fn found(text: &str, limits: &Limits) -> Vec<Shortage> {
    let plan = plan(text);
    let models = many_test_environment().models;
    let demand = Demand::of(&plan, &plan.targets[0], &plan.settings[0], &models);
    shortages(&demand, limits)
}

fn names(text: &str, limits: &Limits) -> Vec<String> {
    let found = found(text, limits).into_iter();
    found.map(|shortage| shortage.what).collect()
}

fn foreseen(text: &str, limits: &Limits) -> Foresight {
    let models = many_test_environment().models;
    foresee(&plan(text), &models, limits, LoadFrom::Here)
}

const MILLION: &str = "experiment = 'hold'\nconnections = 1_000_000";

#[test]
fn a_million_connections_fit_into_21_gib_and_tables_of_20_000() {
    assert_eq!(found(MILLION, &plenty()), []);
    let said = foreseen(MILLION, &plenty());
    assert_eq!(said.refusal, None);
    assert_eq!(
        said.notes,
        [
            "this machine has room for 1,000,000 connections to epoll-shared: they need about 9.5 GiB of memory (available: 21.0 GiB), and descriptors in 51 and 51 tables (at most 20,000 in each)"
        ]
    );
}

#[test]
fn more_echo_connections_than_there_is_memory_for_are_refused_too() {
    let of = |connections: &str| {
        let text = format!("targets = ['epoll-edge']\nconnections = {connections}");
        foreseen(&text, &plenty())
    };
    assert_eq!(of("1000"), Foresight::default());
    let refusal = of("10_000_000")
        .refusal
        .expect("90 GB of the kernel's alone");
    assert!(refusal.contains("10,000,000 connections"), "{refusal}");
}

#[test]
fn too_little_memory_is_refused_with_a_number_that_fits() {
    let limits = Limits {
        memory_available_bytes: Some(4 << 30),
        ..plenty()
    };
    let said = foreseen(MILLION, &limits);
    let refusal = said.refusal.expect("it is short");
    assert!(refusal.contains("4.0 GiB is available"), "{refusal}");
    let (_, hint) = refusal.rsplit_once("; ").expect("a next step");
    let fits: u32 = hint
        .split_whitespace()
        .find_map(|word| word.replace(',', "").parse().ok())
        .expect("a number");
    assert!((300_000..500_000).contains(&fits), "{fits}");
    let fewer = format!("experiment = 'hold'\nconnections = {fits}");
    assert_eq!(foreseen(&fewer, &limits).refusal, None);
}

#[test]
fn a_model_with_one_table_ends_at_its_limit_and_that_is_said_but_not_refused() {
    let text = "experiment = 'hold'\ntargets = ['epoll-edge']\nconnections = 50_000";
    let said = foreseen(text, &plenty());
    assert_eq!((said.refusal, said.notes.len()), (None, 1));
    for part in [
        "of 50,000 connections to epoll-edge",
        "about 19,988",
        "RLIMIT_NOFILE",
        "ulimit -Hn 50012",
        "epoll-shared",
    ] {
        assert!(said.notes[0].contains(part), "{part}: {:?}", said.notes);
    }
    assert!(!said.notes[0].contains("fs.nr_open"));
    let shards = "experiment = 'hold'\nconnections = 50_000\nshards = 2";
    assert_eq!(
        names(shards, &plenty()),
        ["descriptors of the generator (RLIMIT_NOFILE of each shard)"]
    );
}

#[test]
fn threads_meet_every_limit_the_least_first() {
    let limits = Limits {
        pid_max: Some(32_768),
        max_map_count: Some(65_530),
        cgroup_pids_max: Some(10_400),
        open_files_hard: 100_000,
        ..plenty()
    };
    let text =
        |model: &str| format!("experiment = 'fanout'\nconnections = 28_000\ntargets = ['{model}']");
    assert_eq!(names(&text("epoll-edge"), &limits), [] as [&str; 0]);
    assert_eq!(
        names(&text("thread-per-connection"), &limits),
        ["pids.max", "vm.max_map_count"]
    );
    let two = found(&text("two-threads-per-connection"), &limits);
    let held: Vec<(&str, u64)> = two
        .iter()
        .map(|shortage| (shortage.what.as_str(), shortage.holds_about))
        .collect();
    assert_eq!(
        held,
        [
            ("pids.max", 5_000),
            // Met on this machine at 8,062.
            ("vm.max_map_count", 8_063),
            ("kernel.pid_max", 16_184)
        ]
    );
    assert!(two[2].remedy.contains("sysctl -w kernel.pid_max=56400"));
}

#[test]
fn a_target_is_told_its_least_limit_once_and_targets_alike_together() {
    let limits = Limits {
        pid_max: Some(32_768),
        max_map_count: Some(65_530),
        ..plenty()
    };
    let text = "experiment = 'fanout'\nconnections = 28_000\ntargets = ['two-threads-per-connection', 'two-threads-per-connection --hand-over queues', 'epoll-level', 'tokio', 'epoll-shared']";
    let notes = foreseen(text, &limits).notes;
    let [threads, tables] = &notes[..] else {
        panic!("two notes: {notes:?}");
    };
    let beginning = "of 28,000 connections to two-threads-per-connection and two-threads-per-connection --hand-over queues this machine can hold about 8,063: vm.max_map_count needed";
    assert!(threads.starts_with(beginning), "{threads}");
    let end = ". Next would come kernel.pid_max at 16,184 and descriptors of the server (RLIMIT_NOFILE) at 19,988";
    assert!(threads.ends_with(end), "{threads}");
    let beginning =
        "of 28,000 connections to epoll-level and tokio this machine can hold about 19,988";
    assert!(tables.starts_with(beginning), "{tables}");
}

#[test]
fn ports_end_where_one_address_has_no_more() {
    let one = "experiment = 'fanout'\ntargets = ['epoll-edge']\nconnections = 29_000\naddresses = 'kernel'";
    let limits = Limits {
        open_files_hard: u64::MAX,
        ..plenty()
    };
    let short = found(one, &limits);
    assert_eq!(
        (short[0].needed, short[0].there_is, short.len()),
        (29_000, 28_232, 1)
    );
    let spread = one.replace("addresses = 'kernel'", "");
    assert_eq!(found(&spread, &limits), []);
    let wider = format!("{one}\n[kernel]\nip_local_port_range = '1024 65535'");
    assert_eq!(found(&wider, &limits), []);
    let elsewhere = "experiment = 'hold'\ntargets = ['tcp://10.0.0.1:7']\nconnections = 60_000\nsource = ['10.0.0.2', '10.0.0.3']";
    assert_eq!(found(elsewhere, &limits)[0].there_is, 2 * 28_232);
}

#[test]
fn limits_of_the_whole_machine_count_both_ends_where_both_are_here() {
    let limits = Limits {
        file_max: Some(150_000),
        epoll_max_user_watches: Some(90_000),
        conntrack_max: Some(65_536),
        tcp_mem_pages_max: Some(50_000),
        ..plenty()
    };
    let here = "experiment = 'hold'\nconnections = 100_000\nbackend = 'epoll'";
    assert_eq!(
        names(here, &limits),
        ["fs.epoll.max_user_watches", "fs.file-max"]
    );
    let away = "experiment = 'hold'\ntargets = ['tcp://10.0.0.1:7']\nconnections = 80_000\nsource = ['10.0.0.2', '10.0.0.3', '10.0.0.4']\nbackend = 'epoll'";
    assert_eq!(names(away, &limits), ["net.netfilter.nf_conntrack_max"]);
    let heard = "experiment = 'fanout'\ntargets = ['epoll-shared']\nconnections = 60_000";
    assert_eq!(names(heard, &limits), ["net.ipv4.tcp_mem (pages)"]);
}

#[test]
fn where_no_connection_is_kept_nothing_is_foreseen() {
    let text = "experiment = 'churn'\ntargets = ['epoll-edge']\nclients = 10_000";
    assert_eq!(foreseen(text, &Limits::default()), Foresight::default());
}

#[test]
fn each_host_is_asked_for_its_part_and_named_where_it_lacks_something() {
    let host = |name: &str, addresses: u8, limits: Limits| GeneratorHost {
        name: name.to_owned(),
        boot_id: name.to_owned(),
        limits,
        interfaces: (0..addresses)
            .map(|last| Interface {
                ip: [192, 0, 2, 10 + last].into(),
                prefix_bits: 24,
            })
            .collect(),
        ..GeneratorHost::default()
    };
    let small = Limits {
        memory_available_bytes: Some(1 << 30),
        ..plenty()
    };
    let models = many_test_environment().models;
    let foreseen = |generators: &[GeneratorHost]| {
        let from = LoadFrom::Hosts {
            generators,
            listen: [192, 0, 2, 1].into(),
        };
        foresee(&plan(MILLION), &models, &plenty(), from)
    };
    let both = [host("gen1", 20, plenty()), host("gen2", 20, plenty())];
    let said = foreseen(&both);
    assert_eq!(said.refusal, None);
    let beginnings = [
        "this machine has room for 1,000,000 connections to epoll-shared: they need about 4.8 GiB of memory (available: 21.0 GiB), and descriptors in 51 tables (at most 20,000 in each)",
        "host gen1 has room for 500,000 connections to epoll-shared: they need about 2.4 GiB of memory (available: 21.0 GiB), and descriptors in 51 tables (at most 20,000 in each)",
        "host gen2 has room for 500,000",
    ];
    assert_eq!(said.notes.len(), 3);
    for (note, beginning) in said.notes.iter().zip(beginnings) {
        assert!(note.starts_with(beginning), "{note}");
    }
    let refusal = foreseen(&[host("gen1", 20, plenty()), host("gen2", 20, small)]).refusal;
    let refusal = refusal.expect("gen2 has too little memory");
    assert!(
        refusal.contains("1.0 GiB is available on host gen2"),
        "{refusal}"
    );
    let said = foreseen(&[host("gen1", 2, plenty()), host("gen2", 20, plenty())]);
    let ports =
        "of 500,000 connections to epoll-shared host gen1 can hold about 56,464: local ports";
    assert!(
        said.notes.iter().any(|note| note.starts_with(ports)),
        "{:?}",
        said.notes
    );
}
