//! Every figure there is: those of each kind of phase, then those of a trial as a whole.
//!
//! A run has the figures of the phases that its plan is made of. So no experiment lists what is measured, and one that is composed of phases in a new way has
//! its figures already.

mod capacity;
mod close;
mod connect;
mod exchange;
mod hold;
mod line;
mod multiplex;
mod request;
mod sustain;
mod tasks;
mod tls;
mod trial;

use throng_record::{PhaseName, Plan, Setting};

use crate::cost::Part;
use crate::figure::Figure;

/// Phases in the order in which their figures are listed.
const PHASES: [PhaseName; 11] = [
    PhaseName::Connect,
    PhaseName::Tls,
    PhaseName::Acknowledge,
    PhaseName::Get,
    PhaseName::Sustain,
    PhaseName::Exchange,
    PhaseName::Request,
    PhaseName::Hold,
    PhaseName::Ping,
    PhaseName::Close,
    PhaseName::Multiplex,
];

/// The figures of a phase, what it cost among them.
#[must_use]
pub fn of_phase(phase: PhaseName) -> Vec<Figure> {
    let mut figures = match phase {
        PhaseName::Connect => connect::figures(),
        PhaseName::Tls => tls::figures(),
        PhaseName::Acknowledge => line::of_acknowledge(),
        PhaseName::Get => line::of_get(),
        PhaseName::Sustain => sustain::figures(),
        PhaseName::Exchange => exchange::figures(),
        PhaseName::Request => request::figures(),
        PhaseName::Hold => hold::of_hold(),
        PhaseName::Ping => hold::of_ping(),
        PhaseName::Close => close::figures(),
        PhaseName::Multiplex => multiplex::figures(),
    };
    figures.extend(of_cost(phase));
    figures
}

/// Those of them that are its cost, which every phase has.
#[must_use]
pub fn of_cost(phase: PhaseName) -> Vec<Figure> {
    Part::ALL.map(|part| Figure::cost(phase, part)).to_vec()
}

/// Those of a trial as a whole, whichever its phases.
#[must_use]
pub fn of_trial() -> Vec<Figure> {
    trial::figures()
}

/// The figures of a run, each once.
pub(crate) fn of_plan(plan: &Plan) -> Vec<Figure> {
    let has = |phase: &PhaseName| plan.settings.iter().any(|one| one.phases.has(*phase));
    let mut figures: Vec<Figure> = Vec::new();
    let of_phases = PHASES.into_iter().filter(has).flat_map(of_phase);
    let have_tasks = |one: &Setting| one.phases.tasks().is_some();
    let of_tasks = match plan.settings.iter().any(have_tasks) {
        true => tasks::figures(),
        false => vec![],
    };
    let of_search = match plan.search {
        Some(_) => capacity::figures(),
        None => vec![],
    };
    for figure in of_search
        .into_iter()
        .chain(of_phases)
        .chain(of_tasks)
        .chain(of_trial())
    {
        if !figures.iter().any(|known| known.key == figure.key) {
            figures.push(figure);
        }
    }
    figures
}

/// Every figure by the phase that it is of, `None` for those of the whole trial: for documentation.
pub fn all() -> impl Iterator<Item = (Option<PhaseName>, Vec<Figure>)> {
    let of_phases = PHASES.map(|phase| (Some(phase), of_phase(phase)));
    let of_trial = [of_trial(), tasks::figures(), capacity::figures()].concat();
    of_phases.into_iter().chain([(None, of_trial)])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::unit::Unit;

    #[test]
    fn keys_of_a_phase_are_its_own_and_end_in_their_unit() {
        for (phase, figures) in all() {
            let mut keys: Vec<&str> = figures.iter().map(|figure| &*figure.key).collect();
            keys.sort_unstable();
            let number = keys.len();
            keys.dedup();
            assert_eq!(keys.len(), number, "{phase:?}");
            for figure in figures {
                let part = match figure.unit {
                    Unit::Nanoseconds => "_ns",
                    Unit::Bytes => "_bytes",
                    Unit::PerSecond => "_per_second",
                    Unit::Share | Unit::Times | Unit::Count | Unit::Index => "",
                };
                assert!(figure.key.contains(part), "{figure:?}");
                let is_plain =
                    |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
                assert!(
                    figure
                        .key
                        .chars()
                        .all(|letter| letter == '_' || is_plain(letter))
                );
            }
        }
    }

    #[test]
    fn each_says_what_it_is_in_a_sentence_below_a_short_heading() {
        for figure in all().flat_map(|(_, figures)| figures) {
            let sentence = &figure.sentence;
            assert!(
                sentence.ends_with('.') && sentence.len() > 15,
                "{figure:?}: {sentence}"
            );
            assert!(
                sentence.starts_with(char::is_uppercase),
                "{figure:?}: {sentence}"
            );
            assert!(
                (1..=2).contains(&figure.heading.lines().count()),
                "{figure:?}"
            );
        }
    }

    /// A run has a figure once: where two kinds of phase call one the same, it must count the same.
    #[test]
    fn what_is_called_the_same_counts_the_same() {
        let mut units = BTreeMap::new();
        for figure in all().flat_map(|(_, figures)| figures) {
            let known = *units.entry(figure.key.clone()).or_insert(figure.unit);
            assert_eq!(known, figure.unit, "{figure:?}");
        }
    }
}
