//! Clients of several services at once: each has a task with every service, of so many requests one after another, and is done when all of
//! its tasks are.
//!
//! ```text
//! client 0 ─┬─ task with service 0: request, reply, request, reply …      kept: a connection for each task, or one to each listener
//!           ├─ task with service 1: request, reply …                            of the service, of which a request takes one by chance
//! client 1 ─┼─ task with service 0: …
//!           └─ …
//! ```
//!
//! The addresses of a fleet stand in the order of their listeners, and the connections in that of the clients: connection `i` of a client goes to
//! address `i` modulo their number, so that a client with one connection to each service is bound to the listener whose number is its own, modulo
//! theirs.

use serde::{Deserialize, Serialize};

/// How the clients of several services go about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TasksSpec {
    /// Services, at least 1: a client has a task with each.
    pub services: u32,
    /// Listeners of a service among which each request chooses by chance, at least 1. Where connections are kept a task has one to each.
    pub choices: u32,
    /// Tasks of a client that are under way at once, at least 1; the next begins when one is done.
    pub at_once: u32,
}

/// What became of the clients and of the services.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TasksRecord {
    /// Each client, in the order of their numbers.
    pub clients: Vec<TaskClient>,
    /// Each service, in the order of their numbers.
    pub services: Vec<TaskTarget>,
    /// Listeners in the order of their numbers within a service: all first ones of the services together, all second ones, and so on.
    pub listeners: Vec<TaskTarget>,
}

/// One client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskClient {
    /// From the begin of the exchange, when all clients begin, to the end of its last task.
    pub duration_ns: u64,
    /// Requests answered rightly.
    pub answered: u64,
    /// Tasks that were not done to their end: a request failed, or the run was ended early.
    pub unfinished: u32,
}

/// What was asked: a service, or the listeners of all services that have one number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskTarget {
    /// From the begin of the exchange to its last reply; 0 where none came.
    pub duration_ns: u64,
    /// Requests answered rightly.
    pub answered: u64,
    /// Σ over answered requests of the time from the moment at which it could be sent to its reply. ÷ `answered` it is the mean time of a request,
    /// its connect included where it has one.
    pub requests_ns: u64,
    /// Tasks with it that ended since a request failed. A task that found no connection open failed at no listener.
    pub failed: u32,
    /// How the first of these failed, in words; absent where none did.
    pub first_failure: Option<String>,
}

impl TaskTarget {
    /// One more request is answered, `request_ns` after it could be sent and `since_begin_ns` after the begin of the exchange.
    #[inline]
    pub fn answer(&mut self, request_ns: u64, since_begin_ns: u64) {
        self.answered += 1;
        self.requests_ns += request_ns;
        self.duration_ns = since_begin_ns;
    }

    /// One more task has failed.
    pub fn fail(&mut self, why: &str) {
        self.failed += 1;
        self.first_failure.get_or_insert_with(|| why.to_owned());
    }

    fn merge(&mut self, other: Self) {
        self.duration_ns = self.duration_ns.max(other.duration_ns);
        self.answered += other.answered;
        self.requests_ns += other.requests_ns;
        self.failed += other.failed;
        self.first_failure = self.first_failure.take().or(other.first_failure);
    }

    /// The mean time of a request; absent where none was answered.
    #[must_use]
    pub fn request_ns_mean(&self) -> Option<f64> {
        (self.answered > 0).then(|| self.requests_ns as f64 / self.answered as f64)
    }
}

impl TasksRecord {
    /// Adds what another part of the generator measured: clients of its own, at the same services.
    pub fn merge(&mut self, other: Self) {
        self.clients.extend(other.clients);
        merge_each(&mut self.services, other.services);
        merge_each(&mut self.listeners, other.listeners);
    }

    /// Services of which a task failed, by number from 1.
    pub fn failed_services(&self) -> impl Iterator<Item = (usize, &TaskTarget)> {
        let numbered = (1..).zip(&self.services);
        numbered.filter(|(_, service)| service.failed > 0)
    }

    /// The clients that had every reply: nanoseconds each.
    pub fn completion_ns(&self) -> impl Iterator<Item = u64> {
        let whole = self.clients.iter().filter(|client| client.unfinished == 0);
        whole.map(|client| client.duration_ns)
    }
}

fn merge_each(own: &mut Vec<TaskTarget>, others: Vec<TaskTarget>) {
    own.resize(own.len().max(others.len()), TaskTarget::default());
    for (own, other) in own.iter_mut().zip(others) {
        own.merge(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_generator_have_clients_of_their_own_and_services_in_common() {
        let part = |duration_ns, failed| TasksRecord {
            clients: vec![TaskClient {
                duration_ns,
                answered: 14,
                unfinished: failed,
            }],
            services: vec![
                TaskTarget {
                    duration_ns,
                    answered: 7,
                    requests_ns: duration_ns,
                    failed,
                    first_failure: (failed > 0).then(|| format!("after {duration_ns}")),
                },
                TaskTarget::default(),
            ],
            listeners: vec![],
        };
        let mut whole = TasksRecord::default();
        whole.merge(part(20, 0));
        whole.merge(part(30, 1));
        whole.merge(part(10, 1));
        assert_eq!(whole.completion_ns().collect::<Vec<_>>(), [20]);
        let failed: Vec<_> = whole.failed_services().collect();
        let expected = TaskTarget {
            duration_ns: 30,
            answered: 21,
            requests_ns: 60,
            failed: 2,
            first_failure: Some("after 30".to_owned()),
        };
        assert_eq!(failed, [(1, &expected)]);
    }
}
