//! How full a listener's accept queue is, a thousand times a second.
//!
//! One listener is looked up exactly (`sock_diag(7)`, 3 µs); several that share an address (`SO_REUSEPORT`) are listed by a dump of
//! the listeners on their port (12 µs). With cold caches, and with falling asleep and waking up, which is one context switch and
//! the setting of a timer, a look takes some 30 µs of CPU in a virtual machine: 3 % of a core. Which it is, is found out at the start, once a second, and when a listener is gone. Each
//! listener has a queue, a limit and so a history of its own; their sum is kept beside them.
//!
//! A queue that fills and empties between two looks is not seen: the kernel's counters of overflows are exact, this is
//! not. A look is stamped when its answer has come, so what it shows was so a little before.

mod timeline;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use throng_sys::clock::monotonic_ns;
use throng_sys::namespace::Network;
use throng_sys::sock_diag::{Listener, LookUp, SocketDiagnostics};

use super::periodic::Periodic;
pub(crate) use timeline::Timeline;

pub(super) const PERIOD_NS: u64 = 1_000_000;
/// What is longer between two looks is remembered as a gap.
const GAP_MIN_NS: u64 = 10 * PERIOD_NS;
/// So many are; with more, all that follows counts as one.
const GAPS_MAX: usize = 100_000;
/// Looks between two times to find out how many listeners there are.
const LOOKS_PER_DECISION: u64 = 1_000;

/// Watches the queue of a server until it is stopped.
#[derive(Debug)]
pub(crate) struct AcceptQueueObserver {
    periodic: Periodic<Sampler>,
}

/// What was seen of a server's accept queue. Times are of `CLOCK_MONOTONIC`.
#[derive(Debug, Default)]
pub(crate) struct AcceptQueueSeen {
    /// In the order in which they were first seen.
    pub(crate) listeners: Vec<ListenerSeen>,
    /// The sum over all listeners. Full where one of them is.
    pub(crate) total: Timeline,
    /// Looks that the kernel answered.
    pub(crate) samples: u64,
    /// Looks that it did not.
    pub(crate) failures: u64,
    /// The longest time between two looks.
    pub(crate) longest_gap_ns: u64,
    /// Time during which there were several listeners.
    shared_ns: u64,
    /// Of this, while one had a queue and another had none.
    uneven_ns: u64,
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    was_shared: bool,
    was_uneven: bool,
    /// Long stretches without a look, from one look to the next.
    gaps_ns: Vec<(u64, u64)>,
}

/// One listener, told by its inode.
#[derive(Debug)]
pub(crate) struct ListenerSeen {
    /// The last thing heard of it: its address, inode and limit.
    pub(crate) listener: Listener,
    pub(crate) timeline: Timeline,
}

impl AcceptQueueObserver {
    /// Begins to watch the listener that a connection to `server` reaches. That there is none yet is no error.
    ///
    /// # Errors
    /// What the kernel answers where it cannot look listeners up, or has no thread left.
    pub(crate) fn start(network: &Network, server: SocketAddr) -> io::Result<Self> {
        let sampler = Sampler::new(network, server)?;
        let periodic = Periodic::start("accept-queue", PERIOD_NS, sampler, Sampler::look)?;
        Ok(Self { periodic })
    }

    /// Looks a last time, and tells what was seen.
    pub(crate) fn stop(self) -> AcceptQueueSeen {
        self.periodic.stop().seen
    }
}

impl AcceptQueueSeen {
    /// Connections waiting in all queues together at the first look from `monotonic_ns` on; `None` after the last, and where there was no
    /// listener.
    pub(crate) fn depth_from(&self, monotonic_ns: u64) -> Option<u32> {
        self.total.depth_from(monotonic_ns)
    }

    /// When a connection that came by `monotonic_ns` had left whichever queue it was in.
    pub(crate) fn left_by(&self, monotonic_ns: u64) -> Option<u64> {
        if self.total.depth_from(monotonic_ns).is_none() {
            return self.total.left_by(monotonic_ns);
        }
        let mut timelines = self.listeners.iter().map(|seen| &seen.timeline);
        timelines.try_fold(0, |latest_ns, timeline| {
            if timeline.depth_from(monotonic_ns).is_none() {
                return Some(latest_ns);
            }
            Some(latest_ns.max(timeline.left_by(monotonic_ns)?))
        })
    }

    /// The longest time without a look that touches this stretch: endless where part of it was not watched.
    pub(crate) fn gap_ns_max_within(&self, from_ns: u64, until_ns: u64) -> u64 {
        let is_watched = self.first_ns.is_some_and(|first_ns| first_ns <= from_ns)
            && self.last_ns.is_some_and(|last_ns| until_ns <= last_ns)
            && !self.total.is_cut_short;
        if !is_watched {
            return u64::MAX;
        }
        let begun = self.gaps_ns.partition_point(|&(_, end)| end <= from_ns);
        let touching = self.gaps_ns[begun..]
            .iter()
            .take_while(|&&(begin, _)| begin < until_ns);
        let longest = touching.map(|&(begin, end)| end - begin).max();
        longest.unwrap_or_else(|| self.longest_gap_ns.min(GAP_MIN_NS))
    }

