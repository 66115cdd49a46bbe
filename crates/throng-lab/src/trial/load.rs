//! Following the generator from its start to its record, observing at each of its events.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use throng_record::{LoadEvent, LoadRecord, Outcome, PhaseName, SeriesSample, Setting};
use throng_sys::clock::monotonic_ns;

use super::{Bench, OnProgress};
use crate::event::TrialPhase;
use crate::generator::{Generator, GeneratorError};
use crate::observer::Observer;
use crate::series::Series;

/// Beyond the time limits of connect and reply: a generator that works tells something ten times a second.
const SILENCE_SPARE: Duration = Duration::from_secs(5);
/// How long an interrupted generator may take to close its connections and to report.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// How the loading ended.
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) record: Option<LoadRecord>,
    pub(super) series: Vec<SeriesSample>,
}

impl Ended {
    pub(super) fn failed(message: String) -> Self {
        Self {
            outcome: Outcome::Failed { message },
            record: None,
            series: vec![],
        }
    }
}

/// Follows the generator until it has finished, failed, fallen silent, or been interrupted.
pub(super) fn follow(
    bench: &Bench<'_>,
    setting: &Setting,
    mut generator: Generator,
    observer: &mut Observer,
    mut series: Series,
    started_at_ns: u64,
    on_progress: OnProgress<'_>,
) -> Ended {
    let mut progress = Progress {
        phase: TrialPhase::Connecting,
        replies: 0,
    };
    let mut watch = Watch::new(setting);
    let result = loop {
        let wait = Duration::from_nanos(series.due_in_ns());
        match generator.next(wait) {
            Ok(Some(LoadEvent::Finished { record })) => break Ok(*record),
            Ok(Some(event)) => {
                watch.heard();
                progress.note(&event, observer);
                if event.awaits_answer() {
                    generator.go_on();
                    // Reading a great many threads takes its time, in which the generator had to be silent.
                    watch.heard();
                }
            }
            Ok(None) => {}
            Err(error) => break Err(error),
        }
        series.sample_if_due(observer, progress.replies);
        let elapsed = Duration::from_nanos(monotonic_ns().saturating_sub(started_at_ns));
        on_progress(progress.phase, progress.replies, elapsed);
        if let Err(error) = watch.look(bench, &generator) {
            break Err(error);
        }
    };
    observer.border(None);
    let was_interrupted = watch.interrupted_at.is_some();
    // A result is there: let it leave by itself. Otherwise it is of no use any more, and is killed when dropped.
    if result.is_ok() {
        generator.end();
    } else {
        drop(generator);
    }
    let (outcome, record) = match result {
        Ok(record) if record.interrupted || was_interrupted => (Outcome::Interrupted, Some(record)),
        Ok(record) => (Outcome::Completed, Some(record)),
        Err(_) if was_interrupted => (Outcome::Interrupted, None),
        Err(error) => {
            let message = error.to_string();
            (Outcome::Failed { message }, None)
        }
    };
    Ended {
        outcome,
        record,
        series: series.samples,
    }
}

struct Progress {
    phase: TrialPhase,
    replies: u64,
}

impl Progress {
    fn note(&mut self, event: &LoadEvent, observer: &mut Observer) {
        match event {
            LoadEvent::Phase { phase } => {
                self.phase = of_phase(*phase);
                self.replies = 0;
                if event.awaits_answer() {
                    observer.border(Some(*phase));
                } else {
                    observer.border_in_passing(*phase);
                }
            }
            LoadEvent::Measuring => {
                self.phase = TrialPhase::Measuring;
                observer.measuring();
            }
            LoadEvent::Progress { replies } => self.replies = *replies,
            LoadEvent::Measured => {
                self.phase = TrialPhase::Closing;
                observer.measured();
            }
            LoadEvent::Finished { .. } | LoadEvent::Failed { .. } => {}
        }
    }
}

fn of_phase(phase: PhaseName) -> TrialPhase {
    match phase {
        PhaseName::Connect => TrialPhase::Connecting,
        PhaseName::Acknowledge => TrialPhase::Greeting,
        PhaseName::Get => TrialPhase::Delivering,
        PhaseName::Sustain => TrialPhase::Sustaining,
        PhaseName::Exchange | PhaseName::Request => TrialPhase::WarmingUp,
        PhaseName::Multiplex => TrialPhase::Measuring,
        PhaseName::Hold => TrialPhase::Holding,
        PhaseName::Ping => TrialPhase::Pinging,
        PhaseName::Close => TrialPhase::Closing,
    }
}

/// Sees that the generator neither falls silent nor misses an interrupt.
struct Watch {
    silence_max: Duration,
    heard_at: Instant,
    interrupted_at: Option<Instant>,
}

impl Watch {
    fn new(setting: &Setting) -> Self {
        let connect = Duration::from_nanos(setting.connect_timeout_ns);
        let reply = Duration::from_nanos(setting.reply_timeout_ns);
        Self {
            silence_max: connect.saturating_add(reply).saturating_add(SILENCE_SPARE),
            heard_at: Instant::now(),
            interrupted_at: None,
        }
    }

    fn heard(&mut self) {
        self.heard_at = Instant::now();
    }

    fn look(&mut self, bench: &Bench<'_>, generator: &Generator) -> Result<(), GeneratorError> {
        let silent = GeneratorError::Silent(self.heard_at.elapsed().as_secs());
        if self.heard_at.elapsed() > self.silence_max {
            return Err(silent);
        }
        match self.interrupted_at {
            None if bench.interrupted.load(Ordering::Relaxed) => {
                self.interrupted_at = Some(Instant::now());
                generator.interrupt();
                Ok(())
            }
            Some(at) if at.elapsed() > INTERRUPT_GRACE => Err(silent),
            _ => Ok(()),
        }
    }
}
