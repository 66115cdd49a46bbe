//! Sweeps: a key with one value, or with a list of them that are measured one after the other.
//!
//! One wrapper, [`Sweep`], for every key that may vary, and one trait, [`Swept`], for the forms of their values, which stand in `swept`. Left out on
//! purpose: ranges and steps (`1..1000`). A list says what is measured, and can be read in the report's headings.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

/// The value of a key that may be swept: in a plan file one value or a list, never empty, nothing in it twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep<T>(Vec<T>);

impl<T: PartialEq> Sweep<T> {
    /// These values, in their order. What is repeated is measured once; `None` where there is nothing.
    #[must_use]
    pub fn of(values: Vec<T>) -> Option<Self> {
        let mut kept = Vec::with_capacity(values.len());
        for value in values {
            if !kept.contains(&value) {
                kept.push(value);
            }
        }
        (!kept.is_empty()).then_some(Self(kept))
    }
}

impl<T> Sweep<T> {
    /// At least one.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.0
    }

    /// Whether there is more than one value.
    pub(super) fn is_swept(&self) -> bool {
        self.0.len() > 1
    }

    /// The same with each value changed.
    pub(super) fn map<U: PartialEq>(self, change: impl FnMut(T) -> U) -> Sweep<U> {
        Sweep::of(self.0.into_iter().map(change).collect()).expect("no fewer than before: one")
    }

    /// The same in ascending order.
    pub(super) fn ascending(mut self) -> Self
    where
        T: Ord,
    {
        self.0.sort();
        self
    }
}

impl<T> From<T> for Sweep<T> {
    fn from(value: T) -> Self {
        Self(vec![value])
    }
}

/// A value that may stand in a list.
pub trait Swept: Clone + PartialEq {
    /// Reads it as a plan file writes it.
    ///
    /// # Errors
    /// Says how it is written.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;

    /// Reads what a flag says: the text that a plan file has without quotes, or several of them parted by commas.
    ///
    /// # Errors
    /// Says how it is written.
    fn read_flag(text: &str) -> Result<Sweep<Self>, String>;

    /// As a plan file writes it, without quotes: for headings.
    fn text(&self) -> String;
}

impl<'de, T: Swept> Deserialize<'de> for Sweep<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = one_or_many(deserializer)?;
        Self::of(values).ok_or_else(|| {
            de::Error::custom("the list is empty, so there would be no trial; write at least one value, or leave the key out")
        })
    }
}

/// One value, or a list of them, perhaps empty.
pub(super) fn one_or_many<'de, D: Deserializer<'de>, T: Swept>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(OneOrMany(PhantomData))
}

/// Visits a list, or anything else as a single value.
struct OneOrMany<T>(PhantomData<T>);

macro_rules! visit_single {
    ($($visit:ident: $type:ty,)*) => { $(
        fn $visit<E: de::Error>(self, value: $type) -> Result<Vec<T>, E> {
            Ok(vec![T::read(value.into_deserializer())?])
        }
    )* };
}

impl<'de, T: Swept> Visitor<'de> for OneOrMany<T> {
    type Value = Vec<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("one value or a list of them")
    }

    visit_single! {
        visit_bool: bool,
        visit_i64: i64,
        visit_u64: u64,
        visit_f64: f64,
        visit_str: &str,
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
        Ok(vec![T::read(de::value::MapAccessDeserializer::new(map))?])
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut values: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = values.next_element_seed(One(PhantomData))? {
            all.push(value);
        }
        Ok(all)
    }
}

/// An element of a list.
struct One<T>(PhantomData<T>);

impl<'de, T: Swept> DeserializeSeed<'de> for One<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::read(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_is_measured_once_and_nothing_is_no_sweep() {
        let sweep = Sweep::of(vec![8, 1, 8]).expect("two values");
        assert_eq!(sweep.values(), [8, 1]);
        assert!(sweep.is_swept());
        assert_eq!(sweep.ascending().values(), [1, 8]);
        assert_eq!(Sweep::<u32>::of(vec![]), None);
        assert!(!Sweep::from(7).is_swept());
    }
}
