//! How flags are read: as a plan file's values, but from a bare text, where `5` may be a number or a text.
//!
//! What a text is follows from what the key wants. The plan's readers of single values then do the rest, so that both forms of a value are
//! read, and refused, alike.

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use throng_record::Network;
use throng_record::plan::ServerLifetime;

use super::flag_text::FlagText;
use super::sweep::{Sweep, Swept};
use super::value::{self, Share};
use super::{KernelDraft, KernelSetting};

/// What a flag sets.
pub(super) trait FromFlag: Sized {
    /// Reads its text.
    fn from_flag(text: &str) -> Result<Self, String>;

    /// With what the same flag says, given again.
    fn and(self, more: Self) -> Self {
        more
    }
}

impl<T: Swept> FromFlag for Sweep<T> {
    fn from_flag(text: &str) -> Result<Self, String> {
        T::read_flag(text)
    }

    fn and(self, more: Self) -> Self {
        let values = self.values().iter().chain(more.values());
        Self::of(values.cloned().collect()).expect("both have values")
    }
}

/// Of types that stand for themselves.
macro_rules! from_text {
    ($($type:ty)*) => { $(
        impl FromFlag for $type {
            fn from_flag(text: &str) -> Result<Self, String> {
                Self::deserialize(FlagText(text)).map_err(|error| error.to_string())
            }
        }
    )* };
}
from_text!(u32 u64 bool String Network ServerLifetime);

impl FromFlag for Share {
    fn from_flag(text: &str) -> Result<Self, String> {
        text.parse()
    }
}

impl FromFlag for Duration {
    fn from_flag(text: &str) -> Result<Self, String> {
        value::duration(text)
    }
}

impl FromFlag for Vec<IpAddr> {
    fn from_flag(text: &str) -> Result<Self, String> {
        Ok(Sweep::<IpAddr>::from_flag(text)?.values().to_vec())
    }

    fn and(self, more: Self) -> Self {
        [self, more].concat()
    }
}

/// Given again, there is one more; commas are its own.
impl FromFlag for Vec<String> {
    fn from_flag(text: &str) -> Result<Self, String> {
        Ok(vec![text.to_owned()])
    }

    fn and(self, more: Self) -> Self {
        [self, more].concat()
    }
}

impl FromFlag for KernelDraft {
    fn from_flag(text: &str) -> Result<Self, String> {
        text.parse()
            .map(|setting: KernelSetting| Self(vec![setting]))
    }

    fn and(self, more: Self) -> Self {
        Self([self.0, more.0].concat())
    }
}
