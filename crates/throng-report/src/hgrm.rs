//! The latencies of each row in the percentile form of `HdrHistogram` (`.hgrm`), which `hdr-plot` and the plotter on HdrHistogram's site take: a file for each
//! distribution of each row, of all messages of the trials that the row stands on. Values are milliseconds.

use throng_record::RunRecord;

use crate::experiments;
use crate::figure::Figure;
use crate::figures;
use crate::merge::{Live, Merges};
use crate::setting::heading;
use crate::target;
use crate::worth::Sorted;

/// Points for each halving of what is left above, as other writers have.
const TICKS: u32 = 5;
const NANOSECONDS_IN_MILLISECOND: f64 = 1e6;

/// File names and what is in them; rows without latencies have none.
#[must_use]
pub fn files(record: &RunRecord) -> Vec<(String, String)> {
    let plan = &record.plan;
    let figures = figures::of_plan(plan);
    let is_whole = |figure: &&Figure| figure.stands_for_distribution();
    let mut files = Vec::new();
    for (target, setting) in plan.cells() {
        let sorted = Sorted::new(record, target, setting);
        let trials = experiments::of(plan.experiment).shown(&sorted);
        let mut merges = Merges::default();
        for figure in figures.iter().filter(is_whole) {
            // What cannot be read back is told by every other report.
            let Some(all) = figure.all_latencies(&trials, &mut merges) else {
                continue;
            };
            let setting = plan.settings.get(setting as usize);
            let words = [
                target::name(plan, target),
                &setting.map_or_else(String::new, heading),
                figure.distribution(),
            ]
            .join("-");
            let plain = |letter: char| match letter {
                letter if letter.is_ascii_alphanumeric() => letter,
                '.' | '-' | '_' => letter,
                _ => '_',
            };
            // `1,000 connections` is `1000_connections`.
            let letters = words.chars().filter(|letter| *letter != ',');
            let name: String = letters.map(plain).collect();
            files.push((format!("{name}.hgrm"), percentiles(all)));
        }
    }
    files
}

/// A line for each percentile, then what describes the whole.
fn percentiles(all: &Live) -> String {
    let ms = |nanoseconds: f64| nanoseconds / NANOSECONDS_IN_MILLISECOND;
    let mut text = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    let mut until = 0;
    for step in all.iter_quantiles(TICKS) {
        until += step.count_since_last_iteration();
        let quantile = step.quantile_iterated_to();
        let value = ms(step.value_iterated_to() as f64);
        text += &format!("{value:12.6} {quantile:2.12} {until:10}");
        if quantile < 1.0 {
            text += &format!(" {:14.2}", 1.0 / (1.0 - quantile));
        }
        text.push('\n');
    }
    text += &format!(
        "#[Mean    = {:12.6}, StdDeviation   = {:12.6}]\n#[Max     = {:12.6}, Total count    = {:12}]\n",
        ms(all.mean()),
        ms(all.stdev()),
        ms(all.max() as f64),
        all.len(),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_rise_to_the_greatest_value_and_count_everything() {
        let mut live = throng_record::histogram::empty();
        for value in 1..=1_000_u64 {
            live.record(value * 1_000_000).expect("within range");
        }
        let text = percentiles(&live);
        let numbers: Vec<Vec<f64>> = text
            .lines()
            .skip(2)
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let words = line.split_whitespace();
                words.map(|word| word.parse().expect("a number")).collect()
            })
            .collect();
        let last = numbers.last().expect("lines");
        assert_eq!((last[1], last[2]), (1.0, 1_000.0));
        assert!((last[0] - 1_000.0).abs() < 1.0, "{last:?}");
        assert!(numbers.is_sorted_by(|one, next| one[0] <= next[0] && one[2] <= next[2]));
        let median = numbers
            .iter()
            .find(|line| line[1] == 0.5)
            .expect("a median");
        assert!(
            (median[0] / 500.0 - 1.0).abs() < 0.002 && median[3] == 2.0,
            "{median:?}"
        );
    }
}
