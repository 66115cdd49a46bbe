//! Counts as people write them: `5000`, `10_000`, `1,000`, `5k`, `1.5m`; one reader for flags and plan files.
//!
//! `k` is a thousand and `m` a million, of whatever is counted. On the command line commas part the values of a sweep too: `1,000` is one number
//! there, since no list has `000` in it, and `1,500` is the list of 1 and 500. Left out on purpose: rates, which are no counts.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserializer, Visitor};

use super::Pings;
use crate::plan::Sweep;

/// Why a text is no count.
enum Fault {
    Negative,
    Fraction,
    TooLarge,
    NoNumber,
}

/// A number of things, 0 or more.
///
/// # Errors
/// Says why it is none, and how one is written.
pub fn count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let text = text.trim();
    let number = read(text).and_then(|number| T::try_from(number).map_err(|_| Fault::TooLarge));
    number.map_err(|fault| match fault {
        Fault::Negative => format!("`{text}` is below 0, and this is a count; write 0 or more"),
        Fault::Fraction => {
            format!("`{text}` is no whole number, and this is a count; write for example 5000, 5k or 1.5m")
        }
        Fault::TooLarge => {
            let most = u64::MAX >> (64 - 8 * size_of::<T>().min(8));
            format!("`{text}` is too large; write {most} or less")
        }
        Fault::NoNumber => {
            format!("`{text}` is no count; write for example 5000, 10_000, 5k or 1.5m")
        }
    })
}

/// Counts parted by commas.
///
/// # Errors
/// Says which is none, and how one is written.
pub fn counts<T: TryFrom<u64> + PartialEq>(text: &str) -> Result<Sweep<T>, String> {
    listed(text, count)
}

/// Numbers of connections to hold, parted by commas, each 1 or more.
///
/// # Errors
/// Says how it is written.
pub fn connections(text: &str) -> Result<Sweep<u32>, String> {
    let looks_like_a_target = text.trim().starts_with(|first: char| first.is_alphabetic());
    if looks_like_a_target || text.trim().is_empty() {
        return Err(format!(
            "`{text}` is no number of connections; write how many first, then the targets: throng hold 100k epoll-shared"
        ));
    }
    let numbers = counts::<u32>(text)?;
    if numbers.values().contains(&0) {
        return Err("it is 0, and nothing would be held; write for example 1000".to_owned());
    }
    Ok(numbers)
}

/// Numbers of connections to ping, parted by commas, `all` among them.
///
/// # Errors
/// Says how one is written.
pub fn pings(text: &str) -> Result<Sweep<Pings>, String> {
    listed(text, str::parse)
}

fn listed<T: PartialEq>(
    text: &str,
    one: impl Fn(&str) -> Result<T, String>,
) -> Result<Sweep<T>, String> {
    let parts: Vec<&str> = if is_one_number(text) {
        vec![text]
    } else {
        text.split(',').collect()
    };
    let is_torn = |part: &&str| is_group(part) && part.starts_with('0');
    if parts.len() > 1 && parts[1..].iter().any(is_torn) {
        return Err(format!(
            "`{text}` is a list, in which commas part the values; write a thousand as 1000, 1_000 or 1k"
        ));
    }
    let values: Result<Vec<T>, String> = parts.into_iter().map(one).collect();
    Ok(Sweep::of(values?).expect("a text has one part at least"))
}

/// Whether commas stand in it as in `1,000`, and it could be no list.
fn is_one_number(text: &str) -> bool {
    let (whole, _, _) = parted(text.trim());
    is_by_thousands(whole)
        && !whole.starts_with('0')
        && whole.split(',').any(|group| group.starts_with('0'))
}

fn is_by_thousands(whole: &str) -> bool {
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && is_digits(first) && groups.all(is_group)
}

fn is_group(text: &str) -> bool {
    text.len() == 3 && is_digits(text)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit())
}

/// Before the point, behind it where there is one, and the zeros that the letter at the end stands for.
fn parted(text: &str) -> (&str, Option<&str>, usize) {
    let (written, zeros) = if let Some(thousands) = text.strip_suffix(['k', 'K']) {
        (thousands, 3)
    } else if let Some(millions) = text.strip_suffix(['m', 'M']) {
        (millions, 6)
    } else {
        (text, 0)
    };
    match written.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction), zeros),
        None => (written, None, zeros),
    }
}

