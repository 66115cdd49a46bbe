//! A launched server over the trials that it serves: one, or all of a sweep.

use throng_record::{LinePhase, LoadJob, LoadRecord, Protocol, Work};

use super::{Ending, Server};
use crate::checks::phases::heard;

/// A server with what has been asked of it since its launch.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) server: Server,
    /// Which of the run's launches it is, from 0.
    pub(crate) ordinal: u32,
    asked: Asked,
}

/// What generators had of a server, over all trials of its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) trials: u32,
    /// Connections that were opened.
    pub(crate) connections: u64,
    /// Bytes that came back.
    pub(crate) bytes: u64,
    /// Connections that got no reply, since the server serves fewer at once.
    pub(crate) unserved: u64,
    /// Connections that failed.
    pub(crate) errors: u64,
    /// Trials whose generator could not tell.
    pub(crate) untold: u32,
    /// Trials in which what came back was not counted in bytes.
    pub(crate) uncounted: u32,
}

/// How it stands with the server at the end of a trial.
#[derive(Clone, Debug)]
pub(crate) enum LifeEnd {
    /// It was not started here, and is not ended here.
    NotOurs,
    /// It serves the next trial as well.
    LivesOn,
    /// This trial was its last.
    Ended(Ending, Asked),
}

impl Life {
    pub(crate) fn new(server: Server, ordinal: u32) -> Self {
        Self {
            server,
            ordinal,
            asked: Asked::default(),
        }
    }

    /// Adds a trial.
    pub(crate) fn add(&mut self, job: &LoadJob, record: Option<&LoadRecord>) {
        self.asked.add(job, record);
    }

    /// Ends the server.
    pub(crate) fn end(self) -> LifeEnd {
        LifeEnd::Ended(self.server.end(), self.asked)
    }
}

impl Asked {
    pub(crate) fn add(&mut self, job: &LoadJob, record: Option<&LoadRecord>) {
        self.trials += 1;
        let Some(record) = record else {
            self.untold += 1;
            return;
        };
        self.connections += record.connected();
        self.unserved += unserved(job, record);
        match received_bytes(job, record) {
            Some(bytes) => self.bytes += bytes,
            None => self.uncounted += 1,
        }
        self.errors += record.errors().total();
    }
}

/// Connections that opened and got nothing, or not all that was due to them.
fn unserved(job: &LoadJob, record: &LoadRecord) -> u64 {
    if let Some(connections) = &record.connections {
        return connections.connected.saturating_sub(connections.answered);
    }
    let connected = record.connect.connected;
    let served = match &job.work {
        Work::Fanout(_) => heard(record).unwrap_or(connected),
        Work::Hold(_) => connected,
        Work::Exchange | Work::Accept(_) => record.exchange.connections_served,
    };
    connected.saturating_sub(served).into()
}

/// Bytes that the server sent; absent where only messages are counted, which are of various lengths.
fn received_bytes(job: &LoadJob, record: &LoadRecord) -> Option<u64> {
    let phases = match &job.work {
        Work::Exchange | Work::Accept(_) => return Some(record.exchange.received_bytes),
        Work::Hold(_) => {
            let answered = u64::from(record.hold.as_ref()?.answered);
            return match job.exchange.protocol {
                Protocol::Echo { size_bytes } => Some(answered * u64::from(size_bytes)),
                _ => (answered == 0).then_some(0),
            };
        }
        Work::Fanout(spec) if spec.sustain.is_some() => return None,
        Work::Fanout(spec) => record.fanout.as_ref().zip(Some(spec)),
    };
    let (phases, spec) = phases?;
    let bytes = |phase: &Option<LinePhase>, line: Option<&Vec<u8>>| {
        let received = phase.as_ref().map_or(0, |phase| phase.received);
        u64::from(received) * line.map_or(0, |line| line.len() as u64)
    };
    Some(bytes(&phases.acknowledge, spec.greeting.as_ref()) + bytes(&phases.get, Some(&spec.line)))
}

impl LifeEnd {
    /// How it ended, if it has and it was ours.
    pub(crate) fn ending(&self) -> Option<&Ending> {
        match self {
            Self::Ended(ending, _) => Some(ending),
            Self::NotOurs | Self::LivesOn => None,
        }
    }
}
