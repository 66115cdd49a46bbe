//! A launched server over the trials that it serves: one, or all of a sweep.

use throng_record::LoadRecord;

use super::{Ending, Server};

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
    pub(crate) fn add(&mut self, record: Option<&LoadRecord>) {
        self.asked.add(record);
    }

    /// Ends the server.
    pub(crate) fn end(self) -> LifeEnd {
        LifeEnd::Ended(self.server.end(), self.asked)
    }
}

impl Asked {
    pub(crate) fn add(&mut self, record: Option<&LoadRecord>) {
        self.trials += 1;
        let Some(record) = record else {
            self.untold += 1;
            return;
        };
        self.connections += record.connected();
        self.unserved += match &record.connections {
            Some(connections) => connections.connected.saturating_sub(connections.answered),
            None => u64::from(
                record
                    .connect
                    .connected
                    .saturating_sub(record.exchange.connections_served),
            ),
        };
        self.bytes += record.exchange.received_bytes;
        self.errors += record.errors().total();
    }
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
