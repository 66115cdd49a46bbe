//! Where the connections of a fleet go: to one address, or to several in turn.

use std::sync::Arc;

use throng_record::{FleetSpec, TasksSpec};
use throng_sys::address::Address;

use crate::error::LoadError;

/// At least one.
#[derive(Clone, Debug)]
pub(crate) struct Addresses(Arc<[Address]>);

impl Addresses {
    /// # Errors
    /// [`LoadError`] for a text that is no address, and where there is none.
    pub(crate) fn of(spec: &FleetSpec) -> Result<Self, LoadError> {
        let parsed: Result<Vec<Address>, _> =
            spec.addresses.iter().map(|text| text.parse()).collect();
        match parsed? {
            none if none.is_empty() => Err(LoadError::Job(
                "it names no address to connect to; name at least one".to_owned(),
            )),
            some => Ok(Self(some.into())),
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.0.len()
    }

    /// Which of them the connection with this index within the fleet goes to.
    #[inline]
    pub(crate) fn place(&self, index: u32) -> usize {
        index as usize % self.0.len()
    }

    #[inline]
    pub(crate) fn at(&self, place: usize) -> &Address {
        &self.0[place]
    }

    pub(crate) fn first(&self) -> &Address {
        &self.0[0]
    }
}

/// Which listener of its service the next request of a task goes to, where each makes its own connection and there is a choice.
#[derive(Debug)]
pub(crate) struct Choices {
    spec: TasksSpec,
    random: fastrand::Rng,
}

impl Choices {
    /// `None` where there is none.
    pub(crate) fn of(spec: Option<&TasksSpec>, seed: u64) -> Option<Self> {
        let spec = *spec.filter(|spec| spec.choices > 1)?;
        let random = fastrand::Rng::with_seed(seed);
        Some(Self { spec, random })
    }

    /// Tasks stand in the order of the services, and so do the addresses, listener by listener.
    pub(crate) fn next(&mut self, slot: u32) -> usize {
        let TasksSpec {
            services, choices, ..
        } = self.spec;
        (self.random.u32(..choices) * services + slot % services) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_to_any_listener_of_its_own_service_and_to_no_other() {
        let spec = TasksSpec {
            services: 7,
            choices: 3,
            at_once: 1,
        };
        let mut choices = Choices::of(Some(&spec), 1).expect("there is a choice");
        let places: std::collections::BTreeSet<usize> =
            (0..100).map(|_| choices.next(2 * 7 + 5)).collect();
        assert_eq!(places.into_iter().collect::<Vec<_>>(), [5, 12, 19]);
        let bound = TasksSpec { choices: 1, ..spec };
        assert!(Choices::of(Some(&bound), 1).is_none());
    }
}
