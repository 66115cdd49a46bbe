//! A launched server over the trials that it serves: one, or all of a sweep.

use throng_findings::{Asked, LifeEnd};
use throng_record::{LoadJob, LoadRecord};

use super::Server;

/// A server with what has been asked of it since its launch.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) server: Server,
    /// Which of the run's launches it is, from 0.
    pub(crate) ordinal: u32,
    asked: Asked,
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
