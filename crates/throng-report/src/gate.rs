//! Conditions under which a run fails, for builds: `p99 > 5ms`, `throughput < 0.95 * baseline`.
//!
//! *Method.* A condition is decided by both ends of the figure's interval (of fewer than six repeats of their range), never by its middle: it is met where both
//! ends meet it, not met where neither does, and otherwise nobody can tell. Of a single trial nothing is known of its spread, so that only what is counted over all
//! trials (errors, say) is decided. Against the baseline it is the ratio of each repeat to the same repeat of the baseline, as everywhere ([`crate::ratio`]). A figure
//! that is a bound ("at least X") has an open end.

mod amount;
mod held;

use std::fmt;

use throng_record::{Plan, RunRecord};

use crate::compare::{Comparison, Line, Verdict};
use crate::figure::{Figure, OneTrial};
use crate::figures;
use crate::format;
use crate::median::Spread;
use crate::ratio::{self, Bound, Compared};
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::target;
use crate::unit::Unit;
use crate::worth::Sorted;

pub use held::BoundHeld;

/// Short names of what is asked about most.
const SHORT: [(&str, &str); 8] = [
    ("throughput", "messages_per_second"),
    ("mean", "latency_ns_mean"),
    ("p50", "latency_ns_p50"),
    ("p90", "latency_ns_p90"),
    ("p99", "latency_ns_p99"),
    ("p99.9", "latency_ns_p99_9"),
    ("p99.99", "latency_ns_p99_99"),
    ("max", "latency_ns_max"),
];

/// A condition.
#[derive(Clone, Debug)]
pub struct Gate {
    /// As it was written.
    pub text: String,
    figure: Figure,
    relation: Relation,
    against: Against,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    More,
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Against {
    Value(f64),
    /// So many times the baseline's.
    Baseline(f64),
}

/// Why a text is no condition on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateError {
    /// It has no form of one.
    Form(String),
    /// The run has no figure of that name; all that it has.
    Figure {
        /// As it was written.
        name: String,
        /// What may be written instead.
        known: Vec<String>,
    },
    /// What it is compared with is no value of that figure: why.
    Value {
        /// Key of the figure.
        figure: String,
        /// In words, with how one is written.
        why: String,
    },
    /// It is compared with the baseline, and there is no other target.
    NoOther(String),
}

impl fmt::Display for GateError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(text) => write!(
                to,
                "`{text}` is no condition; write for example 'p99 > 5ms' or 'throughput < 0.95 * baseline'"
            ),
            Self::Figure { name, .. } => write!(to, "this run has no figure `{name}`"),
            Self::Value { figure, why } => write!(to, "{figure}: {why}"),
            Self::NoOther(text) => write!(
                to,
                "`{text}` compares with the baseline, which is the only target; name another target as well"
            ),
        }
    }
}

impl std::error::Error for GateError {}

/// Whether a row meets a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It does, as certainly as the interval is.
    Met,
    /// It does not.
    NotMet,
    /// Nobody can tell.
    Undecided,
}

/// A row judged by a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Whether it meets it.
    pub decision: Decision,
    /// Which row, and its figure: `epoll-edge at 100 connections: 6.21 ms [5.90 ms, 6.60 ms]`.
    pub words: String,
}

/// What a figure may be at the least and at the most, and how that is said.
struct Ends {
    low: f64,
    high: f64,
    words: String,
}

impl Gate {
    /// Reads a condition on runs of this plan.
    ///
    /// # Errors
    /// [`GateError`] where it has no form of one, or the run will have no such figure, or it has no target but the baseline.
    pub fn read(text: &str, plan: &Plan) -> Result<Self, GateError> {
        let gate = Self::read_between(text, plan)?;
        match gate.against {
            Against::Baseline(_) if plan.targets.len() < 2 => {
                Err(GateError::NoOther(text.to_owned()))
            }
            _ => Ok(gate),
        }
    }

    /// Reads a condition on a comparison of such runs, or of targets of one, whose baseline is the first of them.
    ///
    /// # Errors
    /// [`GateError`] where it has no form of one, or the runs have no such figure.
    pub fn read_between(text: &str, plan: &Plan) -> Result<Self, GateError> {
        let form = || GateError::Form(text.to_owned());
        let place = text.find(['<', '>']).ok_or_else(form)?;
        let (name, rest) = text.split_at(place);
        let (relation, right) = relation(rest).ok_or_else(form)?;
        if right.contains(['<', '>', '=']) {
            return Err(form());
        }
        let figure = figure(name.trim(), plan)?;
        let against = if right.contains("baseline") {
            Against::Baseline(factor(right).ok_or_else(form)?)
        } else {
            let value = amount::read(right, figure.unit);
            Against::Value(value.map_err(|why| GateError::Value {
                figure: figure.key.to_string(),
                why,
            })?)
        };
        Ok(Self {
            text: text.trim().to_owned(),
            figure,
            relation,
            against,
        })
    }

