//! A trial without a server: the generator, alone in a network of its own, times a multiplexer.

use throng_findings::{Evidence, Observed, checks, findings};
use throng_record::{Outcome, Setting, TargetRecord, Trial, Verdict};

use super::{Bench, Made, OnProgress, unknown_address};
use crate::event::TrialPhase;
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
        let mut trial = self.blank(cell, &[unknown_address()]);
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
            (&setting.generator_cpus, &trial.job),
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
            trial.phases = record.phases;
            let seen = Observed {
                stolen: seen.stolen,
                others: seen.others,
                ..Observed::default()
            };
            let target = &self.plan.targets[cell.target as usize];
            conclude(&mut trial, (target, setting), &seen);
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
fn conclude(trial: &mut Trial, (target, setting): (&TargetRecord, &Setting), seen: &Observed) {
    let evidence = Evidence {
        trial,
        target,
        setting,
        seen,
    };
    let (found, checked) = (findings::find(&evidence), checks::all(&evidence));
    trial.findings = found;
    if trial.outcome != Outcome::Completed {
        return;
    }
    trial.checks = checked;
    trial.verdict = Verdict::of(&trial.checks);
    let phase = trial.phases.multiplexer();
    if phase.is_none_or(|phase| phase.accepted == 0) {
        let cause = phase.and_then(|phase| phase.stopped_by.as_deref());
        trial.verdict = Verdict::Invalid;
        trial.outcome = Outcome::Failed {
            message: format!(
                "none of {} connections was accepted: {}",
                setting.connections,
                cause.unwrap_or("the load generator does not say why")
            ),
        };
    }
}
