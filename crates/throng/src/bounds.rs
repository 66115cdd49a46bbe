//! Bounds of a search: conditions on figures, as gates are, judged within the trials at one rate.

use throng_lab::search::{Bounds, Held};
use throng_record::{Plan, Trial};
use throng_report::gate::Gate;
use throng_report::median;

use crate::failure::Failure;
use crate::gates;

/// All of them are to hold.
#[derive(Debug)]
pub(crate) struct AllOf(Vec<Gate>);

/// Those of a plan; `None` where it searches for nothing.
pub(crate) fn read(plan: &Plan) -> Result<Option<AllOf>, Failure> {
    let Some(spec) = &plan.search else {
        return Ok(None);
    };
    let read = |text: &String| {
        let gate = Gate::read_between(text, plan).map_err(gates::failure)?;
        match gate.is_of_value() {
            true => Ok(gate),
            false => Err(Failure::usage(format_args!(
                "`{text}` compares with a baseline, and a bound is a value"
            ))
            .hint("write for example --bound 'p99 < 5ms'; --fail-if compares with a baseline")),
        }
    };
    let gates: Result<Vec<Gate>, Failure> = spec.bounds.iter().map(read).collect();
    gates.map(|gates| Some(AllOf(gates)))
}

impl Bounds for AllOf {
    fn replies_needed(&self) -> u64 {
        let needed = self.0.iter().map(Gate::replies_needed);
        needed.max().unwrap_or_default()
    }

    /// Of several the one that holds least decides, and is told of.
    fn hold(&self, plan: &Plan, trials: &[&Trial]) -> Held {
        let all = self.0.iter().map(|gate| gate.held(plan, trials));
        let least = all.min_by_key(|held| match (held.is_held, held.is_held_by_value) {
            (Some(false), _) => 0,
            (None, false) => 1,
            (None, true) => 2,
            (Some(true), _) => 3,
        });
        least.map_or_else(
            || Held {
                is_held: Some(false),
                is_held_by_value: false,
                words: "there is no bound".to_owned(),
            },
            |held| Held {
                is_held: held.is_held,
                is_held_by_value: held.is_held_by_value,
                words: held.words,
            },
        )
    }

    fn spread(&self, values: &[f64]) -> Option<(f64, f64)> {
        median::estimate(values)?.spread.ends()
    }
}