    /// Judges each row of a run; against the baseline, each but its own.
    #[must_use]
    pub fn judge(&self, record: &RunRecord, summary: &Summary<'_>) -> Vec<Judged> {
        let rows = summary.rows.iter();
        let is_asked = |row: &&Row| {
            row.standing != Standing::NotMeasured
                && !(row.is_baseline && matches!(self.against, Against::Baseline(_)))
        };
        rows.filter(is_asked)
            .map(|row| self.judge_row(record, row))
            .collect()
    }

    /// The key of its figure.
    #[must_use]
    pub fn figure(&self) -> &str {
        &self.figure.key
    }

    /// Judges each row of a comparison of its figure.
    #[must_use]
    pub fn judge_between(&self, comparison: &Comparison) -> Vec<Judged> {
        let lines = comparison.lines.iter();
        let lines = lines.filter(|line| line.figure == self.figure.key);
        lines
            .map(|line| self.judge_line(line, &comparison.first))
            .collect()
    }

    fn judge_line(&self, line: &Line, first: &str) -> Judged {
        let whose = match line.other == line.target {
            true => line.row(),
            false => format!("{} in {}", line.row(), line.other),
        };
        let (estimate, bound, unit, of) = match self.against {
            Against::Value(value) => (Some(line.values[1]), value, self.figure.unit, String::new()),
            Against::Baseline(factor) => (line.ratio, factor, Unit::Times, format!(" {first}")),
        };
        let undecided = |why: String| Judged {
            decision: Decision::Undecided,
            words: format!("{whose}: {why}"),
        };
        let Some(estimate) = estimate else {
            return undecided("there is no ratio to 0".to_owned());
        };
        let words = unit.words();
        let said = format!("{}{of}", words(estimate.median));
        match estimate.spread {
            _ if line.verdict == Verdict::OnlyABound => {
                undecided(format!("{said}, and one of the two is a bound only"))
            }
            Spread::Single => undecided(format!("{said}, of one trial each")),
            Spread::Interval95 { low, high } | Spread::Range { low, high } => Judged {
                decision: self.relation.decide(low, high, bound),
                words: format!("{whose}: {said}{}", format::spread(&estimate, words)),
            },
        }
    }

    fn judge_row(&self, record: &RunRecord, row: &Row) -> Judged {
        let sorted = sorted(record, row);
        let (ends, bound) = match self.against {
            Against::Value(value) => (self.value(row, &sorted), value),
            Against::Baseline(factor) => (self.ratio(record, row, &sorted), factor),
        };
        let whose = format!("{} at {}", row.target, row.heading);
        match ends {
            Ok(ends) => Judged {
                decision: self.relation.decide(ends.low, ends.high, bound),
                words: format!("{whose}: {}", ends.words),
            },
            Err(why) => Judged {
                decision: Decision::Undecided,
                words: format!("{whose}: {why}"),
            },
        }
    }

    fn value(&self, row: &Row, sorted: &Sorted<'_>) -> Result<Ends, String> {
        let found = row.found(&self.figure.key).ok_or("it has no such figure")?;
        let words = self.figure.unit.words();
        let (low, high) = match found.spread {
            None => (found.value, found.value),
            Some(Spread::Interval95 { low, high } | Spread::Range { low, high }) => (low, high),
            Some(Spread::Single) => {
                return Err(format!("{}, of one trial", words(found.value)));
            }
        };
        let spread = found.estimate();
        let spread = spread.map(|estimate| format::spread(&estimate, words));
        let (low, high, mark) = match self.bound(sorted) {
            Some(Bound::Exact) => (low, high, ""),
            Some(Bound::AtLeast) => (low, f64::INFINITY, "≥ "),
            Some(Bound::AtMost) => (0.0, high, "≤ "),
            None => {
                return Err(format!(
                    "{}, which may be too much or too little",
                    words(found.value)
                ));
            }
        };
        Ok(Ends {
            low,
            high,
            words: format!("{mark}{}{}", words(found.value), spread.unwrap_or_default()),
        })
    }

    fn ratio(&self, record: &RunRecord, row: &Row, own: &Sorted<'_>) -> Result<Ends, String> {
        let plan = &record.plan;
        let of_baseline = Sorted::new(record, plan.baseline, row.setting);
        let pairs = own.pairs(&of_baseline, |trial| {
            self.figure.of_trial(&OneTrial { plan, trial })
        });
        let estimate = ratio::of_pairs(&pairs).ok_or("nothing to compare")?;
        let times = Unit::Times.words();
        let said = format!(
            "{} {}",
            times(estimate.median),
            target::name(plan, plan.baseline)
        );
        let is_bound = [own, &of_baseline].map(|one| one.standing == Standing::Qualified);
        match estimate.spread {
            Spread::Single => Err(format!("{said}, of one trial each")),
            _ if is_bound.contains(&true) => {
                Err(format!("{said}, and one of them is a bound only"))
            }
            Spread::Interval95 { low, high } | Spread::Range { low, high } => Ok(Ends {
                low,
                high,
                words: said + &format::spread(&estimate, times),
            }),
        }
    }

