//! How the values of each key that may be swept are written: in a plan file, as a flag, and in headings.

use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer};
use throng_record::plan::ListenFamily;
use throng_record::{Amount, Arrivals, Closing, Workload};

use super::flag_text::FlagText;
use super::sweep::{Sweep, Swept};
use super::value::{self, Addresses, BackendChoice, CpuChoice, ListenerChoice, Pings, TlsChoice};

/// Values parted by commas.
fn by_commas<T: Swept>(text: &str) -> Result<Sweep<T>, String> {
    let values: Result<Vec<T>, String> = text.split(',').map(one).collect();
    Ok(Sweep::of(values?).expect("a text has one part at least"))
}

/// A single value, which may hold commas itself.
fn whole<T: Swept>(text: &str) -> Result<Sweep<T>, String> {
    Ok(one::<T>(text)?.into())
}

fn one<T: Swept>(text: &str) -> Result<T, String> {
    T::read(FlagText(text)).map_err(|error| error.to_string())
}

/// Types whose values one function reads, the second one tells, and the third reads of a flag.
macro_rules! swept {
    ($read:path, $tell:path, $read_flag:path => $($type:ty)*) => { $(
        impl Swept for $type {
            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $read(deserializer)
            }

            fn read_flag(text: &str) -> Result<Sweep<Self>, String> {
                $read_flag(text)
            }

            fn text(&self) -> String {
                $tell(self)
            }
        }
    )* };
}
swept!(Deserialize::deserialize, ToString::to_string, by_commas => f64 bool IpAddr);
swept!(Deserialize::deserialize, ToString::to_string, whole => String CpuChoice);
swept!(Deserialize::deserialize, ToString::to_string, value::pings => Pings);
swept!(value::of_file, ToString::to_string, value::counts => u32 u64);
swept!(Deserialize::deserialize, word_of, by_commas => Addresses Arrivals BackendChoice Closing ListenerChoice ListenFamily TlsChoice Workload);
swept!(duration_of_file, length, by_commas => Duration);
swept!(amount_of_file, amount, by_commas => Amount);

/// A word of a closed vocabulary, as it is read.
fn word_of(word: &impl Serialize) -> String {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("a vocabulary has words only, not {other:?}"),
    }
}

fn duration_of_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    value::duration(&text).map_err(de::Error::custom)
}

fn length(duration: &Duration) -> String {
    humantime::format_duration(*duration).to_string()
}

fn amount_of_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
    let text = String::deserialize(deserializer)?;
    value::amount(&text).map_err(de::Error::custom)
}

fn amount(amount: &Amount) -> String {
    match *amount {
        Amount::Messages(count) => format!("{count} messages"),
        Amount::DurationNs(length_ns) => length(&Duration::from_nanos(length_ns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_as_they_are_written() {
        assert_eq!(20_000.0.text(), "20000");
        assert_eq!(Duration::from_millis(2_500).text(), "2s 500ms");
        assert_eq!(Amount::Messages(5).text(), "5 messages");
        assert_eq!(BackendChoice::IoUring.text(), "io-uring");
        for text in ["0-1:2", "any", "0:"] {
            assert_eq!(text.parse::<CpuChoice>().expect(text).text(), text);
        }
    }
}