    fn note_gap(&mut self, last_ns: u64, now_ns: u64) {
        if now_ns - last_ns <= GAP_MIN_NS {
            return;
        }
        let has_room = self.gaps_ns.len() < GAPS_MAX;
        match self.gaps_ns.last_mut() {
            Some(gap) if !has_room => gap.1 = now_ns,
            _ => self.gaps_ns.push((last_ns, now_ns)),
        }
    }

    /// What was seen last has lasted so long.
    fn note_sharing(&mut self, lasted_ns: u64) {
        if self.was_shared {
            self.shared_ns += lasted_ns;
        }
        if self.was_uneven {
            self.uneven_ns += lasted_ns;
        }
    }

    /// Share of the time in which one listener had a queue and another had none, 0 to 1; `None` where there never were several.
    pub(crate) fn uneven_share(&self) -> Option<f64> {
        (self.shared_ns > 0).then(|| self.uneven_ns as f64 / self.shared_ns as f64)
    }

    fn add(&mut self, now_ns: u64, found: &[Listener]) {
        self.samples += 1;
        self.first_ns.get_or_insert(now_ns);
        if let Some(last_ns) = self.last_ns.replace(now_ns) {
            self.longest_gap_ns = self.longest_gap_ns.max(now_ns - last_ns);
            self.note_gap(last_ns, now_ns);
            self.note_sharing(now_ns - last_ns);
        }
        self.was_shared = found.len() > 1;
        let is_empty = |listener: &Listener| listener.accept_queue == 0;
        self.was_uneven = found.iter().any(is_empty) && !found.iter().all(is_empty);
        let (mut depth, mut is_full) = (0, false);
        for listener in found {
            depth += listener.accept_queue;
            is_full |= is_full_queue(listener);
            self.of(listener)
                .add(now_ns, Some(listener.accept_queue), is_full_queue(listener));
        }
        for seen in &mut self.listeners {
            if !found.iter().any(|one| one.inode == seen.listener.inode) {
                seen.timeline.add(now_ns, None, false);
            }
        }
        let depth = (!found.is_empty()).then_some(depth);
        self.total.add(now_ns, depth, is_full);
    }

    /// Its history, begun where it is new.
    fn of(&mut self, listener: &Listener) -> &mut Timeline {
        let known = |seen: &ListenerSeen| seen.listener.inode == listener.inode;
        let place = self.listeners.iter().position(known).unwrap_or_else(|| {
            self.listeners.push(ListenerSeen {
                listener: *listener,
                timeline: Timeline::default(),
            });
            self.listeners.len() - 1
        });
        let seen = &mut self.listeners[place];
        seen.listener = *listener;
        &mut seen.timeline
    }
}

/// The queue takes one more than its limit: it is full when it holds *more* (`sk_acceptq_is_full`, include/net/sock.h).
fn is_full_queue(listener: &Listener) -> bool {
    listener.accept_queue > listener.accept_queue_limit
}

/// The thread's own.
#[derive(Debug)]
struct Sampler {
    diagnostics: Arc<SocketDiagnostics>,
    exact: LookUp,
    /// With the address that its listeners are bound to.
    group: Option<(SocketAddr, LookUp)>,
    /// Whether there are several.
    is_group: bool,
    looks: u64,
    found: Vec<Listener>,
    seen: AcceptQueueSeen,
}

impl Sampler {
    fn new(network: &Network, server: SocketAddr) -> io::Result<Self> {
        let mut sampler = Self {
            diagnostics: network.diagnostics()?,
            exact: LookUp::exact(server),
            group: None,
            is_group: false,
            looks: 0,
            found: Vec::new(),
            seen: AcceptQueueSeen::default(),
        };
        // Later refusals are counted, the first one is told.
        sampler.decide()?;
        Ok(sampler)
    }

    fn look(&mut self) {
        self.looks += 1;
        if self.looks.is_multiple_of(LOOKS_PER_DECISION) {
            // Where that fails, so will looking.
            let _ = self.decide();
        }
        let answer = self.listeners();
        let now_ns = monotonic_ns();
        match answer {
            Ok(()) => self.seen.add(now_ns, &self.found),
            Err(_) => self.seen.failures += 1,
        }
        if self.found.is_empty() {
            let _ = self.decide();
        }
    }

    /// Those at this moment.
    fn listeners(&mut self) -> io::Result<()> {
        self.found.clear();
        match &mut self.group {
            Some((bound, look_up)) if self.is_group => {
                let all = self.diagnostics.repeat(look_up)?;
                self.found.extend(of_address(all, *bound));
            }
            _ => self
                .found
                .extend_from_slice(self.diagnostics.repeat(&mut self.exact)?),
        }
        Ok(())
    }

    /// Finds out how many listeners share the address that connections reach.
    fn decide(&mut self) -> io::Result<()> {
        self.is_group = false;
        let Some(&Listener { address, .. }) = self.diagnostics.repeat(&mut self.exact)?.first()
        else {
            return Ok(());
        };
        let group = match self.group.take() {
            Some(group) if group.0 == address => group,
            _ => (address, LookUp::on(address)),
        };
        let (bound, look_up) = self.group.insert(group);
        let all = self.diagnostics.repeat(look_up)?;
        self.is_group = of_address(all, *bound).count() > 1;
        Ok(())
    }
}

/// Others may listen on the port at other addresses.
fn of_address(all: &[Listener], bound: SocketAddr) -> impl Iterator<Item = Listener> {
    let all = all.iter().copied();
    all.filter(move |listener| listener.address == bound)
}

#[cfg(test)]
mod tests;
