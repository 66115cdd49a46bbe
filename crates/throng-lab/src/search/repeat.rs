//! One repeat of a search: a bracket is found, and halved until it is narrow enough.

use throng_record::{Bracket, Decision};

use super::{ATTEMPTS, Seen};

/// How much further up each step of the first bracket goes.
const STEP_FIRST: f64 = 0.25;
/// How far it is.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    /// The rate of the next probe.
    rate: f64,
    /// How often it was probed and could not be decided.
    attempts: u32,
    met: Option<f64>,
    missed: Option<Missed>,
    /// By how much the next step up, or down, differs, as a share; it doubles.
    step: f64,
    /// Where the bounds do not hold here or below, it is given up.
    floor: f64,
}

#[derive(Clone, Debug)]
struct Missed {
    rate: f64,
    seen: Seen,
}

/// What is to be done after a probe.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Turn {
    /// The next one.
    On,
    /// It is as narrow as it should be.
    Found(Bracket),
    /// The bounds hold nowhere down to its floor.
    Nowhere {
        missed_per_second: f64,
        because: String,
    },
}

impl Repeat {
    /// The first: nothing is known of where the answer is.
    pub(super) fn bracket(first: f64, floor: f64) -> Self {
        Self {
            rate: first,
            attempts: 0,
            met: None,
            missed: None,
            step: STEP_FIRST,
            floor,
        }
    }

    /// A further one, near what earlier ones found.
    pub(super) fn around(first: f64, step: f64, floor: f64) -> Self {
        Self {
            step,
            ..Self::bracket(first, floor)
        }
    }

    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// `narrow`: how wide the bracket may be in the end, as a share.
    pub(super) fn learn(&mut self, narrow: f64, seen: &Seen) -> Turn {
        if seen.decision == Decision::Undecided && self.attempts + 1 < ATTEMPTS {
            self.attempts += 1;
            return Turn::On;
        }
        self.attempts = 0;
        match seen.decision {
            Decision::Met => self.met = Some(self.rate),
            // Nobody knows that it holds.
            Decision::NotMet
            | Decision::Undecided
            | Decision::GeneratorLate
            | Decision::NotAsked => {
                self.missed = Some(Missed {
                    rate: self.rate,
                    seen: seen.clone(),
                });
            }
        }
        self.rate = match (self.met, &self.missed) {
            (Some(met), None) => self.stepped(met, true),
            (None, Some(missed)) => {
                let (rate, because) = (missed.rate, missed.seen.because.clone());
                if rate <= self.floor {
                    return Turn::Nowhere {
                        missed_per_second: rate,
                        because,
                    };
                }
                self.stepped(rate, false).max(self.floor)
            }
            (Some(met), Some(missed)) if missed.rate <= met * (1.0 + narrow) => {
                return Turn::Found(self.found());
            }
            (Some(met), Some(missed)) => (met * missed.rate).sqrt(),
            (None, None) => self.rate,
        };
        Turn::On
    }

    fn stepped(&mut self, from: f64, is_up: bool) -> f64 {
        let factor = 1.0 + self.step;
        self.step *= 2.0;
        if is_up { from * factor } else { from / factor }
    }

    /// What is known so far.
    pub(super) fn found(&self) -> Bracket {
        let missed = self.missed.as_ref();
        Bracket {
            met_per_second: self.met,
            missed_per_second: missed.map(|missed| missed.rate),
            missed_because: missed.map_or_else(String::new, |missed| missed.seen.because.clone()),
            is_generators: missed
                .is_some_and(|missed| missed.seen.decision == Decision::GeneratorLate),
            limit: missed.map(|missed| missed.seen.limit),
        }
    }
}
