use super::*;

const EXPERIMENTS: [Experiment; 6] = [
    Experiment::Echo,
    Experiment::Backlog,
    Experiment::Accept,
    Experiment::Fanout,
    Experiment::Hold,
    Experiment::Churn,
];

#[test]
fn what_is_to_be_written_instead_is_of_the_experiment() {
    for experiment in EXPERIMENTS {
        for (foreign, _, instead) in foreign_to(experiment) {
            for (flag, key) in instead.examples() {
                let draft = PlanDraft::parse(key, foreign).expect(key);
                check(&draft, experiment).expect(key);
                let name = draft.mentioned().swap_remove(0);
                let is_first_word = flag == "throng hold 1000" && name == "connections";
                assert!(is_first_word || flag.starts_with(&format!("--{name} ")));
                let value = flag.rsplit(' ').next().expect("a value");
                assert_eq!(key.replace('"', ""), format!("{name} = {value}"));
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
        let error = foreign_key(key, experiment).expect(key).to_string();
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

#[test]
fn every_foreign_key_is_a_key() {
    for (key, ..) in EXPERIMENTS.map(foreign_to).into_iter().flatten() {
        let error = PlanDraft::parse(&format!("{key} = {{}}"), "test").expect_err(key);
        assert!(!error.problem.contains("there is no key"), "{error}");
    }
}
