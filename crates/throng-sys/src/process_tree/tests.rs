use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// A shell of its own process group that runs `script`, after its first line of output.
struct Launched(Child);

impl Launched {
    fn shell(script: &str) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        Self(child)
    }

    fn tree(&self) -> ProcessTree {
        ProcessTree::of(self.0.id()).unwrap()
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

#[test]
fn descendants_are_counted() {
    let launched = Launched::shell("sleep 60 & (sleep 60; true) & echo ready; wait");
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut sample = TreeSample::default();
    // The subshell may be slow to start its own child.
    while sample.processes != 4 {
        assert!(Instant::now() < deadline, "{sample:?}");
        sample = launched.tree().sample().unwrap().unwrap();
    }
    assert_eq!(sample.threads, 4);
    assert!(sample.rss_bytes > 0);
    assert!(sample.voluntary_switches.unwrap() > 0);
    assert!(
        launched
            .tree()
            .pids()
            .unwrap()
            .unwrap()
            .contains(&launched.0.id())
    );
}

#[test]
fn a_child_whose_parent_has_ended_is_still_found_by_its_group() {
    let launched = Launched::shell("(sleep 60 & exit 0); echo ready; read line");
    assert_eq!(launched.tree().sample().unwrap().unwrap().processes, 2);
}

#[test]
fn time_of_children_that_were_waited_for_is_included() {
    let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let launched = Launched::shell(&format!("(exec sh -c '{busy}'); echo ready; read line"));
    let sample = launched.tree().sample().unwrap().unwrap();
    assert_eq!(sample.processes, 1);
    let own_ns = process::cpu_time_ns(launched.0.id()).unwrap();
    assert!(
        sample.cpu_ns >= own_ns + 20_000_000,
        "{sample:?}, the root alone {own_ns}"
    );
    let by_ticks_ns = sample.user_ticks_ns + sample.system_ticks_ns;
    assert!(
        by_ticks_ns.abs_diff(sample.cpu_ns) <= 50_000_000,
        "{sample:?}"
    );
}

#[test]
fn a_zombie_has_no_threads_but_still_its_time_and_then_is_gone() {
    let mut launched = Launched::shell("echo ready; read line");
    let tree = launched.tree();
    drop(launched.0.stdin.take());
    while tree.sample().unwrap().unwrap().processes > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let zombie = tree.sample().unwrap().unwrap();
    assert_eq!((zombie.threads, zombie.rss_bytes), (0, 0));
    assert!(zombie.cpu_ns > 0);
    launched.0.wait().unwrap();
    assert_eq!(tree.sample().unwrap(), None);
    assert_eq!(tree.sample_memory().unwrap(), None);
    assert_eq!(tree.context_switches().unwrap(), None);
    assert!(process::is_gone(
        &ProcessTree::of(tree.root_pid()).unwrap_err()
    ));
}

#[test]
fn another_process_of_the_same_id_is_not_the_root() {
    let own = ProcessTree::of(std::process::id()).unwrap();
    let root = own.roots[0];
    let earlier = ProcessTree {
        roots: vec![Root {
            start_ticks: root.start_ticks - 1,
            ..root
        }],
    };
    assert_eq!(earlier.sample().unwrap(), None);
    assert_eq!(earlier.cpu_ns_of_each().unwrap(), [None]);
}

#[test]
fn several_trees_are_counted_together_each_process_once_and_one_may_end() {
    let busy = Launched::shell(
        "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; sleep 100 & echo ready; wait",
    );
    let idle = Launched::shell("echo ready; read never");
    let (both, of_busy) = (
        ProcessTree::joined([busy.tree(), idle.tree()]).unwrap(),
        busy.tree(),
    );
    assert_eq!(both.sample().unwrap().unwrap().processes, 3);
    let twice = ProcessTree::joined([of_busy.clone(), of_busy.clone()]).unwrap();
    assert_eq!(twice.sample().unwrap().unwrap().processes, 2);
    let each = both.cpu_ns_of_each().unwrap();
    assert!(each[0].unwrap() > each[1].unwrap(), "{each:?}");
    assert_eq!(ProcessTree::joined([]), None);
    drop(busy);
    let left = both.sample().unwrap().unwrap();
    assert_eq!(left.processes, 1);
    assert_eq!(both.cpu_ns_of_each().unwrap()[0], None);
}

#[test]
fn memory_is_exact_and_proportional_is_never_more() {
    let block = black_box(vec![1_u8; 8 << 20]);
    let own = ProcessTree::of(std::process::id()).unwrap();
    let memory = own.sample_memory().unwrap().unwrap();
    drop(block);
    assert!(memory.rss_bytes >= 8 << 20);
    assert!(memory.pss_bytes <= memory.rss_bytes);
    assert!(memory.processes >= 1);
}

#[test]
fn above_the_limit_context_switches_are_read_on_request_only() {
    let barrier = std::sync::Barrier::new(THREADS_WITH_SWITCHES_MAX as usize + 1);
    std::thread::scope(|scope| {
        for _ in 0..THREADS_WITH_SWITCHES_MAX {
            let wait = || barrier.wait();
            std::thread::Builder::new()
                .stack_size(64 << 10)
                .spawn_scoped(scope, wait)
                .unwrap();
        }
        let own = ProcessTree::of(std::process::id()).unwrap();
        let sample = own.sample().unwrap().unwrap();
        let switches = own.context_switches().unwrap().unwrap();
        barrier.wait();
        assert!(sample.threads > THREADS_WITH_SWITCHES_MAX);
        assert_eq!(
            (sample.voluntary_switches, sample.involuntary_switches),
            (None, None)
        );
        assert!(switches.voluntary > 0);
    });
}

#[test]
fn more_that_run_than_there_are_cpus_wait_for_them() {
    let loops = crate::affinity::allowed_cpus().len() + 1;
    let script = "while :; do :; done & ".repeat(loops);
    let launched = Launched::shell(&format!("{script} echo ready; wait"));
    let tree = launched.tree();
    let waited_ns = || tree.thread_times().unwrap().unwrap().run_delay_ns;
    let before_ns = waited_ns();
    while waited_ns() < before_ns + 5_000_000 {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(launched);
    assert_eq!(tree.thread_times().unwrap(), None);
}

#[test]
fn the_thread_that_ran_most_is_told_from_one_that_slept_and_one_that_is_new() {
    let times = |all: &[(u32, u64)]| ThreadTimes {
        run_delay_ns: 0,
        ran_ns: all.iter().copied().collect(),
    };
    let earlier = times(&[(7, 1_000), (8, 50)]);
    let later = times(&[(7, 1_010), (8, 90), (9, 5_000)]);
    assert_eq!(later.most_since(&earlier), Some(40));
    let without_one = times(&[(7, 1_010), (9, 5_000)]);
    assert_eq!(without_one.most_since(&earlier), None);
    let launched = Launched::shell("sleep 60 & echo ready; while :; do :; done");
    let tree = launched.tree();
    let begin = tree.thread_times().unwrap().unwrap();
    let most_ns = || tree.thread_times().unwrap()?.most_since(&begin);
    while most_ns() < Some(5_000_000) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
