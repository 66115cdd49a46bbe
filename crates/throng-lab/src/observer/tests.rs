use std::net::TcpListener;
use std::process::{Command, Stdio};

use throng_sys::address::Address;

use throng_sys::kernel_threads::KernelThreads;
use throng_sys::steal::{CpuTime, CpuTimes};

use super::*;
use throng_child::Child;
use throng_child::Lines;

fn busy_child() -> Child {
    let mut command = Command::new("sh");
    command
        .args(["-c", "while :; do :; done"])
        .stdin(Stdio::null());
    Child::spawn(command, &[], Lines::Unwanted).expect("a shell")
}

#[test]
fn a_busy_server_is_seen_to_be_busy() {
    let child = busy_child();
    let tree = ProcessTree::of(child.pid()).expect("it runs");
    let mut observer = Observer::new(
        Some(Observed {
            tree,
            cpus: vec![0],
        }),
        Network::own(),
    );
    observer.connected();
    observer.measuring();
    std::thread::sleep(std::time::Duration::from_millis(300));
    observer.measured();
    let seen = observer.finish(&GeneratorFigures {
        connected: 10,
        replies: 1_000,
        ..GeneratorFigures::default()
    });
    let server = seen.server.expect("visible");
    // A fifteenth of a core at least, however many others run beside it.
    assert!(server.cpu_ns > 20_000_000, "{server:?}");
    assert!(server.window_ns >= 300_000_000);
    assert!(server.utilisation > 0.05);
    assert_eq!(
        server.cpu_per_message_ns,
        Some(server.cpu_ns as f64 / 1_000.0)
    );
    let busiest_ns = server.busiest_thread_ns.expect("its only thread is seen");
    assert!(busiest_ns > 20_000_000, "{server:?}");
    assert_eq!((server.processes_max, server.threads_max), (1, 1));
    assert!(server.memory_connected.rss_bytes > 0 && server.memory_measured.rss_bytes > 0);
    assert!(server.memory_per_connection_bytes.is_some());
    assert!(seen.generator.is_none());
    let stolen = seen.stolen.expect("/proc/stat is there");
    assert!(stolen.all_ns > 0 && stolen.cpus == 1, "{stolen:?}");
    assert_eq!(server.stolen_ns, Some(stolen.stolen_ns), "of its one CPU");
}

/// Of CPUs 0, 1 and 2, at a time at which each has been idle and busy for so long.
fn times(idle_and_busy_ms: [(u64, u64); 3]) -> Option<Moment> {
    let of_cpu = |(idle_ms, busy_ms): (u64, u64)| CpuTime {
        idle_ns: idle_ms * 600_000,
        iowait_ns: idle_ms * 400_000,
        user_ns: busy_ms * 1_000_000,
        ..CpuTime::default()
    };
    Some(Moment {
        at_ns: 0,
        cpus: CpuTimes {
            per_cpu: (0..).zip(idle_and_busy_ms.map(of_cpu)).collect(),
            ..CpuTimes::default()
        },
        lab_ns: 0,
        kernel: KernelThreads::default(),
    })
}

#[test]
fn what_nobody_used_of_the_servers_cpus_is_counted_but_for_a_tick_of_each() {
    let window = [
        times([(500, 500), (0, 0), (70, 30)]),
        times([(500, 1_500), (760, 240), (1_070, 30)]),
    ];
    for (cpus, idle) in [
        (&[0][..], 0.0),
        (&[1], 0.75),
        (&[0, 1], 0.75),
        (&[1, 2], 1.74),
    ] {
        let found = cores_idle(&window, cpus).expect("both are known");
        assert!((found - idle).abs() < 1e-9, "{cpus:?}: {found}");
    }
    assert_eq!(cores_idle(&window, &[1, 3]), None, "which went offline");
    assert_eq!(cores_idle(&[window[0].clone(), None], &[1]), None);
}

#[test]
fn a_server_that_vanishes_leaves_what_was_seen() {
    let child = busy_child();
    let tree = ProcessTree::of(child.pid()).expect("it runs");
    let mut observer = Observer::new(
        Some(Observed {
            tree,
            cpus: vec![0],
        }),
        Network::own(),
    );
    observer.measuring();
    drop(child);
    observer.measured();
    let server = observer
        .finish(&GeneratorFigures::default())
        .server
        .expect("was visible");
    assert!(server.memory_before.rss_bytes > 0);
    assert_eq!((server.window_ns, server.cpu_per_message_ns), (0, None));
}

#[test]
fn a_running_server_on_this_host_is_found_and_one_elsewhere_is_not() {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let here: Address = format!("127.0.0.1:{port}").parse().expect("an address");
    let found = find_running(std::slice::from_ref(&here)).expect("it is ours");
    assert_eq!(found.tree.root_pid(), std::process::id());
    assert!(!found.cpus.is_empty());
    // TEST-NET-1 (RFC 5737): never an address of this host.
    let elsewhere: Address = format!("192.0.2.1:{port}").parse().expect("an address");
    assert!(find_running(&[elsewhere]).is_none());
    drop(listener);
    assert!(find_running(std::slice::from_ref(&here)).is_none());
}
