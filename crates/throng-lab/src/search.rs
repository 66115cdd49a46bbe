//! The search for the greatest rate at which bounds hold, at one target and setting.
//!
//! *Method.* A closed loop says how fast the server goes at most; a probe at a twentieth of that, whether the bounds can hold at all. From there open loops
//! bracket the answer and halve the bracket, on a logarithmic scale, until it is half as wide as was asked for. A probe that cannot be decided is made again
//! at the same rate, twice at most, and the three are judged together. Then the search is repeated, each time from where the last ones ended and beginning at
//! a rate that is a little off theirs by chance, so that the grid of rates is not the same: latency is not always monotonic in the rate, and one bracket
//! says nothing of how far off it may be. It ends when the interval of the repeats is as narrow as was asked for, or its time is over.
//!
//! Nothing here measures: `Search::next` says which probe is to be made, `Search::learn` is told what came of it, so that the method can be tried on
//! servers whose capacity is known in closed form. `run::searching` makes the probes of all searches of a run in turn.

mod curve;
pub(crate) mod decide;
mod repeat;
#[cfg(test)]
mod tests;

use throng_record::{Bracket, Decision, Limit, Purpose, SearchEnd, SearchSpec};

pub use decide::{Bounds, Held};
use repeat::{Repeat, Turn};

use crate::order::SplitMix64;

/// The calm probe's rate, as a part of what the closed loop reached.
const CALM: f64 = 0.05;
/// The rate of the first probe of a server that was there before.
const GREETING_PER_SECOND: f64 = 50.0;
/// Where the first bracket begins, as a part of the same.
const FIRST: f64 = 0.7;
/// How often the rate is divided by ten where the bounds do not hold even in the calm.
const DESCENTS: u32 = 3;
/// Replies of the longest probe below which it says nothing.
const REPLIES_MIN: f64 = 20.0;
/// How far below what it found before a repeat looks; of a server that is the same in all probes, which is another one then, and of any other.
const LOST: f64 = 0.5;
const LOWEST: f64 = 0.05;
/// Probes at one rate before it is decided whatever they say.
pub(crate) const ATTEMPTS: u32 = 3;

/// A probe to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) purpose: Purpose,
    /// `None`: a closed loop.
    pub(crate) rate_per_second: Option<f64>,
    /// Which repeat of the search.
    pub(crate) repeat: u32,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) decision: Decision,
    /// By which figure, in words.
    pub(crate) because: String,
    /// Replies per second.
    pub(crate) replies_per_second: f64,
    /// Which side was the limit.
    pub(crate) limit: Limit,
    /// It could not be made, or its server does not serve what was asked for: why.
    pub(crate) failure: Option<String>,
    /// How long it took in all.
    pub(crate) took_ns: u64,
}

/// The ends of an interval, out of the values of repeats.
type Spread<'a> = &'a dyn Fn(&[f64]) -> Option<(f64, f64)>;

/// The surroundings of a search.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) spec: &'a SearchSpec,
    /// The fewest repeats.
    pub(crate) repeats: u32,
    /// Whether the server was there before, and is the same in all probes.
    pub(crate) is_running: bool,
    /// Low and high end of what the rates of several repeats say.
    pub(crate) spread: Spread<'a>,
}

/// How far a search is.
#[derive(Clone, Debug)]
pub(crate) struct State {
    stage: Stage,
    random: SplitMix64,
    took_ns: u64,
    saturated_per_second: Option<f64>,
    /// The rate of the calm, where the bounds held there.
    calm_per_second: Option<f64>,
    brackets: Vec<Bracket>,
    ended: Option<SearchEnd>,
}

#[derive(Clone, Debug)]
enum Stage {
    /// Before a server that was there before is asked for all it can give, which may spoil it.
    Greet,
    Saturate,
    Calm {
        rate: f64,
        descents: u32,
    },
    Searching(Repeat),
    Curve {
        rates: Vec<f64>,
        done: usize,
    },
    Over,
}

