//! Versions of runtimes, as far as they are numbers with dots between them.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// `3.11.2`. What is absent counts as 0: 3 is 3.0.
#[derive(Clone, Debug)]
pub struct Version {
    text: String,
    numbers: Vec<u64>,
}

impl Version {
    /// The first number in a text, with the dots and digits that follow it; what a program prints of its version.
    #[must_use]
    pub fn first_in(text: &str) -> Option<Self> {
        let start = text.find(|letter: char| letter.is_ascii_digit())?;
        let rest = &text[start..];
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let text = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        let numbers = text.split('.').map(|number| number.parse().unwrap_or(0));
        Some(Self {
            text: text.to_owned(),
            numbers: numbers.collect(),
        })
    }

    fn number(&self, place: usize) -> u64 {
        self.numbers.get(place).copied().unwrap_or(0)
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let places = 0..self.numbers.len().max(other.numbers.len());
        places
            .map(|place| self.number(place).cmp(&other.number(place)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match Self::first_in(&text) {
            Some(version) if version.text == text => Ok(version),
            _ => Err(de::Error::custom(format!(
                "`{text}` is no version; write numbers with dots between them, such as \"3.11\""
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_in_what_a_program_prints_counts() {
        for (printed, version) in [
            ("Python 3.11.2", "3.11.2"),
            ("go version go1.19.8 linux/amd64", "1.19.8"),
            ("v18.13.0\n", "18.13.0"),
            ("openjdk version \"17.0.8\" 2023-07-18", "17.0.8"),
            ("GHC, version 9.", "9"),
        ] {
            let found = Version::first_in(printed).expect(printed);
            assert_eq!(found.to_string(), version);
        }
        assert!(Version::first_in("no number").is_none());
    }

    #[test]
    fn versions_are_compared_number_by_number() {
        let version = |text: &str| Version::first_in(text).expect(text);
        assert!(version("3.9") < version("3.11"));
        assert!(version("3.11") <= version("3.11.2"));
        assert!(version("3.11.0") == version("3.11"));
        assert!(version("17") > version("3.13.1"));
    }
}
