use super::*;
use crate::plan::keys::all;
use crate::plan::keys::own::OwnKeys;

#[test]
fn every_key_that_an_experiment_speaks_of_is_one_and_it_has_a_use_for_it_or_says_why_not() {
    for experiment in Experiment::ALL {
        let own = keys_of(experiment);
        let is_there = |name: &&str| find(name).is_some();
        let refused: Vec<&str> = own
            .refuses
            .iter()
            .flat_map(|(keys, ..)| *keys)
            .copied()
            .collect();
        let helped = own.help.iter().map(|(name, _)| *name);
        let spoken: Vec<&str> = own
            .usual
            .iter()
            .map(|(name, _)| *name)
            .chain(helped)
            .collect();
        assert!(own.uses.iter().all(is_there), "{experiment:?}");
        assert!(refused.iter().all(is_there), "{experiment:?}");
        for name in spoken.iter().chain(own.uses) {
            let key = find(name).expect(name);
            assert!(key.is_of(experiment), "{experiment:?} {name}");
        }
        // Nothing is said twice, and nothing in vain.
        for (place, name) in refused.iter().enumerate() {
            assert!(!refused[..place].contains(name), "{experiment:?} {name}");
        }
        for name in own.uses {
            let without = OwnKeys {
                uses: &[],
                ..OwnKeys::NONE
            };
            let key = find(name).expect(name);
            assert!(key.refused_by(&without).is_some(), "{experiment:?} {name}");
        }
    }
}

#[test]
fn every_default_is_a_value() {
    for key in all() {
        for experiment in Experiment::ALL {
            if let Usual::Value(text) = key.usual(experiment) {
                assert_eq!(key.check(text), Ok(()), "{} {text}", key.name);
            }
        }
    }
}

#[test]
fn what_is_to_be_written_instead_is_of_the_experiment() {
    for experiment in Experiment::ALL {
        let refusals = all().filter_map(|key| Some((key, key.refused_by(keys_of(experiment))?.1)));
        for (key, instead) in refusals {
            for example in instead.examples() {
                let flag = typed(example, experiment);
                let draft = PlanDraft::parse(example, key.name).expect(example);
                check(&draft, experiment).expect(example);
                let name = draft.mentioned().swap_remove(0);
                let is_first_word = flag == "throng hold 1000" && name == "connections";
                assert!(is_first_word || flag.starts_with(&format!("--{name} ")));
                let value = flag.rsplit(' ').next().expect("a value");
                assert_eq!(example.replace('"', ""), format!("{name} = {value}"));
                assert_eq!(
                    is_first_word,
                    experiment == Experiment::Hold && name == "connections"
                );
            }
        }
    }
}

#[test]
fn a_refusal_says_what_to_type_and_what_to_write_in_a_plan() {
    let instead = |key, experiment| {
        let refusal = find(key).and_then(|key| key.refusal(experiment));
        let error = refusal.expect(key).to_string();
        error.rsplit_once("; ").expect("a hint").1.to_owned()
    };
    for (key, experiment, hint) in [
        (
            "duration",
            Experiment::Hold,
            "write --hold 1s (in a plan: hold = \"1s\")",
        ),
        (
            "clients",
            Experiment::Hold,
            "write throng hold 1000 (in a plan: connections = 1000)",
        ),
        (
            "requests",
            Experiment::Churn,
            "write --messages 10000 or --duration 2s (in a plan: messages = 10000 or duration = \"2s\")",
        ),
        (
            "spin",
            Experiment::Hold,
            "leave it out, or take the echo experiment (throng echo)",
        ),
    ] {
        assert_eq!(instead(key, experiment), hint);
    }
}
