//! What threads of a generator tell each other while a phase runs: a few atomics, each side's on a cache line of its own, written
//! once per turn of a loop and never per message.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// Raised from outside (a signal): the work ends early, in order, and keeps what it measured.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks every shard to end.
    pub fn raise(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// How far a shard's exchange is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ShardStage {
    #[default]
    Warmup,
    Measuring,
    Draining,
}

/// Written by one shard, read by the coordinator.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Progress {
    replies: AtomicU64,
    measured_replies: AtomicU64,
}

/// One reading of a shard's progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProgressReading {
    /// Replies so far, warm-up included.
    pub(crate) replies: u64,
    /// Replies of the measurement.
    pub(crate) measured_replies: u64,
}

impl Progress {
    #[inline]
    pub(crate) fn publish(&self, reading: ProgressReading) {
        self.replies.store(reading.replies, Relaxed);
        self.measured_replies
            .store(reading.measured_replies, Relaxed);
    }

    pub(crate) fn read(&self) -> ProgressReading {
        ProgressReading {
            replies: self.replies.load(Relaxed),
            measured_replies: self.measured_replies.load(Relaxed),
        }
    }

    pub(crate) fn reset(&self) {
        self.publish(ProgressReading::default());
    }
}

/// Written by the coordinator, at a connection's first reply, and where a turn has opened or given up connections; read by every
/// shard once per turn.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Orders {
    stop_sending: AtomicBool,
    /// Connections whose first reply the warm-up waits for, over all shards, so that all of them begin to measure together.
    /// Written once for each connection.
    unanswered: AtomicU64,
    /// When the fleet began to connect, on the monotonic clock.
    connecting_since_ns: AtomicU64,
    /// Connections that are open while the fleet connects. Each shard adds its own once per turn of its loop.
    open: AtomicU64,
    /// No shard has yet to do what shards do in turns.
    turns_over: AtomicBool,
    /// Batches of closes that were given up, over all shards.
    closes_given_up: AtomicU64,
}

impl Orders {
    /// The measurement has enough: send no more, await what is outstanding.
    pub(crate) fn stop_sending(&self) {
        self.stop_sending.store(true, Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop_sending.load(Relaxed)
    }

    /// So many first replies are to be waited for.
    pub(crate) fn reset(&self, unanswered: u32) {
        self.stop_sending.store(false, Relaxed);
        self.unanswered.store(u64::from(unanswered), Relaxed);
    }

    /// A connection has had its first reply, or never will.
    pub(crate) fn answered(&self) {
        self.unanswered.fetch_sub(1, Relaxed);
    }

    /// A phase begins that shards do in turns.
    pub(crate) fn begin_turns(&self, now_ns: u64) {
        self.turns_over.store(false, Relaxed);
        self.open.store(0, Relaxed);
        self.closes_given_up.store(0, Relaxed);
        self.connecting_since_ns.store(now_ns, Relaxed);
    }

    /// The last shard's turn is over.
    pub(crate) fn end_turns(&self) {
        self.turns_over.store(true, Relaxed);
    }

    pub(crate) fn are_turns_over(&self) -> bool {
        self.turns_over.load(Relaxed)
    }

    pub(crate) fn connecting_since_ns(&self) -> u64 {
        self.connecting_since_ns.load(Relaxed)
    }

    /// So many more are open, or fewer: how many are over all shards.
    pub(crate) fn add_open(&self, difference: i64) -> u64 {
        let difference = difference.cast_unsigned();
        self.open
            .fetch_add(difference, Relaxed)
            .wrapping_add(difference)
    }

    /// Peers did not end their output in time.
    pub(crate) fn give_up_closes(&self) {
        self.closes_given_up.fetch_add(1, Relaxed);
    }

    pub(crate) fn closes_given_up(&self) -> u64 {
        self.closes_given_up.load(Relaxed)
    }

    /// Whether nobody is waited for any more.
    pub(crate) fn all_answered(&self) -> bool {
        self.unanswered.load(Relaxed) == 0
    }
}

/// Of one phase of a fan-out: written a few times by shards and by the coordinator, read by every shard once per turn.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Relay {
    listening: AtomicU32,
    /// Where in the script a connection has heard all; set before `put_over_at_ns`.
    target: AtomicU32,
    put_over_at_ns: AtomicU64,
    done: AtomicU32,
}

/// Nothing more is put: when that was, and where in the script a connection has then heard all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PutOver {
    pub(crate) at_ns: u64,
    pub(crate) target: u32,
}

impl Relay {
    /// A phase begins; no shard is in one.
    pub(crate) fn reset(&self) {
        self.listening.store(0, Relaxed);
        self.done.store(0, Relaxed);
        self.put_over_at_ns.store(0, Release);
    }

    /// One shard more hears.
    pub(crate) fn listens(&self) {
        self.listening.fetch_add(1, Relaxed);
    }

    pub(crate) fn listening(&self) -> u32 {
        self.listening.load(Relaxed)
    }

    /// Nothing more is put from now on. What is sent after this call is seen by nobody who does not see this.
    pub(crate) fn put_is_over(&self, over: PutOver) {
        self.target.store(over.target, Relaxed);
        self.put_over_at_ns.store(over.at_ns, Release);
    }

    #[inline]
    pub(crate) fn put_over(&self) -> Option<PutOver> {
        let at_ns = self.put_over_at_ns.load(Acquire);
        let target = self.target.load(Relaxed);
        (at_ns > 0).then_some(PutOver { at_ns, target })
    }

    /// All connections of one shard more have heard all, or failed.
    pub(crate) fn is_done(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    pub(crate) fn done(&self) -> u32 {
        self.done.load(Relaxed)
    }
}
