//! The one list: every model on every address family that it serves.

use libtest_mimic::Trial;
use throng_record::HandOver;
use throng_servers::Model;
use throng_sys::address::Address;

use super::setup::{Setup, unix_address};

/// What a test is tried with.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) model: Model,
    pub(crate) family: Family,
    /// Where that is a choice, and not its own.
    pub(crate) hand_over: Option<HandOver>,
}

#[derive(Clone, Copy)]
pub(crate) enum Family {
    Ipv4,
    Ipv6,
    Unix,
}

impl Family {
    const ALL: [Self; 3] = [Self::Ipv4, Self::Ipv6, Self::Unix];

    fn name(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Unix => "unix",
        }
    }

    /// An address to listen on that nobody else has.
    pub(crate) fn address(self) -> Address {
        let numeric = match self {
            Self::Ipv4 => "127.0.0.1:0",
            Self::Ipv6 => "[::1]:0",
            Self::Unix => return unix_address(),
        };
        numeric.parse().expect("an address")
    }
}

impl Case {
    /// A server of this model on one address of this family, not started yet.
    pub(crate) fn setup(self) -> Setup {
        let setup = Setup::new(self.model, vec![self.family.address()]);
        match self.hand_over {
            Some(hand_over) => setup.hand_over(hand_over),
            None => setup,
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        Model::ALL.into_iter().flat_map(|model| {
            Family::ALL
                .into_iter()
                .map(move |family| Self {
                    model,
                    family,
                    hand_over: None,
                })
                .filter(move |case| {
                    model.declaration().serves_unix || !matches!(case.family, Family::Unix)
                })
        })
    }
}

/// A test with its name, the first part of its trials' names.
type Named<T> = (&'static str, fn(T));

/// Every model.
pub(crate) fn any(_: Model) -> bool {
    true
}

/// Models in which several connections share a thread.
pub(crate) fn shares_a_thread(model: Model) -> bool {
    !model.declaration().blocks()
}

/// Models in which a connection's delay occupies the one worker that there is, or can be.
pub(crate) fn may_have_one_place(model: Model) -> bool {
    model.declaration().blocks() && bounded(model)
}

/// The others: whoever connects is served beside those that wait.
pub(crate) fn has_places(model: Model) -> bool {
    !may_have_one_place(model)
}

/// Models whose design bounds how many connections they serve at the same time.
pub(crate) fn bounded(model: Model) -> bool {
    model.declaration().serves_at_once_in_words() != "any number"
}

/// Models that serve more than one connection at the same time.
pub(crate) fn serves_several(model: Model) -> bool {
    model.declaration().serves_at_once_in_words() != "1"
}

/// Models of more than one process.
pub(crate) fn has_children(model: Model) -> bool {
    model.expected_processes(model.workers(None), 1) > 1
}

/// A trial of each test with each case of those models: `test/model/family`.
pub(crate) fn each_case<const TESTS: usize>(
    belongs: fn(Model) -> bool,
    tests: [Named<Case>; TESTS],
) -> impl Iterator<Item = Trial> {
    tests.into_iter().flat_map(move |(name, test)| {
        let cases = Case::all().filter(move |case| belongs(case.model));
        cases.map(move |case| {
            let name = format!("{name}/{}/{}", case.model, case.family.name());
            trial(name, move || test(case))
        })
    })
}

/// A trial of each test with each hand-over that is not its model's own: `test/model/hand-over`.
pub(crate) fn each_other_hand_over<const TESTS: usize>(
    tests: [Named<Case>; TESTS],
) -> impl Iterator<Item = Trial> {
    tests.into_iter().flat_map(|(name, test)| {
        let models = Model::ALL
            .into_iter()
            .filter(|model| model.declaration().takes_hand_over);
        let others = HandOver::ALL
            .into_iter()
            .filter(|&way| way != HandOver::default());
        models.flat_map(move |model| {
            others.clone().map(move |hand_over| {
                let case = Case {
                    model,
                    family: Family::Ipv4,
                    hand_over: Some(hand_over),
                };
                trial(format!("{name}/{model}/{hand_over}"), move || test(case))
            })
        })
    })
}

/// A trial of each test with each of those models, for what does not depend on the address: `test/model`.
pub(crate) fn each_model<const TESTS: usize>(
    belongs: fn(Model) -> bool,
    tests: [Named<Model>; TESTS],
) -> impl Iterator<Item = Trial> {
    tests.into_iter().flat_map(move |(name, test)| {
        let models = Model::ALL.into_iter().filter(move |&model| belongs(model));
        models.map(move |model| trial(format!("{name}/{model}"), move || test(model)))
    })
}

fn trial(name: String, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
