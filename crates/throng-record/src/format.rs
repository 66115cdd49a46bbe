//! Figures as people read them: three significant digits, a unit, a dash for what is absent.
//!
//! Left out on purpose: locales. The decimal mark is a point everywhere, so that a report can be quoted and searched.

/// Stands for a figure that was not measured or does not apply.
pub const ABSENT: &str = "–";

/// Rates and counts: 812, 143 k, 1.43 M.
#[must_use]
pub fn count(value: f64) -> String {
    scale(value, 1_000.0, &["", " k", " M", " G"])
}

/// Messages per second: 812/s, 143 k/s.
#[must_use]
pub fn rate(per_second: f64) -> String {
    format!("{}/s", count(per_second))
}

/// A measured time, given in nanoseconds: 812 ns, 41.3 µs, 1.20 ms.
#[must_use]
pub fn time_ns(nanoseconds: f64) -> String {
    scale(nanoseconds, 1_000.0, &[" ns", " µs", " ms", " s"])
}

/// Memory: 512 B, 12.3 KiB, 1.50 GiB.
#[must_use]
pub fn bytes(value: f64) -> String {
    scale(value, 1_024.0, &[" B", " KiB", " MiB", " GiB", " TiB"])
}

/// A ratio without its sign: 0.98, 1.12, 14.3; below a tenth with two significant digits.
#[must_use]
pub fn ratio(value: f64) -> String {
    if (0.001..0.1).contains(&value) {
        format!("{value:.3}")
    } else {
        digits(value, 2)
    }
}

/// A small difference without its unit, in hundredths at most: 0.00, 6.12, -0.31, 14.3. Never minus zero.
#[must_use]
pub fn hundredths(value: f64) -> String {
    digits((value * 100.0).round() / 100.0 + 0.0, 2)
}

/// A time that was chosen rather than measured, in nanoseconds: 1 s, 1.5 s, 200 ms. Long ones in minutes: 2 min 5 s.
#[must_use]
pub fn setting_ns(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    if seconds >= 120 {
        return match seconds % 60 {
            0 => format!("{} min", seconds / 60),
            rest => format!("{} min {rest} s", seconds / 60),
        };
    }
    let text = time_ns(nanoseconds as f64);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text,
    }
}

/// An exact number with its thousands set apart: 200,000.
#[must_use]
pub fn exact(value: u64) -> String {
    let plain = value.to_string();
    let mut grouped = String::with_capacity(plain.len() + plain.len() / 3);
    for (index, digit) in plain.chars().enumerate() {
        if index > 0 && (plain.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A noun with its number: 1 trial, 24 trials.
#[must_use]
pub fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", exact(number))
}

/// How often: once, twice, 17 times.
#[must_use]
pub fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", exact(more)),
    }
}

/// Some of all: 1,013 of 10,000.
#[must_use]
pub fn of(some: u32, all: u32) -> String {
    format!("{} of {}", exact(some.into()), exact(all.into()))
}

/// `1, 10 and 100`.
#[must_use]
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Three significant digits with the largest unit that leaves at least one before the point.
fn scale(value: f64, step: f64, units: &[&str]) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let mut scaled = value;
    let mut unit = 0;
    // From 999.5 on, three digits would round to a fourth.
    while scaled.abs() >= 999.5 && unit + 1 < units.len() {
        scaled /= step;
        unit += 1;
    }
    let decimals = if unit == 0 && scaled.fract() == 0.0 {
        0
    } else {
        2
    };
    format!("{}{}", digits(scaled, decimals), units[unit])
}

/// `decimals` after the point below 10, one fewer for each further digit before it.
fn digits(value: f64, decimals: usize) -> String {
    let fewer = match value.abs() {
        small if small < 9.995 => 0,
        middle if middle < 99.95 => 1,
        _ => 2,
    };
    format!("{value:.*}", decimals.saturating_sub(fewer))
}

/// The last lines of a program's output as the end of an error message; nothing where there are none.
#[must_use]
pub fn tail_in_words(tail: &[String]) -> String {
    if tail.is_empty() {
        return String::new();
    }
    format!("\nthe last of its output:\n    {}", tail.join("\n    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_fitting_unit() {
        assert_eq!(rate(0.0), "0/s");
        assert_eq!(rate(812.0), "812/s");
        assert_eq!(rate(812.4), "812/s");
        assert_eq!(rate(143_210.0), "143 k/s");
        assert_eq!(rate(1_432_100.0), "1.43 M/s");
        assert_eq!(time_ns(7.0), "7 ns");
        assert_eq!(time_ns(41_312.0), "41.3 µs");
        assert_eq!(time_ns(1_200_000.0), "1.20 ms");
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(12_595.2), "12.3 KiB");
        assert_eq!(bytes(-3_072.0), "-3.00 KiB");
        assert_eq!(bytes(f64::NAN), ABSENT);
    }

    #[test]
    fn rounding_up_moves_on_to_the_next_unit() {
        assert_eq!(rate(999_499.0), "999 k/s");
        assert_eq!(rate(999_500.0), "1.00 M/s");
        assert_eq!(time_ns(9_996.0), "10.0 µs");
        assert_eq!(time_ns(99_960.0), "100 µs");
        assert_eq!(bytes(1_023.0), "1.00 KiB");
    }

    #[test]
    fn ratios_keep_two_decimals_around_one() {
        assert_eq!(ratio(1.124), "1.12");
        assert_eq!(ratio(0.976), "0.98");
        assert_eq!(ratio(14.32), "14.3");
        assert_eq!(ratio(0.0213), "0.021");
    }

    #[test]
    fn a_difference_of_next_to_nothing_has_no_sign() {
        let words = [-0.004, 0.004, -0.31, 6.118, 14.32].map(hundredths);
        assert_eq!(words, ["0.00", "0.00", "-0.31", "6.12", "14.3"]);
    }

    #[test]
    fn settings_are_shown_as_they_were_written() {
        assert_eq!(setting_ns(1_000_000_000), "1 s");
        assert_eq!(setting_ns(1_500_000_000), "1.5 s");
        assert_eq!(setting_ns(200_000_000), "200 ms");
        assert_eq!(setting_ns(10_000_000_000), "10 s");
        assert_eq!(setting_ns(125_000_000_000), "2 min 5 s");
    }

    #[test]
    fn exact_numbers_and_lists() {
        assert_eq!(exact(0), "0");
        assert_eq!(exact(999), "999");
        assert_eq!(exact(1_048_576), "1,048,576");
        let items: Vec<String> = [1, 10, 100].iter().map(ToString::to_string).collect();
        assert_eq!(list(&items), "1, 10 and 100");
        assert_eq!(plural(1, "trial"), "1 trial");
    }
}
