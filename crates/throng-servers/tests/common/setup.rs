//! What a server under test is started with.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use throng_record::{HandOver, Workload};
use throng_servers::Model;
use throng_sys::address::Address;

use super::server::Server;

/// Workers of models that have more by themselves: enough to differ from one, few enough for many servers at once.
const WORKERS_MAX: NonZeroU32 = NonZeroU32::new(8).expect("not zero");

/// A server that is not started yet.
pub(crate) struct Setup {
    pub(super) model: Model,
    pub(super) listen: Vec<Address>,
    pub(super) workers: Option<NonZeroU32>,
    pub(super) open_files_max: Option<u32>,
    pub(super) workload: Workload,
    pub(super) delay: Duration,
    pub(super) delay_inline: bool,
    pub(super) accept_threads: Option<NonZeroU32>,
    pub(super) hand_over: Option<HandOver>,
}

impl Setup {
    pub(crate) fn new(model: Model, listen: Vec<Address>) -> Self {
        let has_many = model.workers(None).is_some_and(|own| own > WORKERS_MAX);
        Self {
            model,
            listen,
            workers: has_many.then_some(WORKERS_MAX),
            open_files_max: None,
            workload: Workload::Echo,
            delay: Duration::ZERO,
            delay_inline: false,
            accept_threads: None,
            hand_over: None,
        }
    }

    /// `None` is the model's own number.
    pub(crate) fn workers(mut self, workers: Option<NonZeroU32>) -> Self {
        self.workers = workers;
        self
    }

    /// Several connections in one loop: where it has several loops, one.
    pub(crate) fn one_loop(self) -> Self {
        let is_choice = self.model.declaration().uses_every_cpu();
        if is_choice {
            self.workers(Some(NonZeroU32::MIN))
        } else {
            self
        }
    }

    /// Its `ulimit -n`.
    pub(crate) fn open_files_max(mut self, limit: u32) -> Self {
        self.open_files_max = Some(limit);
        self
    }

    /// What it answers, where that is not an echo.
    pub(crate) fn workload(mut self, workload: Workload) -> Self {
        self.workload = workload;
        self
    }

    /// How long each answer waits whose request does not say itself.
    pub(crate) fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The handler sleeps the delay out itself.
    pub(crate) fn delay_inline(mut self) -> Self {
        self.delay_inline = true;
        self
    }

    /// Threads that do nothing but accept.
    pub(crate) fn accept_threads(mut self, threads: NonZeroU32) -> Self {
        self.accept_threads = Some(threads);
        self
    }

    /// How a message comes from its reader to the writers.
    pub(crate) fn hand_over(mut self, hand_over: HandOver) -> Self {
        self.hand_over = Some(hand_over);
        self
    }

    pub(crate) fn start(self) -> Server {
        let mut server = Server::spawn(&self);
        let workers = server.read_announcements(self.listen.len());
        assert_eq!(
            workers,
            self.model.workers(self.workers),
            "the announced workers are those asked for"
        );
        server
    }

    /// What a server says that does not start.
    pub(crate) fn start_in_vain(self) -> String {
        Server::spawn(&self).ends_unready()
    }
}

/// An address on which nobody else listens.
pub(super) fn unix_address() -> Address {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("throng-servers-{}-{number}.sock", std::process::id());
    Address::Unix(std::env::temp_dir().join(name))
}
