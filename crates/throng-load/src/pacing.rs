//! When messages are sent. One file for each discipline; all of them say only *which connection, and from when it counts*.

use throng_record::TasksRecord;

mod closed;
mod lockstep;
mod open;
pub(crate) mod spacing;
mod tasks;

pub(crate) use closed::Closed;
pub(crate) use lockstep::Lockstep;
pub(crate) use open::Open;
pub(crate) use tasks::Tasks;

/// One message to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Send {
    /// On which connection.
    pub(crate) slot: u32,
    /// From when its latency counts.
    pub(crate) start_ns: u64,
    /// When it could have been sent at the earliest: what is later than this is the generator's own fault.
    pub(crate) ready_ns: u64,
}

impl Send {
    /// A message that counts from now.
    fn at(slot: u32, now_ns: u64) -> Self {
        Self {
            slot,
            start_ns: now_ns,
            ready_ns: now_ns,
        }
    }
}

/// A discipline. It is told of connections that may send, and puts what is to be sent into `sends`.
pub(crate) trait Pacing {
    /// All connections of the shard that are open, once, before the first message.
    fn begin(&mut self, slots: &[u32], now_ns: u64, sends: &mut Vec<Send>);

    /// A reply has come on this connection.
    fn replied(&mut self, slot: u32, now_ns: u64, sends: &mut Vec<Send>);

    /// A message on this connection, to the address with that index, has ended, by its reply or by a failure, of which the words say how. Told before
    /// either of the other two, and of messages after the last one was sent too.
    #[inline]
    fn ended(
        &mut self,
        _slot: u32,
        _address: impl FnOnce() -> usize,
        _now_ns: u64,
        _outcome: Result<(), &str>,
        _sends: &mut Vec<Send>,
    ) {
    }

    /// This connection has failed, with so many messages unanswered.
    fn lost(&mut self, slot: u32, outstanding: u32, now_ns: u64, sends: &mut Vec<Send>);

    /// What the clock alone makes due; open loop only.
    fn due(&mut self, _now_ns: u64, _sends: &mut Vec<Send>) {}

    /// Until when the loop may sleep, where nothing happens, without missing a due time; in the past where it must not.
    fn sleep_until_ns(&self, _now_ns: u64) -> Option<u64> {
        None
    }

    /// Whether nothing more will ever be due, though fewer were sent than asked for.
    #[inline]
    fn is_done(&self) -> bool {
        false
    }

    /// What became of the tasks, where clients have some; asked once, at the end.
    fn tasks(&mut self) -> Option<TasksRecord> {
        None
    }

    /// Messages that were due by `until_ns` and have not been sent, and those that had to wait for a connection.
    fn backlog(&self, _until_ns: u64) -> Backlog {
        Backlog::default()
    }
}

/// How an open loop fell behind its schedule for want of free connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    /// Due and never sent.
    pub(crate) unsent: u64,
    /// Due while every connection was busy.
    pub(crate) waited: u64,
}
