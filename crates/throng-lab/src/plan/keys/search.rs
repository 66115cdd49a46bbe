//! The greatest rate at which bounds hold: what is to hold, and how closely it is looked for.

use throng_record::plan::Experiment::Capacity;

use super::instead::Instead::Take;
use super::{Key, flag};

const GIVEN: &str = "its rate is given, or the server's own";

pub(super) const KEYS: &[Key] = &[
    flag("bound", "CONDITION", "What is to hold, such as 'p99 < 5ms' or 'p99.9 < 20ms'; any figure by its key. May be repeated")
        .of_some(GIVEN, Take(Capacity)),
    flag("within", "SHARE", "How wide the interval of the answer may be: 5% or 0.05")
        .usually("5%")
        .of_some(GIVEN, Take(Capacity)),
    flag("time-limit", "TIME", "Longest search for each target and setting; its answer is then as close as it came")
        .usually("2min")
        .of_some(GIVEN, Take(Capacity)),
    flag("curve", "POINTS", "Points of the curve of latency over the rate, from a tenth of the answer to beyond it; 0 for none")
        .usually("8")
        .of_some(GIVEN, Take(Capacity)),
];
