//! Opening the doors: a model says when its listeners are opened and when it is ready, since some must do something first
//! (start a ring, fork their workers).

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use throng_record::HandOver;
use throng_record::built_in::{BuiltInModel, ServesAtOnce};
use throng_sys::address::Address;
use throng_sys::socket::ListenError;

use crate::listener::Listener;
use crate::tls::Identity;

/// Where and how to listen, and how long to take for an answer.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The addresses, at least one. Port 0 leaves the choice to the kernel.
    pub listen: Vec<Address>,
    /// The length asked of each accept queue; the kernel clamps it to `net.core.somaxconn`, and the queue holds one more.
    pub backlog: u32,
    /// Threads or processes that serve, for models in which that is a choice; `None` is the model's own number.
    pub workers: Option<NonZeroU32>,
    /// Threads that accept at each listener and hand each connection on, for the model in which that is a choice; `None`
    /// is one.
    pub accept_threads: Option<NonZeroU32>,
    /// How a message comes from the thread that has read it to those that write it, for the model in which they differ;
    /// `None` is [`HandOver::Condvar`].
    pub hand_over: Option<HandOver>,
    /// How long each answer waits whose request does not say itself. The echo workload takes none.
    pub delay: Duration,
    /// Whether a delay is slept out by the thread that serves, also where that has others to serve. It changes nothing
    /// in models that give each connection a thread or process.
    pub delay_inline: bool,
    /// Who the server is by TLS; absent, it speaks plainly.
    pub tls: Option<Identity>,
}

/// What a server tells before it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement<'a> {
    /// Threads, loops or processes that serve, where that is a fixed number.
    Workers(u32),
    /// The most connections that are served at the same time, where the design bounds that. Further ones wait in the
    /// accept queue until one of these closes.
    ///
    /// A bound by the machine's limits, such as descriptors, is not announced, though a loop with a table of its own knows it: whoever is told opens
    /// no more, so that the limit is never met, and the finding that names it, with the remedy, never made. A trial that meets it reads "serves
    /// k of N" by what the server notes at its end.
    ServesAtOnce(u64),
    /// A listener is open, and whoever connects is served. One for each address, in the order given, after the others.
    Ready(&'a Address),
}

/// Where a model listens, with how many workers, and whom it tells.
pub(crate) struct Opening<'a> {
    listen: &'a [Address],
    backlog: u32,
    workers: Option<NonZeroU32>,
    accept_threads: NonZeroU32,
    hand_over: HandOver,
    serves_at_once: Option<u64>,
    tell: &'a mut dyn FnMut(Announcement<'_>),
}

impl<'a> Opening<'a> {
    pub(crate) fn new(
        declaration: &BuiltInModel,
        options: &'a Options,
        workers: Option<NonZeroU32>,
        tell: &'a mut dyn FnMut(Announcement<'_>),
    ) -> Self {
        let serves_at_once = match declaration.serves_at_once {
            ServesAtOnce::OnePerWorker => workers.map(|workers| u64::from(workers.get())),
            // Only the model itself knows how many descriptors it has left.
            ServesAtOnce::Unbounded | ServesAtOnce::WithinFdSetSize => None,
        };
        Self {
            listen: &options.listen,
            backlog: options.backlog,
            workers,
            accept_threads: options.accept_threads.unwrap_or(NonZeroU32::MIN),
            hand_over: options.hand_over.unwrap_or_default(),
            serves_at_once,
            tell,
        }
    }

    /// Threads, loops or processes that serve; 1 where connections have their own.
    pub(crate) fn workers(&self) -> usize {
        self.workers.map_or(1, |workers| workers.get() as usize)
    }

    /// Threads that accept at each listener and hand each connection on, in the model that has a choice; 1 unless asked
    /// for more.
    pub(crate) fn accept_threads(&self) -> usize {
        self.accept_threads.get() as usize
    }

    /// How a message comes from its reader to everybody's writers, in the model in which those differ.
    pub(crate) fn hand_over(&self) -> HandOver {
        self.hand_over
    }

    /// For a model whose bound shows only when it runs.
    pub(crate) fn bound(&mut self, serves_at_once: u64) {
        self.serves_at_once = Some(serves_at_once);
    }

    /// Every listener, or none: where one fails, those before it are closed again.
    pub(crate) fn listeners(&self) -> Result<Vec<Listener>, ListenError> {
        let open = |address| Listener::open(address, self.backlog);
        self.listen.iter().map(open).collect()
    }

    /// For each worker, which is at least one, a listener on every address: TCP addresses only.
    pub(crate) fn listeners_of_each_worker(&self) -> Result<Vec<Vec<Listener>>, ListenError> {
        let workers = NonZeroUsize::new(self.workers()).unwrap_or(NonZeroUsize::MIN);
        let mut of_each: Vec<Vec<Listener>> = (0..workers.get()).map(|_| Vec::new()).collect();
        for address in self.listen {
            let sharing = Listener::open_sharing(address, self.backlog, workers)?;
            for (own, listener) in of_each.iter_mut().zip(sharing) {
                own.push(listener);
            }
        }
        Ok(of_each)
    }

    /// Connections that can wait in one accept queue, which holds one more than it was asked to.
    pub(crate) fn waiting_max(&self) -> usize {
        self.backlog as usize + 1
    }

    /// Everything is there: whoever connects from now on is served.
    pub(crate) fn ready(&mut self, listeners: &[Listener]) {
        self.ready_at(listeners.iter().map(Listener::address));
    }

    /// As [`Opening::ready`], for a model whose listeners are elsewhere by now.
    pub(crate) fn ready_at<'b>(&mut self, addresses: impl IntoIterator<Item = &'b Address>) {
        if let Some(workers) = self.workers {
            (self.tell)(Announcement::Workers(workers.get()));
        }
        if let Some(connections) = self.serves_at_once {
            (self.tell)(Announcement::ServesAtOnce(connections));
        }
        for address in addresses {
            (self.tell)(Announcement::Ready(address));
        }
    }
}
