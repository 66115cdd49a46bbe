//! Values as people write them in conditions: `5ms`, `95 %`, `1.5 MiB`, `100k`.

use crate::unit::Unit;

/// What may stand behind a number of this unit, and what it is worth.
fn suffixes(unit: Unit) -> &'static [(&'static str, f64)] {
    match unit {
        Unit::Nanoseconds => &[
            ("ns", 1.0),
            ("us", 1e3),
            ("µs", 1e3),
            ("ms", 1e6),
            ("s", 1e9),
            ("min", 6e10),
        ],
        Unit::Bytes => &[
            ("B", 1.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
        ],
        Unit::PerSecond => &[
            ("", 1.0),
            ("/s", 1.0),
            ("k", 1e3),
            ("k/s", 1e3),
            ("m", 1e6),
            ("M", 1e6),
            ("M/s", 1e6),
        ],
        Unit::Share => &[("", 1.0), ("%", 0.01)],
        Unit::Times => &[("", 1.0), ("x", 1.0), ("×", 1.0)],
        Unit::Count | Unit::Index => &[("", 1.0), ("k", 1e3), ("m", 1e6)],
    }
}

/// For messages: how one is written.
fn example(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "5ms",
        Unit::Bytes => "1.5MiB",
        Unit::PerSecond => "100k",
        Unit::Share => "5%",
        Unit::Times => "1.2",
        Unit::Count | Unit::Index => "0",
    }
}

/// A value in this unit.
///
/// # Errors
/// Says how one is written.
pub(super) fn read(text: &str, unit: Unit) -> Result<f64, String> {
    let (number, suffix) = parted(text);
    let worth = suffixes(unit).iter().find(|(known, _)| *known == suffix);
    match (number, worth) {
        (Some(number), Some((_, worth))) => Ok(number * worth),
        _ => Err(format!(
            "`{}` is no value of it; write for example {}",
            text.trim(),
            example(unit)
        )),
    }
}

/// A factor: `0.95`, `95%`.
pub(super) fn factor(text: &str) -> Option<f64> {
    read(text, Unit::Share).ok()
}

/// The number, and what stands behind it.
fn parted(text: &str) -> (Option<f64>, &str) {
    let text = text.trim();
    let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '_');
    let end = text.find(|letter| !is_of_number(letter));
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    (number.replace('_', "").parse().ok(), suffix.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_is_read_as_it_is_written_and_none_is_guessed() {
        for (text, unit, expected) in [
            ("5ms", Unit::Nanoseconds, 5e6),
            ("1.5 s", Unit::Nanoseconds, 1.5e9),
            ("250µs", Unit::Nanoseconds, 250e3),
            ("2KiB", Unit::Bytes, 2_048.0),
            ("100k", Unit::PerSecond, 100e3),
            ("1_000/s", Unit::PerSecond, 1e3),
            ("5%", Unit::Share, 0.05),
            ("0.05", Unit::Share, 0.05),
            ("1.2x", Unit::Times, 1.2),
            ("0", Unit::Count, 0.0),
        ] {
            let found = read(text, unit).expect(text);
            assert!(
                (found - expected).abs() <= expected * 1e-12,
                "{text}: {found}"
            );
        }
        for (text, unit) in [
            ("5", Unit::Nanoseconds),
            ("5ms", Unit::Bytes),
            ("ms", Unit::Nanoseconds),
            ("", Unit::Count),
            ("-1", Unit::Count),
            ("5 m s", Unit::Nanoseconds),
            ("1.2.3", Unit::Times),
            ("5%", Unit::PerSecond),
        ] {
            let error = read(text, unit).expect_err(text);
            assert!(error.contains("write for example"), "{error}");
        }
    }
}
