//! Whole trials of servers that are worked out by hand, from their requests to the findings.

use std::collections::VecDeque;

use throng_findings::findings::{find, kind};
use throng_findings::{Account, Evidence};
use throng_record::{
    AcceptQueueRecord, ConnectionsPhase, ExchangePhase, Histogram, ListenerRecord, Measured,
    Network, Phases, Plan, RequestRecord, SideRecord, TargetKind, Trial, histogram,
};

use super::hand_made::{MS, PHASE_NS, Queue, answered, queue, seen};
use super::{Accounts, attribute};
use crate::job;
use crate::plan::{PlanDraft, resolve, test_environment};

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

/// A trial by hand, of a plan's only target at its only setting.
struct Case {
    plan: Plan,
    trial: Trial,
    seen: throng_findings::Observed,
}

impl Case {
    fn names(&self) -> Vec<&'static str> {
        let found = find(&Evidence {
            trial: &self.trial,
            target: &self.plan.targets[0],
            setting: &self.plan.settings[0],
            seen: &self.seen,
        });
        found.iter().map(|finding| kind(finding).name).collect()
    }

    fn account(&self) -> Account {
        self.seen.account.expect("of all requests")
    }

    fn requests(&self) -> &ConnectionsPhase {
        let phase = self.trial.phases.connections();
        phase.expect("each with a connection of its own")
    }
}

/// A trial of a user's server whose queue was observed, with both sides idle.
fn tried(server: Server, clients: usize) -> Case {
    let all = serve(server, clients, 5);
    let queue = sampled(&all);
    let mut first_bytes = histogram::empty();
    for served in &all {
        let latency_ns = (served.answered - served.arrived) * MS;
        first_bytes.record(latency_ns).expect("within range");
    }
    let mut connections = ConnectionsPhase {
        begun: all.len() as u64,
        started_at_monotonic_ns: PHASE_NS,
        first_byte_latency: Histogram::from(&first_bytes),
        requests: all.iter().map(request).collect(),
        ..ConnectionsPhase::default()
    };
    let of_requests = Accounts {
        queue: Some(&queue),
        overflows: Some(0),
        ..seen()
    };
    let account = attribute(&mut connections, &of_requests);
    let mut plan = plan(clients);
    plan.targets[0].kind = TargetKind::Command;
    let mut trial = Trial::new((0, 0, 0), job::for_tests());
    trial.network = Network::Private;
    trial.accept_queue = Some(accept_queue(&all, &queue));
    trial.server = Some(idle(0));
    trial.generator = Some(idle(1));
    trial.phases = Phases::from_iter([Measured::Request {
        exchange: ExchangePhase::default(),
        connections,
    }]);
    let seen = throng_findings::Observed {
        account: Some(account),
        ..throng_findings::Observed::default()
    };
    Case { plan, trial, seen }
}

fn plan(clients: usize) -> Plan {
    let text = format!(
        "experiment = 'backlog'\ntargets = ['poll']\nclients = {clients}\nservice-time = '{SERVICE_MS}ms'\nbacklog = {BACKLOG}"
    );
    let draft = PlanDraft::parse(&text, "test").expect("a plan");
    let resolved = resolve(draft, &test_environment(2));
    resolved.expect("a plan").plan
}

fn accept_queue(all: &[Served], queue: &Queue) -> AcceptQueueRecord {
    let waits = all.iter().map(|served| served.accepted - served.arrived);
    let duration = all.iter().map(|served| served.answered).max().unwrap_or(1);
    let depth_max = queue.depths.iter().map(|&(_, depth)| depth).max();
    AcceptQueueRecord {
        listeners: vec![ListenerRecord {
            address: "127.0.0.1:80".to_owned(),
            backlog: BACKLOG,
            depth_max: depth_max.unwrap_or(0),
            depth_mean: waits.sum::<u64>() as f64 / duration as f64,
            ..ListenerRecord::default()
        }],
        ..AcceptQueueRecord::default()
    }
}

/// A twentieth of a CPU, used by one thread.
fn idle(cpu: u32) -> SideRecord {
    SideRecord {
        cpus: vec![cpu],
        window_ns: 1_000 * MS,
        cpu_ns: 50 * MS,
        processes_max: 1,
        threads_max: 1,
        ..SideRecord::default()
    }
}

#[test]
fn an_iterative_server_has_too_few_acceptors_for_few_and_for_many_clients() {
    for clients in [4, 8, 32] {
        let case = tried(Server::Iterative, clients);
        assert_eq!(case.names(), ["too-few-acceptors"], "{clients} clients");
        assert_eq!(case.requests().attribution.not_explained, 0);
        assert_eq!(case.account().waiting_at_once_max, Some(clients as u32));
    }
}

#[test]
fn one_or_two_clients_of_an_iterative_server_hardly_wait() {
    for clients in [1, 2] {
        assert_eq!(tried(Server::Iterative, clients).names(), [""; 0]);
    }
}

#[test]
fn a_worker_behind_an_acceptor_blocks_the_head_of_the_line() {
    for clients in [8, 32] {
        let case = tried(Server::HandsOver, clients);
        assert_eq!(case.names(), ["head-of-line-blocking"], "{clients} clients");
        let counts = case.requests().attribution;
        assert!(counts.first_bytes_slow > 0);
        assert_eq!(counts.first_bytes_by_service, counts.first_bytes_slow);
    }
}

#[test]
fn a_loop_that_blocks_makes_requests_wait_inside_and_outside() {
    for clients in [8, 32] {
        let case = tried(Server::BlockedLoop, clients);
        assert_eq!(
            case.names(),
            ["too-few-acceptors", "head-of-line-blocking"],
            "{clients} clients"
        );
        assert_eq!(case.requests().attribution.not_explained, 0);
    }
}

#[test]
fn a_loop_that_blocks_but_would_accept_any_number_lacks_no_acceptors() {
    for clients in [8, 32] {
        let mut case = tried(Server::BlockedLoop, clients);
        case.plan.targets[0].kind = TargetKind::BuiltIn;
        assert_eq!(case.names(), ["head-of-line-blocking"], "{clients} clients");
    }
}
