//! A trial without a server: the generator, alone in a network of its own, times a multiplexer.

use throng_record::{LoadRecord, Outcome, Trial, Verdict};

use super::{Bench, Made, OnProgress, unknown_address};
use crate::checks;
use crate::checks::other_programs::Others;
use crate::checks::steal::Stolen;
use crate::event::TrialPhase;
use crate::explain::cost_grows_with_idle;
use crate::network::{self, MakeError};
use crate::observer::{GeneratorFigures, Observer};
use crate::order::Cell;

impl Bench<'_> {
    pub(super) fn time_alone(
        &self,
        cell: Cell,
        started_at_ns: u64,
        on_progress: OnProgress<'_>,
    ) -> Made {
        on_progress(TrialPhase::Launching, 0, std::time::Duration::ZERO);
        let setting = &self.plan.settings[cell.setting as usize];
        let mut trial = self.blank(cell, &unknown_address());
        let network = match self.networks.network(&setting.kernel) {
            Ok(network) => network,
            Err(error) => {
                if !matches!(error, MakeError::Interrupted) {
                    trial.outcome = Outcome::Failed {
                        message: format!(
                            "cannot make a private network: {error}; run again, or with --net host"
                        ),
                    };
                }
                return made(trial);
            }
        };
        trial.network = network::kind(&network);
        let mut observer = Observer::new(None, network.clone());
        observer.expect(&trial.job, None);
        let ended = self.load(
            (setting, &trial.job),
            network,
            None,
            &mut observer,
            started_at_ns,
            on_progress,
        );
        let seen = observer.finish(&GeneratorFigures::default());
        trial.series = ended.series;
        trial.generator = seen.generator;
        trial.kernel_counters = seen.kernel_counters;
        trial.outcome = ended.outcome;
        if let Some(record) = ended.record {
            conclude(
                &mut trial,
                record,
                setting.connections,
                (seen.stolen, &seen.others),
            );
        }
        made(trial)
    }
}

/// Another attempt may do better: what fails here is the machine's affair, and no server's.
fn made(trial: Trial) -> Made {
    Made {
        trial,
        is_hopeless: false,
    }
}

/// From what was measured to the trial's checks, verdict and findings.
fn conclude(
    trial: &mut Trial,
    record: LoadRecord,
    asked: u32,
    (stolen, others): (Option<Stolen>, &[Others]),
) {
    let phase = record.phases.multiplexer().cloned().unwrap_or_default();
    trial.findings.extend(cost_grows_with_idle::find(&phase));
    if trial.outcome == Outcome::Completed {
        trial.checks = checks::of_accept(&phase, asked, stolen, others);
        trial.verdict = Verdict::of(&trial.checks);
        if phase.accepted == 0 {
            let cause = phase.stopped_by.as_deref();
            trial.verdict = Verdict::Invalid;
            trial.outcome = Outcome::Failed {
                message: format!(
                    "none of {asked} connections was accepted: {}",
                    cause.unwrap_or("the load generator does not say why")
                ),
            };
        }
    }
    trial.phases = record.phases;
}
