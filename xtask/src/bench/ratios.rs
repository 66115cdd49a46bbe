//! Rounds of alternating measurements, and the ratio of each to the first.

use std::error::Error;

use throng_report::median::{self, Spread};
use throng_report::ratio;

use super::Bench;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One thing that is measured: its name, and how.
pub(super) type Measured<'a> = (&'a str, Box<dyn Fn() -> Result<f64> + 'a>);

/// Measures all in turn, round after round, and prints each one's median and its ratio to the first.
pub(super) fn compare(
    bench: &Bench,
    title: &str,
    unit: &str,
    measured: &[Measured<'_>],
) -> Result<()> {
    let mut values = vec![Vec::new(); measured.len()];
    for _ in 0..bench.rounds {
        for (measure, values) in measured.iter().zip(&mut values) {
            values.push(measure.1()?);
        }
    }
    let names: Vec<&str> = measured.iter().map(|(name, _)| *name).collect();
    tell(title, unit, &names, &values)
}

/// Prints the median of what was measured of each in turn, and its ratio to the first's.
pub(super) fn tell(title: &str, unit: &str, names: &[&str], values: &[Vec<f64>]) -> Result<()> {
    println!("{title}");
    for (name, own) in names.iter().zip(values) {
        let pairs: Vec<(f64, f64)> = own.iter().copied().zip(values[0].iter().copied()).collect();
        let middle = median::estimate(own).ok_or("no rounds")?.median;
        let ratio = ratio::of_pairs(&pairs).ok_or("no rounds")?;
        println!(
            "  {name:<34} {middle:>12.0} {unit:<12} ratio {:.3} {}",
            ratio.median,
            spread(ratio.spread)
        );
    }
    Ok(())
}

fn spread(spread: Spread) -> String {
    match spread {
        Spread::Interval95 { low, high } => format!("[{low:.3}, {high:.3}]"),
        Spread::Range { low, high } => format!("(range {low:.3} – {high:.3})"),
        Spread::Single => String::new(),
    }
}
