//! What threads of a generator tell each other while a phase runs: a few atomics, each on a cache line of its own, written
//! by one side once per turn of its loop and never per message.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

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
    sent: AtomicU64,
    lost: AtomicU64,
}

/// One reading of a shard's progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProgressReading {
    /// Replies so far, warm-up included.
    pub(crate) replies: u64,
    /// Replies of the measurement.
    pub(crate) measured_replies: u64,
    /// Messages sent, warm-up included.
    pub(crate) sent: u64,
    /// Messages that will never be answered, because their connection failed.
    pub(crate) lost: u64,
}

impl ProgressReading {
    pub(crate) fn outstanding(&self) -> u64 {
        self.sent.saturating_sub(self.replies + self.lost)
    }
}

impl Progress {
    #[inline]
    pub(crate) fn publish(&self, reading: ProgressReading) {
        self.replies.store(reading.replies, Relaxed);
        self.measured_replies
            .store(reading.measured_replies, Relaxed);
        self.sent.store(reading.sent, Relaxed);
        self.lost.store(reading.lost, Relaxed);
    }

    pub(crate) fn read(&self) -> ProgressReading {
        ProgressReading {
            replies: self.replies.load(Relaxed),
            measured_replies: self.measured_replies.load(Relaxed),
            sent: self.sent.load(Relaxed),
            lost: self.lost.load(Relaxed),
        }
    }

    pub(crate) fn reset(&self) {
        self.publish(ProgressReading::default());
    }
}

/// Written by the coordinator and at a connection's first reply, read by every shard once per turn.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Orders {
    stop_sending: AtomicBool,
    /// Connections whose first reply the warm-up waits for, over all shards, so that all of them begin to measure together.
    /// Written once for each connection.
    unanswered: AtomicU64,
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

    /// Whether nobody is waited for any more.
    pub(crate) fn all_answered(&self) -> bool {
        self.unanswered.load(Relaxed) == 0
    }
}
