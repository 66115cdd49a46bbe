//! `--fail-if`: conditions under which a run is an error, for builds.

use clap::{Args, ValueEnum};
use throng_catalogue::suggest::nearest;
use throng_record::format::plural;
use throng_record::{Plan, RunRecord};
use throng_report::Summary;
use throng_report::compare::Comparison;
use throng_report::gate::{Decision, Gate, GateError, Judged};

use crate::failure::{Failure, note};

/// Rows that a line names at most.
const NAMED_MAX: usize = 3;

const MEASURE_MORE: &str = "measure longer (--duration) or more often (--repeats 6)";

/// Conditions on what was measured.
#[derive(Debug, Args)]
pub(crate) struct GateFlags {
    /// Exit with 1 if a row meets this, such as 'p99 > 5ms' or 'throughput < 0.95 * baseline'; may be repeated
    #[arg(long = "fail-if", value_name = "CONDITION", help_heading = "Report")]
    conditions: Vec<String>,
    /// What a condition counts as where the interval is too wide to tell
    #[arg(long, default_value = "pass", help_heading = "Report")]
    undecided: Undecided,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Undecided {
    Pass,
    Fail,
}

impl GateFlags {
    /// The conditions, on runs of this plan.
    pub(crate) fn read(&self, plan: &Plan) -> Result<Vec<Gate>, Failure> {
        let read = |text: &String| Gate::read(text, plan).map_err(failure);
        self.conditions.iter().map(read).collect()
    }

    /// The conditions, on comparisons of such runs.
    pub(crate) fn read_between(&self, plan: &Plan) -> Result<Vec<Gate>, Failure> {
        let read = |text: &String| Gate::read_between(text, plan).map_err(failure);
        self.conditions.iter().map(read).collect()
    }

    /// Tells of each condition in a line; what is wrong is given back.
    pub(crate) fn judge(&self, gates: &[Gate], record: &RunRecord) -> Vec<Failure> {
        if gates.is_empty() {
            return vec![];
        }
        let summary = Summary::of(record);
        let judge = |gate: &Gate| self.verdict(gate, &gate.judge(record, &summary));
        gates.iter().flat_map(judge).collect()
    }

    /// The same of a comparison that has the figures of all of them.
    pub(crate) fn judge_between(&self, gates: &[Gate], comparison: &Comparison) -> Vec<Failure> {
        let judge = |gate: &Gate| self.verdict(gate, &gate.judge_between(comparison));
        gates.iter().flat_map(judge).collect()
    }

    fn verdict(&self, gate: &Gate, rows: &[Judged]) -> Vec<Failure> {
        let words = |decision| -> Vec<&str> {
            let rows = rows.iter().filter(|row| row.decision == decision);
            rows.map(|row| row.words.as_str()).collect()
        };
        let (met, untold) = (words(Decision::Met), words(Decision::Undecided));
        let mut failures = Vec::new();
        if !met.is_empty() {
            failures.push(Failure::failed(format_args!(
                "{}: met by {}",
                gate.text,
                some(&met)
            )));
        }
        let line = if rows.is_empty() {
            format!("{}: cannot tell, since nothing was measured", gate.text)
        } else if untold.is_empty() {
            if met.is_empty() {
                let rows = plural(rows.len() as u64, "row");
                note(format_args!("{}: met by none of {rows}", gate.text));
            }
            return failures;
        } else {
            format!("{}: cannot tell of {}", gate.text, some(&untold))
        };
        match self.undecided {
            Undecided::Pass => note(format_args!("{line}; {MEASURE_MORE}")),
            Undecided::Fail => failures.push(Failure::failed(line).hint(MEASURE_MORE)),
        }
        failures
    }
}

/// The first of them, and how many more.
fn some(words: &[&str]) -> String {
    let (named, others) = words.split_at(words.len().min(NAMED_MAX));
    match others.len() {
        0 => named.join("; "),
        more => format!("{}; and {more} more", named.join("; ")),
    }
}

/// What is wrong with a condition.
pub(crate) fn failure(error: GateError) -> Failure {
    let failure = Failure::usage(&error);
    match &error {
        GateError::Figure { name, known } => {
            let meant = nearest(name, known.iter().map(String::as_str));
            failure.meant(meant, "throng explain lists them all")
        }
        GateError::Form(_) | GateError::Value { .. } | GateError::NoOther(_) => {
            failure.with_hint_parted()
        }
    }
}