/// Digit by digit, so that `1.1k` is exactly 1100.
fn read(text: &str) -> Result<u64, Fault> {
    if text.starts_with('-') {
        return Err(Fault::Negative);
    }
    let (whole, fraction, zeros) = parted(text);
    let is_whole = is_by_thousands(whole) || whole.split('_').all(is_digits);
    if !is_whole || fraction.is_some_and(|fraction| !is_digits(fraction)) {
        return Err(Fault::NoNumber);
    }
    let fraction = fraction.unwrap_or_default().trim_end_matches('0');
    if fraction.len() > zeros {
        return Err(Fault::Fraction);
    }
    let whole = whole.replace([',', '_'], "");
    let digits = format!("{whole}{fraction:0<zeros$}");
    digits.parse().map_err(|_| Fault::TooLarge)
}

/// For serde: a number, or a text as a flag would have it.
pub(in crate::plan) fn of_file<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    struct Count<T>(PhantomData<T>);
    impl<T: TryFrom<u64>> Visitor<'_> for Count<T> {
        type Value = T;
        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a count, such as 5000 or \"5k\"")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            count(text).map_err(E::custom)
        }
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
        fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
    }
    deserializer.deserialize_any(Count(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_read_however_it_is_written() {
        for (text, number) in [
            ("0", 0),
            ("5000", 5_000),
            ("10_000", 10_000),
            ("1,000", 1_000),
            ("1,234,567", 1_234_567),
            ("5k", 5_000),
            ("5K", 5_000),
            ("1m", 1_000_000),
            ("1.5k", 1_500),
            ("0.5k", 500),
            ("1.1k", 1_100),
            ("1.000001M", 1_000_001),
            ("1_0.50k", 10_500),
            ("7.0", 7),
            ("4294967295", u32::MAX),
            (" 8 ", 8),
        ] {
            assert_eq!(count::<u32>(text), Ok(number), "{text}");
        }
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
    }

    #[test]
    fn what_is_no_count_is_told_with_what_would_be_one() {
        for (text, part) in [
            ("0.5", "no whole number"),
            ("1.2345k", "no whole number"),
            ("-5", "below 0"),
            ("4294967296", "4294967295 or less"),
            ("5000m", "4294967295 or less"),
            ("99999999999999999999", "4294967295 or less"),
            ("", "5k"),
            ("k", "5k"),
            ("5.k", "5k"),
            (".5k", "5k"),
            ("5kk", "5k"),
            ("_5", "5k"),
            ("1,00", "5k"),
            ("1,0000", "5k"),
            ("1_000,000", "5k"),
            ("5 k", "5k"),
            ("+5", "5k"),
            ("5e3", "5k"),
            ("٣", "5k"),
            ("ten", "5k"),
        ] {
            let error = count::<u32>(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_comma_parts_a_list_but_where_no_list_can_be_meant() {
        let read = |text| counts::<u32>(text).map(|sweep| sweep.values().to_vec());
        for (text, numbers) in [
            ("1,000", &[1_000][..]),
            ("100,000", &[100_000]),
            ("1,500,000", &[1_500_000]),
            ("1,000k", &[1_000_000]),
            ("1,500", &[1, 500]),
            ("1,100", &[1, 100]),
            ("1,10,100,1000", &[1, 10, 100, 1_000]),
            ("5k,1.5m,7", &[5_000, 1_500_000, 7]),
            ("8,1,8", &[8, 1]),
        ] {
            assert_eq!(read(text).as_deref(), Ok(numbers), "{text}");
        }
        for text in ["1,000,5000", "5,1,000", "1,000,10k,000"] {
            let error = read(text).expect_err(text);
            assert!(error.contains("1_000 or 1k"), "{text}: {error}");
        }
        assert!(read("6,,7").is_err() && read("6,").is_err());
    }

    #[test]
    fn all_is_a_number_of_pings() {
        let read = |text| pings(text).map(|sweep| sweep.values().to_vec());
        assert_eq!(read("1k,all"), Ok(vec![Pings::Count(1_000), Pings::All]));
        assert_eq!(read("1,000"), Ok(vec![Pings::Count(1_000)]));
        assert!(read("some").expect_err("no number").contains("all"));
        assert!(read("0.5").expect_err("no number").contains("whole"));
    }

    #[test]
    fn a_target_in_the_place_of_a_number_is_told_where_it_belongs() {
        assert_eq!(connections("100k").expect("a number").values(), [100_000]);
        for text in ["epoll-edge", "tcp://127.0.0.1:80", "größe", "k", ""] {
            let error = connections(text).expect_err(text);
            assert!(error.contains("then the targets"), "{error}");
        }
        for (text, part) in [("5,0", "it is 0"), ("0k", "it is 0"), ("0.5", "whole")] {
            let error = connections(text).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }
}
