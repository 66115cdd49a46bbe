//! Forked children: how they run, how they leave, what is left of them.
//!
//! Without a test harness, whose threads would forbid forking.
#![expect(
    clippy::print_stdout,
    reason = "it reports like the test harness that it is without"
)]

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use throng_sys::children::{Children, ForkError};
use throng_sys::clock::{SECOND_NS, monotonic_ns};
use throng_sys::descriptor_table;
use throng_sys::poll::{PollSet, READABLE};
use throng_sys::shared_counters::SharedCounters;
use throng_sys::socket;

const PATIENCE_MS: u32 = 10_000;

fn main() {
    let filter = std::env::args()
        .nth(1)
        .filter(|word| !word.starts_with('-'));
    type Test = (&'static str, fn());
    let tests: [Test; 10] = [
        (
            "a_child_runs_its_body_and_is_reaped",
            a_child_runs_its_body_and_is_reaped,
        ),
        ("a_panic_ends_the_child_only", a_panic_ends_the_child_only),
        (
            "what_a_child_counts_its_parent_sees",
            what_a_child_counts_its_parent_sees,
        ),
        (
            "asked_to_leave_it_answers_what_has_come",
            asked_to_leave_it_answers_what_has_come,
        ),
        (
            "asked_before_it_serves_it_leaves_as_well",
            asked_before_it_serves_it_leaves_as_well,
        ),
        (
            "a_blocked_write_is_ended_and_counted",
            a_blocked_write_is_ended_and_counted,
        ),
        ("a_wait_lasts_until_its_time", a_wait_lasts_until_its_time),
        (
            "asked_to_leave_it_waits_no_longer",
            asked_to_leave_it_waits_no_longer,
        ),
        ("who_does_not_leave_is_killed", who_does_not_leave_is_killed),
        (
            "a_process_with_threads_cannot_fork",
            a_process_with_threads_cannot_fork,
        ),
    ];
    let mut passed = 0;
    for (name, test) in tests {
        if filter.as_ref().is_none_or(|filter| name.contains(filter)) {
            test();
            println!("test {name} ... ok");
            passed += 1;
        }
    }
    println!("\ntest result: ok. {passed} passed; 0 failed");
}

/// Waits until so many have ended.
fn reap(children: &mut Children, count: usize) -> Vec<(u32, ExitStatus)> {
    let mut reaped = Vec::new();
    while reaped.len() < count {
        let mut set = PollSet::new();
        set.push(&*children, READABLE);
        assert_ne!(
            set.wait(Some(PATIENCE_MS)).expect("polled"),
            0,
            "{reaped:?}"
        );
        reaped.extend(children.reap().expect("reaped"));
    }
    reaped
}

fn a_child_runs_its_body_and_is_reaped() {
    let mut children = Children::take_over().expect("taken over");
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let mut started: Vec<u32> = (0..7_u8)
        .map(|number| {
            let far = far.as_fd();
            let body = |_: &_| {
                socket::send(far, &[number]).expect("sent");
            };
            children.fork(body).expect("forked")
        })
        .collect();
    drop(far);
    assert_eq!(children.len(), 7);
    let mut said = Vec::new();
    near.read_to_end(&mut said).expect("every child has ended");
    said.sort_unstable();
    assert_eq!(said, [0, 1, 2, 3, 4, 5, 6]);

    let reaped = reap(&mut children, 7);
    assert!(
        reaped.iter().all(|(_, status)| status.success()),
        "{reaped:?}"
    );
    let mut ended: Vec<u32> = reaped.into_iter().map(|(child, _)| child).collect();
    ended.sort_unstable();
    started.sort_unstable();
    assert_eq!(ended, started);
    assert!(children.is_empty());
    assert!(children.reap().expect("none is left").is_empty());
}

fn a_panic_ends_the_child_only() {
    let parent = std::process::id();
    let mut children = Children::take_over().expect("taken over");
    let body = |_: &_| {
        // Not reported: it is meant.
        std::panic::set_hook(Box::new(|_| ()));
        panic!("in the child");
    };
    children.fork(body).expect("forked");
    let reaped = reap(&mut children, 1);
    assert_eq!(reaped[0].1.code(), Some(101));
    assert_eq!(std::process::id(), parent, "the child has not come here");
}

fn what_a_child_counts_its_parent_sees() {
    let mut children = Children::take_over().expect("taken over");
    let counters = SharedCounters::new(3).expect("mapped");
    for lane in counters.lanes() {
        let body = |_: &_| {
            lane[0].fetch_add(101, Relaxed);
            // However it ends.
            std::process::abort();
        };
        children.fork(body).expect("forked");
    }
    let reaped = reap(&mut children, 3);
    assert!(reaped.iter().all(|(_, status)| status.signal().is_some()));
    assert_eq!(counters.sum(0), 303);
}

/// An echo that blocks.
fn echo(connection: &UnixStream) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = socket::receive(connection, &mut buffer) {
        socket::send(connection, &buffer[..length]).expect("sent");
    }
}

