//! The servers of a run: launched for one trial, or kept from one trial to the next.

use throng_findings::LifeEnd;
use throng_record::{LoadJob, LoadRecord, Outcome, TargetRecord};

use super::follow::Ended;
use crate::launcher::{LaunchError, Launcher, Life};

/// At most one lives between two trials.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// The one that serves the next trial as well.
    living: Option<Life>,
    /// How many have been launched.
    launched: u32,
}

impl Servers {
    /// The server that was kept for this trial, or a new one.
    pub(super) fn living_or_launched(
        &mut self,
        launcher: &Launcher<'_>,
        target: &TargetRecord,
    ) -> Result<Life, LaunchError> {
        if let Some(life) = self.living.take() {
            return Ok(life);
        }
        let life = Life::new(launcher.launch(target)?, self.launched);
        self.launched += 1;
        Ok(life)
    }

    /// Keeps a server that is to live on, if it is fit to; ends any other. One that met a generator without a result is not, nor one
    /// that did not serve the trial whole: what it says at its end of a limit that it met then stands with that trial, and the next
    /// trial begins afresh.
    pub(super) fn keep_or_end(
        &mut self,
        mut life: Life,
        is_to_live_on: bool,
        job: &LoadJob,
        trial: &Ended,
    ) -> LifeEnd {
        let record = trial.record.as_ref();
        life.add(job, record);
        let was_whole = record.is_some_and(|record| was_whole(job, record));
        let is_fit = trial.outcome == Outcome::Completed && was_whole;
        if is_to_live_on && is_fit && !life.server.has_died() {
            self.living = Some(life);
            return LifeEnd::LivesOn;
        }
        life.end()
    }

    /// Ends the one that still lives, in order.
    pub(crate) fn end(&mut self) {
        if let Some(life) = self.living.take() {
            life.end();
        }
    }
}

/// Whether the server met no limit that showed: every connection was opened, and nothing failed.
fn was_whole(job: &LoadJob, record: &LoadRecord) -> bool {
    record.phases.connected() >= job.fleet.connections.into() && record.phases.errors().total() == 0
}