    /// What the figure says of the true one; `None` where it may be wrong in both ways. Of a row that stands with a reservation latencies and throughput are
    /// bounds, and nothing else is.
    fn bound(&self, sorted: &Sorted<'_>) -> Option<Bound> {
        let compared = match self.figure.unit {
            _ if self.figure.quantile().is_some() => Compared::LatencyP99,
            Unit::PerSecond => Compared::MessagesPerSecond,
            _ => return Some(Bound::Exact),
        };
        match sorted.standing {
            Standing::Qualified => sorted.bound(compared),
            _ => Some(Bound::Exact),
        }
    }
}

/// The trials of a row.
fn sorted<'a>(record: &'a RunRecord, row: &Row) -> Sorted<'a> {
    let mut targets = (0..).zip(&record.plan.targets);
    let place = targets.find(|(_, target)| target.name == row.target);
    Sorted::new(
        record,
        place.map_or(u32::MAX, |(place, _)| place),
        row.setting,
    )
}

impl Relation {
    fn decide(self, low: f64, high: f64, bound: f64) -> Decision {
        match (self.holds(low, bound), self.holds(high, bound)) {
            (true, true) => Decision::Met,
            (false, false) => Decision::NotMet,
            _ => Decision::Undecided,
        }
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::AtMost => value <= bound,
            Self::More => value > bound,
            Self::AtLeast => value >= bound,
        }
    }
}

fn relation(text: &str) -> Option<(Relation, &str)> {
    let (relation, right) = if let Some(right) = text.strip_prefix("<=") {
        (Relation::AtMost, right)
    } else if let Some(right) = text.strip_prefix(">=") {
        (Relation::AtLeast, right)
    } else if let Some(right) = text.strip_prefix('<') {
        (Relation::Less, right)
    } else {
        (Relation::More, text.strip_prefix('>')?)
    };
    Some((relation, right.trim()))
}

fn figure(name: &str, plan: &Plan) -> Result<Figure, GateError> {
    let short = SHORT.iter().find(|(short, _)| *short == name);
    let key = short.map_or(name, |(_, key)| key);
    let figures = figures::of_plan(plan);
    let has = |key: &str| figures.iter().any(|figure| figure.key == key);
    let short = SHORT.iter().filter(|(_, key)| has(key));
    let known = || {
        let short = short.map(|(short, _)| (*short).to_owned());
        let keys = figures.iter().map(|figure| figure.key.to_string());
        short.chain(keys).collect()
    };
    let found = figures.iter().find(|figure| figure.key == key).cloned();
    found.ok_or_else(|| GateError::Figure {
        name: name.to_owned(),
        known: known(),
    })
}

/// `baseline`, `0.95 * baseline`, `baseline * 95%`.
fn factor(text: &str) -> Option<f64> {
    if text == "baseline" {
        return Some(1.0);
    }
    let (one, other) = text.split_once('*')?;
    match (one.trim(), other.trim()) {
        ("baseline", factor) | (factor, "baseline") => amount::factor(factor),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_decided_by_both_ends() {
        let more = |low, high| Relation::More.decide(low, high, 5.0);
        assert_eq!(more(5.1, 9.0), Decision::Met);
        assert_eq!(more(1.0, 5.0), Decision::NotMet);
        assert_eq!(more(4.9, 5.1), Decision::Undecided);
        assert_eq!(Relation::AtLeast.decide(5.0, 5.0, 5.0), Decision::Met);
        assert_eq!(Relation::AtMost.decide(5.0, 5.0, 5.0), Decision::Met);
        assert_eq!(Relation::Less.decide(5.0, 5.0, 5.0), Decision::NotMet);
        let at_least = Relation::Less.decide(4.0, f64::INFINITY, 5.0);
        assert_eq!(at_least, Decision::Undecided);
    }

    #[test]
    fn the_baseline_stands_with_its_factor_on_either_side() {
        assert_eq!(factor("baseline"), Some(1.0));
        assert_eq!(factor("0.95 * baseline"), Some(0.95));
        let percent = factor("baseline*95%").expect("a factor");
        assert!((percent - 0.95).abs() < 1e-12, "{percent}");
        assert_eq!(factor("baseline + 1"), None);
        assert_eq!(factor("2 baseline"), None);
    }
}
