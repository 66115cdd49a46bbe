//! What the coordinator does while shards exchange: tells the stages, and ends the measurement when the throughput is known well
//! enough.

use throng_record::{ExchangePhase, ExchangeSpec, Stop};
use throng_sys::clock::monotonic_ns;

use super::{Observer, Stage};
use crate::confidence::Confidence;
use crate::control::{Orders, ProgressReading, ShardStage};

/// What the coordinator follows while an exchange runs.
pub(super) struct Watch {
    confidence: Option<Confidence>,
    announced: Option<Stage>,
    teller: Teller,
}

/// Tells progress now and then.
pub(super) struct Teller {
    told_at_ns: u64,
}

/// How often progress is told.
const PROGRESS_NS: u64 = 100_000_000;

impl Teller {
    pub(super) fn new() -> Self {
        Self {
            told_at_ns: monotonic_ns(),
        }
    }

    /// What the shards have done so far, if it is time.
    pub(super) fn look(&mut self, readings: &[ProgressReading], observer: Observer<'_>) {
        let now_ns = monotonic_ns();
        if now_ns - self.told_at_ns >= PROGRESS_NS {
            self.told_at_ns = now_ns;
            observer(Stage::Progress(
                readings.iter().map(|reading| reading.replies).sum(),
            ));
        }
    }
}

impl Watch {
    pub(super) fn new(spec: &ExchangeSpec) -> Self {
        let confidence = match spec.stop {
            Stop::Confidence {
                relative_half_width,
                ..
            } => Some(Confidence::new(relative_half_width)),
            Stop::Messages(_) | Stop::MessagesEach(_) | Stop::DurationNs(_) => None,
        };
        Self {
            confidence,
            announced: None,
            teller: Teller::new(),
        }
    }

    pub(super) fn look(
        &mut self,
        readings: &[ProgressReading],
        stage: ShardStage,
        orders: &Orders,
        observer: Observer<'_>,
    ) {
        let now_ns = monotonic_ns();
        self.announce(stage, observer);
        self.teller.look(readings, observer);
        if stage != ShardStage::Measuring {
            return;
        }
        if let Some(confidence) = &mut self.confidence {
            confidence.observe(
                now_ns,
                readings
                    .iter()
                    .map(|reading| reading.measured_replies)
                    .sum(),
            );
            if confidence.is_reached() {
                orders.stop_sending();
            }
        }
    }

    fn announce(&mut self, stage: ShardStage, observer: Observer<'_>) {
        if stage >= ShardStage::Measuring && self.announced.is_none() {
            self.announced = Some(Stage::Measuring);
            observer(Stage::Measuring);
        }
        if stage == ShardStage::Draining && self.announced == Some(Stage::Measuring) {
            self.announced = Some(Stage::Measured);
            observer(Stage::Measured);
        }
    }

    /// Stages that were over before they could be seen are told all the same, in order.
    pub(super) fn finish(&mut self, observer: Observer<'_>) {
        self.announce(ShardStage::Draining, observer);
    }

    pub(super) fn complete(&self, phase: &mut ExchangePhase) {
        phase.relative_half_width_reached = self
            .confidence
            .as_ref()
            .and_then(Confidence::relative_half_width);
    }
}