impl State {
    /// `seed`: where each repeat begins depends on it.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            stage: Stage::Greet,
            random: SplitMix64::new(seed),
            took_ns: 0,
            saturated_per_second: None,
            calm_per_second: None,
            brackets: vec![],
            ended: None,
        }
    }

    /// What there is so far.
    pub(crate) fn found(&self) -> (Option<f64>, &[Bracket], Option<&SearchEnd>) {
        (
            self.saturated_per_second,
            &self.brackets,
            self.ended.as_ref(),
        )
    }

    /// The rates that the repeats found.
    fn capacities(&self) -> Vec<f64> {
        let brackets = self.brackets.iter();
        brackets.filter_map(|one| one.met_per_second).collect()
    }

    /// Ends it, whatever it was at.
    pub(crate) fn end(&mut self, ended: SearchEnd) {
        self.ended.get_or_insert(ended);
        self.stage = Stage::Over;
    }
}

impl Search<'_> {
    /// The next probe; `None` where the search is over.
    pub(crate) fn next(&self, state: &State) -> Option<Wanted> {
        let repeat = u32::try_from(state.brackets.len()).unwrap_or(u32::MAX);
        let wanted = |purpose, rate_per_second, repeat| Wanted {
            purpose,
            rate_per_second,
            repeat,
        };
        Some(match &state.stage {
            Stage::Greet if self.is_running => {
                wanted(Purpose::Calm, Some(self.greeting_per_second()), 0)
            }
            Stage::Greet | Stage::Saturate => wanted(Purpose::Saturate, None, 0),
            Stage::Calm { rate, .. } => wanted(Purpose::Calm, Some(*rate), 0),
            Stage::Searching(searching) => wanted(Purpose::Search, Some(searching.rate()), repeat),
            Stage::Curve { rates, done } => wanted(Purpose::Curve, Some(*rates.get(*done)?), 0),
            Stage::Over => return None,
        })
    }

    /// Takes in what came of the probe that [`Search::next`] asked for.
    pub(crate) fn learn(&self, state: &mut State, seen: &Seen) {
        state.took_ns += seen.took_ns;
        if let Some(message) = &seen.failure {
            return self.failed(state, message);
        }
        let is_over_time = state.took_ns >= self.spec.time_limit_ns;
        match std::mem::replace(&mut state.stage, Stage::Over) {
            Stage::Greet if self.is_running => {
                let is_met = seen.decision == Decision::Met;
                state.calm_per_second = is_met.then(|| self.greeting_per_second());
                state.stage = Stage::Saturate;
            }
            Stage::Greet | Stage::Saturate => {
                saturated(state, seen, self.lowest_per_second());
            }
            Stage::Calm { rate, descents } => self.calmed(state, rate, descents, seen),
            Stage::Searching(mut repeat) => match repeat.learn(self.spec.within / 2.0, seen) {
                Turn::On if is_over_time => self.ended_within(state, &repeat),
                Turn::On => state.stage = Stage::Searching(repeat),
                Turn::Found(bracket) => {
                    state.brackets.push(bracket);
                    self.repeated(state, is_over_time);
                }
                Turn::Nowhere {
                    missed_per_second,
                    because,
                } => {
                    self.nowhere(state, missed_per_second, because, is_over_time);
                }
            },
            Stage::Curve { rates, done } => {
                state.stage = Stage::Curve {
                    rates,
                    done: done + 1,
                }
            }
            Stage::Over => {}
        }
    }

    fn lowest_per_second(&self) -> f64 {
        REPLIES_MIN * 1e9 / self.spec.duration_max_ns as f64
    }

    fn greeting_per_second(&self) -> f64 {
        GREETING_PER_SECOND.max(self.lowest_per_second())
    }

    /// A server that no longer answers after it was asked for too much is told of as such, if it was not we who launched it.
    fn failed(&self, state: &mut State, message: &str) {
        let is_of_curve = matches!(state.stage, Stage::Curve { .. });
        if is_of_curve {
            state.stage = Stage::Over;
            return;
        }
        state.end(SearchEnd::Failed {
            message: message.to_owned(),
        });
    }

    fn calmed(&self, state: &mut State, rate: f64, descents: u32, seen: &Seen) {
        let saturated = state.saturated_per_second.unwrap_or(rate);
        let is_met = seen.decision == Decision::Met;
        let is_missed = matches!(seen.decision, Decision::NotMet | Decision::GeneratorLate);
        if let Some(held_per_second) = state
            .calm_per_second
            .filter(|held| is_missed && rate <= *held)
        {
            return state.end(SearchEnd::Collapsed {
                held_per_second,
                now_per_second: rate,
                because: seen.because.clone(),
            });
        }
        let is_lowest = descents == DESCENTS || rate / 10.0 < self.lowest_per_second();
        if is_missed && !is_lowest {
            state.stage = Stage::Calm {
                rate: rate / 10.0,
                descents: descents + 1,
            };
            return;
        }
        if is_missed {
            return state.end(SearchEnd::NoRateMeets {
                lowest_per_second: rate,
                because: seen.because.clone(),
            });
        }
        state.calm_per_second = is_met.then_some(rate).or(state.calm_per_second);
        // Where the rate had to be lowered, the answer is below what was too much a moment ago.
        let first = match descents {
            0 => FIRST * saturated,
            _ => 3.0 * rate,
        };
        state.stage = Stage::Searching(Repeat::bracket(first.max(rate), rate));
    }

    /// One more repeat, the curve, or the end.
    fn repeated(&self, state: &mut State, is_over_time: bool) {
        let capacities = state.capacities();
        let made = state.brackets.len();
        let is_narrow = made >= self.repeats as usize
            && (self.spread)(&capacities)
                .is_none_or(|(low, high)| high - low <= self.spec.within * low);
        if is_narrow || is_over_time {
            let ended = if is_narrow {
                SearchEnd::Width
            } else {
                SearchEnd::TimeLimit
            };
            return self.draw_curve(state, ended);
        }
        let middle = middle(&capacities);
        let grid = 1.0 + self.spec.within / 2.0;
        let first = middle * grid.powf(state.random.unit() - 0.5);
        let floor = if self.is_running { LOST } else { LOWEST };
        state.stage = Stage::Searching(Repeat::around(first, self.spec.within, floor * first));
    }

    /// The time was over in the middle of a repeat: the first counts as far as it came.
    fn ended_within(&self, state: &mut State, repeat: &Repeat) {
        if state.brackets.is_empty() {
            let bracket = repeat.found();
            let met_per_second = bracket.met_per_second.or(state.calm_per_second);
            state.brackets.push(Bracket {
                met_per_second,
                ..bracket
            });
        }
        self.draw_curve(state, SearchEnd::TimeLimit);
    }

    /// The bounds hold no more, though they did before: a server that is the same in all probes has changed for good, and of others this repeat found nothing.
    fn nowhere(
        &self,
        state: &mut State,
        missed_per_second: f64,
        because: String,
        is_over_time: bool,
    ) {
        let held = match &state.capacities()[..] {
            [] => state.calm_per_second,
            found => Some(middle(found)),
        };
        match held {
            Some(held_per_second) if self.is_running => state.end(SearchEnd::Collapsed {
                held_per_second,
                now_per_second: missed_per_second,
                because,
            }),
            Some(_) if !state.brackets.is_empty() => {
                state.brackets.push(Bracket {
                    missed_per_second: Some(missed_per_second),
                    missed_because: because,
                    ..Bracket::default()
                });
                self.repeated(state, is_over_time);
            }
            _ => state.end(SearchEnd::NoRateMeets {
                lowest_per_second: missed_per_second,
                because,
            }),
        }
    }

    fn draw_curve(&self, state: &mut State, ended: SearchEnd) {
        let rates = curve::rates(middle(&state.capacities()), self.spec.curve_points);
        state.ended = Some(ended);
        state.stage = match rates.is_empty() {
            true => Stage::Over,
            false => Stage::Curve { rates, done: 0 },
        };
    }
}

fn saturated(state: &mut State, seen: &Seen, lowest_per_second: f64) {
    if seen.replies_per_second <= 0.0 {
        return state.end(SearchEnd::Failed {
            message: format!("nobody was answered in the closed loop: {}", seen.because),
        });
    }
    state.saturated_per_second = Some(seen.replies_per_second);
    state.stage = Stage::Calm {
        rate: (CALM * seen.replies_per_second).max(lowest_per_second),
        descents: 0,
    };
}

/// The median; of an even number the mean of the middle two.
fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[length / 2],
        length => f64::midpoint(sorted[length / 2 - 1], sorted[length / 2]),
    }
}

/// Probes that the search at one target and setting is likely to take, those of the curve among them.
pub(crate) fn expected(spec: &SearchSpec, repeats: u32) -> u32 {
    let halvings = (1.25_f64.ln() / (spec.within / 2.0).ln_1p())
        .log2()
        .ceil()
        .max(1.0);
    // The closed loop, the calm, three to bracket; of a further repeat two to bracket it and one that halves.
    5 + halvings as u32 + 3 * repeats.saturating_sub(1) + spec.curve_points
}
