//! A share of a whole: `5%`, `0.05`.

use std::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

/// From 0 to 1, as it was read: bounds are those of its key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = match text.trim().strip_suffix('%') {
            Some(number) => (number.trim_end(), 100.0),
            None => (text.trim(), 1.0),
        };
        let share: Result<f64, _> = number.parse();
        share
            .map(|share| Self(share / unit))
            .map_err(|_| format!("`{text}` is no share; write for example 5% or 0.05"))
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = Share;
            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("a share, such as \"5%\" or 0.05")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Share, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_f64<E: de::Error>(self, share: f64) -> Result<Share, E> {
                Ok(Share(share))
            }
            fn visit_i64<E: de::Error>(self, share: i64) -> Result<Share, E> {
                Ok(Share(share as f64))
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_in_percent_or_as_a_number() {
        for (text, expected) in [("5%", 0.05), ("2.5 %", 0.025), ("0.1", 0.1), ("1", 1.0)] {
            let Share(share) = text.parse().expect(text);
            assert!((share - expected).abs() < 1e-12, "{text}: {share}");
        }
        for text in ["", "%", "five", "5ms"] {
            let refused = text.parse::<Share>().expect_err(text);
            assert!(refused.contains("write for example 5%"), "{refused}");
        }
    }
}
