//! Clients with a task at each of several services: requests one after another, as [`throng_record::tasks`] draws them.
//!
//! A task has one request under way. Which connection carries the next is chosen by chance among those that the task has and that are still open. A
//! request that fails ends its task, as it ends the loop of a program that makes it; the client's other tasks go on.

use throng_record::{TaskClient, TaskTarget, TasksRecord, TasksSpec};

use super::{Pacing, Send};

const NO_CONNECTION: &str = "none of its connections was open";
const CLOSED: &str = "the last of its connections was closed between two requests";

/// The tasks of one shard's clients.
pub(crate) struct Tasks {
    spec: TasksSpec,
    /// Connections of a task, or 1 where each request makes its own.
    slots_of_task: u32,
    /// Requests of a task.
    each: u64,
    /// Client by client, in the order of the services.
    tasks: Vec<Task>,
    clients: Vec<Client>,
    services: Vec<TaskTarget>,
    listeners: Vec<TaskTarget>,
    begun_at_ns: u64,
    /// Tasks that have not ended.
    open: usize,
    random: fastrand::Rng,
}

#[derive(Clone, Debug, Default)]
struct Task {
    /// Requests that are still to be sent.
    left: u64,
    /// Those of its slots that can carry one.
    slots: Vec<u32>,
    has_ended: bool,
    /// When its request under way could be sent.
    since_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Client {
    /// The first of its tasks that has not begun.
    next: u32,
    record: TaskClient,
}

impl Tasks {
    /// `slots_of_task`: its connections, or 1 where each request makes its own. `addresses`: how many all services have together.
    pub(crate) fn new(
        spec: TasksSpec,
        slots_of_task: u32,
        each: u64,
        addresses: usize,
        seed: u64,
    ) -> Self {
        let services = spec.services as usize;
        Self {
            spec,
            slots_of_task,
            each,
            tasks: Vec::new(),
            clients: Vec::new(),
            services: vec![TaskTarget::default(); services],
            listeners: vec![TaskTarget::default(); addresses / services],
            begun_at_ns: 0,
            open: 0,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// The connections of a client stand in the order of their listeners, and among those in that of the services.
    fn of_slot(&self, slot: u32) -> usize {
        let services = self.spec.services;
        let client = slot / (services * self.slots_of_task);
        (client * services + slot % services) as usize
    }

    fn client_of(&self, task: usize) -> usize {
        task / self.spec.services as usize
    }

    fn service_of(&self, task: usize) -> usize {
        task % self.spec.services as usize
    }

    fn since_begin_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.begun_at_ns)
    }

    #[inline]
    fn send(&mut self, task: usize, now_ns: u64, sends: &mut Vec<Send>) {
        let task = &mut self.tasks[task];
        let place = match task.slots.len() {
            1 => 0,
            several => self.random.usize(..several),
        };
        task.left -= 1;
        task.since_ns = now_ns;
        sends.push(Send::at(task.slots[place], now_ns));
    }

    /// Begins the next of a client's tasks that can be done.
    fn begin_next(&mut self, client: usize, now_ns: u64, sends: &mut Vec<Send>) {
        while self.clients[client].next < self.spec.services {
            let task = client * self.spec.services as usize + self.clients[client].next as usize;
            self.clients[client].next += 1;
            if self.tasks[task].slots.is_empty() {
                self.fail(task, now_ns, NO_CONNECTION);
                continue;
            }
            return self.send(task, now_ns, sends);
        }
    }

    fn end(&mut self, task: usize, now_ns: u64) {
        self.tasks[task].has_ended = true;
        self.open -= 1;
        let (since_ns, client) = (self.since_begin_ns(now_ns), self.client_of(task));
        self.clients[client].record.duration_ns = since_ns;
    }

    #[cold]
    fn fail(&mut self, task: usize, now_ns: u64, why: &str) {
        self.end(task, now_ns);
        let (client, service) = (self.client_of(task), self.service_of(task));
        self.clients[client].record.unfinished += 1;
        self.services[service].fail(why);
    }
}

impl Pacing for Tasks {
    fn begin(&mut self, slots: &[u32], now_ns: u64, sends: &mut Vec<Send>) {
        self.begun_at_ns = now_ns;
        let of_client = self.spec.services * self.slots_of_task;
        let clients = slots.iter().max().map_or(0, |slot| slot / of_client + 1);
        self.open = (clients * self.spec.services) as usize;
        let left = self.each;
        self.tasks = vec![
            Task {
                left,
                ..Task::default()
            };
            self.open
        ];
        self.clients = vec![Client::default(); clients as usize];
        for &slot in slots {
            let task = self.of_slot(slot);
            self.tasks[task].slots.push(slot);
        }
        for client in 0..clients as usize {
            for _ in 0..self.spec.at_once.min(self.spec.services) {
                self.begin_next(client, now_ns, sends);
            }
        }
    }

    fn replied(&mut self, _slot: u32, _now_ns: u64, _sends: &mut Vec<Send>) {}

    #[inline]
    fn ended(
        &mut self,
        slot: u32,
        address: impl FnOnce() -> usize,
        now_ns: u64,
        outcome: Result<(), &str>,
        sends: &mut Vec<Send>,
    ) {
        let task = self.of_slot(slot);
        if self.tasks[task].has_ended {
            return;
        }
        let (since_ns, client, service) = (
            self.since_begin_ns(now_ns),
            self.client_of(task),
            self.service_of(task),
        );
        // Addresses stand listener by listener.
        let listener = address() / self.services.len();
        match outcome {
            Ok(()) => {
                self.clients[client].record.answered += 1;
                let request_ns = now_ns.saturating_sub(self.tasks[task].since_ns);
                self.services[service].answer(request_ns, since_ns);
                self.listeners[listener].answer(request_ns, since_ns);
                if self.tasks[task].left > 0 {
                    return self.send(task, now_ns, sends);
                }
                self.end(task, now_ns);
            }
            Err(why) => {
                self.listeners[listener].fail(why);
                self.fail(task, now_ns, why);
            }
        }
        self.begin_next(client, now_ns, sends);
    }

    /// One that had a request under way has been told of already.
    fn lost(&mut self, slot: u32, _outstanding: u32, now_ns: u64, sends: &mut Vec<Send>) {
        let task = self.of_slot(slot);
        self.tasks[task].slots.retain(|&own| own != slot);
        let is_over = self.tasks[task].has_ended || !self.tasks[task].slots.is_empty();
        let client = self.client_of(task);
        // One that has not begun finds out when it does.
        if !is_over && self.service_of(task) < self.clients[client].next as usize {
            self.fail(task, now_ns, CLOSED);
            self.begin_next(client, now_ns, sends);
        }
    }

    fn is_done(&self) -> bool {
        self.open == 0
    }

    fn tasks(&mut self) -> Option<TasksRecord> {
        let services = self.spec.services as usize;
        for (place, task) in self.tasks.iter().enumerate() {
            let client = &mut self.clients[place / services].record;
            client.unfinished += u32::from(!task.has_ended);
        }
        Some(TasksRecord {
            clients: self.clients.iter().map(|client| client.record).collect(),
            services: std::mem::take(&mut self.services),
            listeners: std::mem::take(&mut self.listeners),
        })
    }
}
