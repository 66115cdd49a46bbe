//! Whole trials of servers that are worked out by hand, from their requests to the findings.

use std::collections::VecDeque;

use throng_findings::findings::kind;
use throng_record::{ConnectionsPhase, RequestRecord};

use super::findings::hand_made::{Case, histogram, listener};
use super::hand_made::{MS, PHASE_NS, Queue, answered, queue, seen};
use super::{Seen, attribute, findings};

const SERVICE_MS: u64 = 40;
const BACKLOG: u32 = 256;

/// A server with one worker that sleeps through each service.
#[derive(Clone, Copy)]
enum Server {
    /// Accepts one connection, serves it, accepts the next.
    Iterative,
    /// A loop that accepts all that wait, then serves one after the other, and blocks meanwhile.
    BlockedLoop,
    /// Accepts at once and hands over to the worker.
    HandsOver,
}

/// A request in milliseconds since the phase's start.
struct Served {
    arrived: u64,
    accepted: u64,
    answered: u64,
}

/// A closed loop of so many clients with so many requests each, from the first connect to the last answer.
fn serve(server: Server, clients: usize, requests_each: usize) -> Vec<Served> {
    let mut waiting: VecDeque<(usize, u64)> = (0..clients).map(|_| (requests_each, 0)).collect();
    let mut all = Vec::new();
    let mut now = 0;
    while !waiting.is_empty() {
        let batch = match server {
            Server::BlockedLoop => waiting.len(),
            Server::Iterative | Server::HandsOver => 1,
        };
        let accepted_by_loop = now;
        for (left, arrived) in waiting.drain(..batch).collect::<Vec<_>>() {
            now += SERVICE_MS;
            all.push(Served {
                arrived,
                accepted: match server {
                    Server::HandsOver => arrived,
                    Server::Iterative | Server::BlockedLoop => accepted_by_loop,
                },
                answered: now,
            });
            if left > 1 {
                waiting.push_back((left - 1, now));
            }
        }
    }
    all
}

fn request(served: &Served) -> RequestRecord {
    RequestRecord {
        started_ns: served.arrived * MS,
        ..answered(served.answered - served.arrived)
    }
}

/// The accept queue as sampled.
fn sampled(all: &[Served]) -> Queue {
    let end = all.iter().map(|served| served.answered).max().unwrap_or(0);
    let depth_at = |at: u64| {
        let waits = |served: &&Served| (served.arrived..served.accepted).contains(&at);
        all.iter().filter(waits).count() as u32
    };
    let mut depths: Vec<(u64, u32)> = (0..=end).map(|at| (at, depth_at(at))).collect();
    depths.dedup_by_key(|&mut (_, depth)| depth);
    queue(&depths)
}

/// The trial's findings, by name, and what is said of it otherwise.
fn explained(server: Server, clients: usize) -> (Vec<&'static str>, Case) {
    let case = tried(server, clients);
    let found = findings(&case.evidence());
    (
        found.iter().map(|finding| kind(finding).name).collect(),
        case,
    )
}

fn tried(server: Server, clients: usize) -> Case {
    let all = serve(server, clients, 5);
    let queue = sampled(&all);
    let mut case = Case::backlog();
    case.setting.connections = clients as u32;
    let first_bytes = all.iter().map(|served| served.answered - served.arrived);
    case.phase = ConnectionsPhase {
        begun: all.len() as u64,
        started_at_monotonic_ns: PHASE_NS,
        first_byte_latency: histogram(&first_bytes.map(|ms| (ms * MS, 1)).collect::<Vec<_>>()),
        requests: all.iter().map(request).collect(),
        ..ConnectionsPhase::default()
    };
    let seen = Seen {
        queue: Some(&queue),
        overflows: Some(0),
        ..seen()
    };
    case.account = attribute(&mut case.phase, &seen);
    let queued: u64 = all
        .iter()
        .map(|served| served.accepted - served.arrived)
        .sum();
    let duration = all.iter().map(|served| served.answered).max().unwrap_or(1);
    let depth_max = queue.depths.iter().map(|&(_, depth)| depth).max();
    let depth_mean = queued as f64 / duration as f64;
    case.queue.listeners = vec![listener(BACKLOG, depth_max.unwrap_or(0), depth_mean)];
    case
}

#[test]
fn an_iterative_server_has_too_few_acceptors_for_few_and_for_many_clients() {
    for clients in [4, 8, 32] {
        let (names, case) = explained(Server::Iterative, clients);
        assert_eq!(names, ["too-few-acceptors"], "{clients} clients");
        assert_eq!(case.phase.attribution.not_explained, 0);
        assert_eq!(case.account.waiting_at_once_max, Some(clients as u32));
    }
}

#[test]
fn one_or_two_clients_of_an_iterative_server_hardly_wait() {
    for clients in [1, 2] {
        assert_eq!(explained(Server::Iterative, clients).0, [""; 0]);
    }
}

#[test]
fn a_worker_behind_an_acceptor_blocks_the_head_of_the_line() {
    for clients in [8, 32] {
        let (names, case) = explained(Server::HandsOver, clients);
        assert_eq!(names, ["head-of-line-blocking"], "{clients} clients");
        let counts = case.phase.attribution;
        assert!(counts.first_bytes_slow > 0);
        assert_eq!(counts.first_bytes_by_service, counts.first_bytes_slow);
    }
}

#[test]
fn a_loop_that_blocks_makes_requests_wait_inside_and_outside() {
    for clients in [8, 32] {
        let (names, case) = explained(Server::BlockedLoop, clients);
        assert_eq!(
            names,
            ["too-few-acceptors", "head-of-line-blocking"],
            "{clients} clients"
        );
        assert_eq!(case.phase.attribution.not_explained, 0);
    }
}

#[test]
fn a_loop_that_blocks_but_would_accept_any_number_lacks_no_acceptors() {
    for clients in [8, 32] {
        let mut case = tried(Server::BlockedLoop, clients);
        case.accepts_any_number = true;
        let found = findings(&case.evidence());
        let names: Vec<&str> = found.iter().map(|finding| kind(finding).name).collect();
        assert_eq!(names, ["head-of-line-blocking"], "{clients} clients");
    }
}
