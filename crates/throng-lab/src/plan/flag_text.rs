//! The text of a flag as a source of values: what it is follows from what is asked of it, so that `5` may be a number or a text.

use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer as _, Visitor};
use serde::forward_to_deserialize_any;

use super::value;

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
