//! Following a generator from its start to its record, observing at each of its events: in a trial, and on a host that only generates.

use std::time::{Duration, Instant};

use throng_record::{FleetSpec, HostPart, LoadEvent, LoadRecord, Outcome, PhaseName, SeriesSample};
use throng_sys::clock::monotonic_ns;

use super::OnProgress;
use crate::event::TrialPhase;
use crate::generator::{Generating, GeneratorError};
use crate::observer::Observer;
use crate::series::Series;

/// Beyond the time limits of connect and reply: a generator that works tells something ten times a second.
const SILENCE_SPARE: Duration = Duration::from_secs(5);

/// How the loading ended.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) record: Option<LoadRecord>,
    pub(crate) series: Vec<SeriesSample>,
    /// Each generator's, where there are several, and all their replies over time.
    pub(crate) hosts: Vec<HostPart>,
}

impl Ended {
    pub(crate) fn failed(message: String) -> Self {
        Self {
            outcome: Outcome::Failed { message },
            record: None,
            series: vec![],
            hosts: vec![],
        }
    }

    /// Why there is no record.
    pub(crate) fn failure(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Failed { message } => Some(message),
            _ => None,
        }
    }
}

/// What there is to know of a generator's work.
#[derive(Clone, Copy)]
pub(crate) struct Following<'a> {
    /// Whether it is to end early.
    pub(crate) is_interrupted: &'a dyn Fn() -> bool,
    pub(crate) fleet: &'a FleetSpec,
    pub(crate) started_at_ns: u64,
}

/// Follows the generator until it has finished, failed, fallen silent, or been interrupted. Before each phase that it waits for, `before` says when it
/// begins; `None`: now.
pub(crate) fn follow(
    following: &Following<'_>,
    mut generator: Box<dyn Generating + '_>,
    observer: &mut Observer,
    mut series: Series,
    before: &mut dyn FnMut(PhaseName) -> Option<u64>,
    on_progress: OnProgress<'_>,
) -> Ended {
    let mut progress = Progress {
        phase: TrialPhase::Connecting,
        replies: 0,
    };
    let mut watch = Watch::new(following.fleet, generator.is_silent_while_at_work());
    let result = loop {
        let wait = Duration::from_nanos(series.due_in_ns());
        match generator.next(wait) {
            Ok(Some(LoadEvent::Finished { record })) => break Ok(*record),
            Ok(Some(event)) => {
                watch.heard();
                progress.note(&event, observer);
                if let LoadEvent::Phase { phase } = event
                    && event.awaits_answer()
                {
                    let at_ns = before(phase);
                    // One that is to end early hears of it before it begins.
                    if let Err(error) = watch.look((following.is_interrupted)(), &mut *generator) {
                        break Err(error);
                    }
                    generator.go_on(at_ns);
                    // Reading a great many threads takes its time, in which the generator had to be silent.
                    watch.heard();
                }
            }
            Ok(None) => {}
            Err(error) => break Err(error),
        }
        series.sample_if_due(observer, progress.replies);
        let elapsed = Duration::from_nanos(monotonic_ns().saturating_sub(following.started_at_ns));
        on_progress(progress.phase, progress.replies, elapsed);
        if let Err(error) = watch.look((following.is_interrupted)(), &mut *generator) {
            break Err(error);
        }
    };
    observer.border(None);
    let was_interrupted = watch.ends_at.is_some();
    // A result is there: let it leave by itself. Otherwise it is of no use any more, and is killed when dropped.
    let (hosts, of_hosts) = match result {
        Ok(_) => generator.end(),
        Err(_) => {
            drop(generator);
            Default::default()
        }
    };
    series.add_generators(&of_hosts);
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
        hosts,
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
        PhaseName::Connect | PhaseName::Tls => TrialPhase::Connecting,
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
    /// Whether others see to it that it does not fall silent.
    is_watched_elsewhere: bool,
    heard_at: Instant,
    /// Of an interrupted one: what it has not told by then is not waited for.
    ends_at: Option<Instant>,
}

impl Watch {
    fn new(fleet: &FleetSpec, is_watched_elsewhere: bool) -> Self {
        let connect = Duration::from_nanos(fleet.connect_timeout_ns);
        let reply = Duration::from_nanos(fleet.reply_timeout_ns);
        Self {
            is_watched_elsewhere,
            silence_max: connect.saturating_add(reply).saturating_add(SILENCE_SPARE),
            heard_at: Instant::now(),
            ends_at: None,
        }
    }

    fn heard(&mut self) {
        self.heard_at = Instant::now();
    }

    fn look(
        &mut self,
        is_interrupted: bool,
        generator: &mut dyn Generating,
    ) -> Result<(), GeneratorError> {
        let silent = GeneratorError::Silent(self.heard_at.elapsed().as_secs());
        if self.heard_at.elapsed() > self.silence_max && !self.is_watched_elsewhere {
            return Err(silent);
        }
        match self.ends_at {
            None if is_interrupted => {
                self.ends_at = Some(Instant::now() + generator.interrupt());
                Ok(())
            }
            Some(at) if Instant::now() >= at => Err(silent),
            _ => Ok(()),
        }
    }
}