fn asked_to_leave_it_answers_what_has_come() {
    let mut children = Children::take_over().expect("taken over");
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let far_fd = far.as_fd();
    let body = |leaving: &throng_sys::children::Leaving| {
        descriptor_table::make_private(&[far_fd]).expect("closed");
        leaving.while_serving(far_fd, || echo(&far));
        assert!(leaving.is_asked());
    };
    children.fork(body).expect("forked");
    let mut byte = [0];
    near.write_all(b"a").expect("sent");
    near.read_exact(&mut byte)
        .expect("it blocks in a read now, or is about to");
    near.write_all(b"b").expect("sent");
    children.ask_to_leave();
    let reaped = reap(&mut children, 1);
    assert!(reaped[0].1.success(), "{reaped:?}");
    drop(far);
    let mut rest = String::new();
    near.read_to_string(&mut rest).expect("ended in order");
    assert_eq!(rest, "b");
}

fn asked_before_it_serves_it_leaves_as_well() {
    let mut children = Children::take_over().expect("taken over");
    for _ in 0..200 {
        let (_near, far) = UnixStream::pair().expect("a pair");
        let body = |leaving: &throng_sys::children::Leaving| {
            leaving.while_serving(far.as_fd(), || echo(&far));
        };
        children.fork(body).expect("forked");
        // At whatever point of its start it is.
        children.ask_to_leave();
        let reaped = reap(&mut children, 1);
        assert!(reaped[0].1.success(), "{reaped:?}");
    }
}

fn a_blocked_write_is_ended_and_counted() {
    let mut children = Children::take_over().expect("taken over");
    let counters = SharedCounters::new(1).expect("mapped");
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let body = |leaving: &throng_sys::children::Leaving| {
        leaving.while_serving(far.as_fd(), || {
            while let Ok(sent) = socket::send(&far, &[7; 1 << 20]) {
                counters.lanes()[0][0].fetch_add(sent as u64, Relaxed);
            }
        });
    };
    children.fork(body).expect("forked");
    // Something has come: it sends until it blocks.
    near.read_exact(&mut [0; 1000]).expect("sent");
    children.ask_to_leave();
    std::thread::sleep(Duration::from_millis(20));
    assert!(
        children.reap().expect("reaped").is_empty(),
        "it is still owed"
    );
    children.end().expect("ended");
    assert!(children.is_empty());
    drop(far);
    let mut rest = Vec::new();
    near.read_to_end(&mut rest).expect("read");
    assert_eq!(counters.sum(0), 1000 + rest.len() as u64);
}

fn a_wait_lasts_until_its_time() {
    let mut children = Children::take_over().expect("taken over");
    let counters = SharedCounters::new(1).expect("mapped");
    let body = |leaving: &throng_sys::children::Leaving| {
        let begin_ns = monotonic_ns();
        leaving.sit_out(Duration::from_millis(5));
        counters.lanes()[0][0].store(monotonic_ns() - begin_ns, Relaxed);
    };
    children.fork(body).expect("forked");
    let reaped = reap(&mut children, 1);
    assert!(reaped[0].1.success(), "{reaped:?}");
    assert!(counters.sum(0) >= 5_000_000);
}

fn asked_to_leave_it_waits_no_longer() {
    let mut children = Children::take_over().expect("taken over");
    let counters = SharedCounters::new(1).expect("mapped");
    for round in 0..200 {
        let body = |leaving: &throng_sys::children::Leaving| {
            leaving.sit_out(Duration::MAX);
            leaving.sit_out(Duration::from_secs(1000));
            counters.lanes()[0][0].fetch_add(1, Relaxed);
        };
        children.fork(body).expect("forked");
        // At whatever point of its start or its wait it is.
        std::thread::sleep(Duration::from_micros(10 * round));
        children.ask_to_leave();
        let reaped = reap(&mut children, 1);
        assert!(reaped[0].1.success(), "{reaped:?}");
    }
    assert_eq!(counters.sum(0), 200, "each has gone on after its waits");
}

fn who_does_not_leave_is_killed() {
    let mut children = Children::take_over().expect("taken over");
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let body = |_: &_| {
        std::thread::sleep(Duration::from_secs(1000));
    };
    children.fork(body).expect("forked");
    let begin_ns = monotonic_ns();
    children.end().expect("ended");
    assert!(children.is_empty());
    // Dropping ends them too.
    children.fork(body).expect("forked");
    drop(children);
    assert!(monotonic_ns() - begin_ns < 100 * SECOND_NS);
    drop(far);
    assert_eq!(near.read(&mut [0]).expect("read"), 0, "no child holds it");
}

fn a_process_with_threads_cannot_fork() {
    let mut children = Children::take_over().expect("taken over");
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || gone.recv());
    let error = children.fork(|_| ()).expect_err("two threads");
    assert!(matches!(error, ForkError::Threads(2)), "{error}");
    drop(go);
    other.join().expect("no panic").expect_err("hung up");
    assert!(children.is_empty());
}
