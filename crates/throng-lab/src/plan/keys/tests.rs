use super::*;

#[test]
fn every_key_of_a_plan_file_is_described_once() {
    let mut described: Vec<&str> = all().map(|key| key.name).collect();
    let mut names = PlanDraft::names();
    described.sort_unstable();
    names.sort_unstable();
    assert_eq!(described, names);
    assert!(all().all(|key| !key.help.is_empty()));
}

#[test]
fn every_word_and_every_switch_is_a_value_and_others_are_not() {
    for key in all() {
        for word in key.words {
            assert_eq!(key.check(word), Ok(()), "{} {word}", key.name);
        }
        for switch in key.switches {
            assert_eq!(key.check(switch.value), Ok(()), "{}", key.name);
        }
        if !key.words.is_empty() {
            assert!(key.check("nonsense").is_err(), "{}", key.name);
        }
    }
}

#[test]
fn every_default_is_a_value_of_an_experiment_that_has_the_key() {
    for key in all() {
        for experiment in Experiment::ALL {
            if let Usual::Value(text) = key.usual(experiment) {
                assert_eq!(key.check(text), Ok(()), "{} {text}", key.name);
            }
        }
        for experiment in key
            .usual_in
            .iter()
            .flat_map(|(experiments, _)| *experiments)
        {
            assert!(key.refusal(*experiment).is_none(), "{}", key.name);
        }
        for (experiment, _) in key.help_in {
            assert!(key.refusal(*experiment).is_none(), "{}", key.name);
        }
    }
}

#[test]
fn a_flag_that_is_given_again_adds_to_a_list() {
    let mut draft = PlanDraft::default();
    for (key, text) in [
        ("size", "6,1k"),
        ("size", "7"),
        ("duration", "1s,2s"),
        ("cpus", "0,1:2"),
        ("rate", "0.5"),
        ("nodelay", "false"),
        ("repeats", "2"),
        ("source", "127.0.0.2"),
        ("source", "127.0.0.3"),
        ("kernel", "somaxconn=16,17"),
        ("kernel", "tcp_syncookies=0"),
        ("send", "a,b"),
    ] {
        draft.add(key, text).expect(text);
    }
    let text = "size = [6, 1000, 7]\nduration = ['1s', '2s']\ncpus = '0,1:2'\nrate = 0.5\nnodelay = false\nrepeats = 2
        source = ['127.0.0.2', '127.0.0.3']\nsend = 'a,b'\n[kernel]\nsomaxconn = [16, 17]\ntcp_syncookies = 0";
    assert_eq!(draft, PlanDraft::parse(text, "plan.toml").expect(text));
    for (key, text) in [("targets", "poll"), ("quick", "1"), ("sizes", "1")] {
        assert!(draft.add(key, text).is_err(), "{key}");
    }
}

#[test]
fn what_is_to_be_written_instead_is_of_the_experiment() {
    for key in all() {
        for (experiments, _, instead) in key.foreign {
            for (&experiment, example) in experiments
                .iter()
                .flat_map(|one| instead.examples().into_iter().map(move |key| (one, key)))
            {
                let flag = foreign::typed(example, experiment);
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
