//! How flags are read: as a plan file's values, but from a bare text, where `5` may be a number or a text.
//!
//! What a text is follows from what the key wants. The plan's readers of single values then do the rest, so that both forms of a value are
//! read, and refused, alike.

use std::net::IpAddr;

use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer as _, Visitor};
use serde::forward_to_deserialize_any;
use throng_record::Network;
use throng_record::plan::ServerLifetime;

use super::sweep::{Sweep, Swept};
use super::{KernelDraft, KernelSetting, value};

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

impl FromFlag for Vec<IpAddr> {
    fn from_flag(text: &str) -> Result<Self, String> {
        Ok(Sweep::<IpAddr>::from_flag(text)?.values().to_vec())
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

/// A flag's text, which is what is asked of it.
#[derive(Clone, Copy)]
pub(super) struct FlagText<'a>(pub(super) &'a str);

impl<'de> Deserializer<'de> for FlagText<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let read = self.0.parse();
        visitor.visit_bool(read.map_err(|_| Error::custom("write true or false"))?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u32(value::count(self.0).map_err(Error::custom)?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u64(value::count(self.0).map_err(Error::custom)?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let read = self.0.trim().parse();
        visitor.visit_f64(read.map_err(|_| {
            Error::custom(format_args!(
                "`{}` is no number; write for example 1000 or 0.01",
                self.0
            ))
        })?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let word: StrDeserializer<'de, Error> = self.0.into_deserializer();
        word.deserialize_enum(name, words, visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}
