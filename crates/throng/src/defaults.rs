//! The defaults that help tells. Flags are shared by experiments, and their descriptions name the default of each
//! (`[default: 6; experiments backlog and fanout: 3; hold: 1]`); a command shows its own, and `throng run`, which carries out any, shows all.

use clap::{Command, CommandFactory as _};

use crate::cli::Cli;

const EXPERIMENTS: [&str; 6] = ["echo", "backlog", "accept", "fanout", "hold", "churn"];

/// The command line with the defaults of each command.
pub(crate) fn command() -> Command {
    let mut command = Cli::command();
    for experiment in EXPERIMENTS {
        command = command.mut_subcommand(experiment, |of_experiment| {
            of_experiment.mut_args(|argument| match argument.get_help() {
                Some(help) => {
                    let own = own_default(&help.to_string(), experiment);
                    argument.help(own)
                }
                None => argument,
            })
        });
    }
    command
}

/// The description with the default of one experiment only.
fn own_default(help: &str, experiment: &str) -> String {
    const BEGIN: &str = "[default: ";
    let parts = help
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(']')?)));
    let Some((before, (defaults, after))) = parts else {
        return help.to_owned();
    };
    let mut common = Vec::new();
    for part in defaults.split("; ") {
        match of_experiments(part) {
            Some((names, default)) if names.contains(&experiment) => {
                return format!("{before}{BEGIN}{default}]{after}");
            }
            Some(_) => {}
            None => common.push(part),
        }
    }
    format!("{before}{BEGIN}{}]{after}", common.join("; "))
}

/// `experiments backlog and fanout: 3`: whose default it is, and what.
fn of_experiments(part: &str) -> Option<(Vec<&str>, &str)> {
    let (names, default) = part.split_once(": ")?;
    let words = names.split([' ', ',']).filter(|word| !word.is_empty());
    let is_name = |word: &&str| !matches!(*word, "experiment" | "experiments" | "and");
    let names: Vec<&str> = words.filter(is_name).collect();
    let are_experiments = names.iter().all(|name| EXPERIMENTS.contains(name));
    (!names.is_empty() && are_experiments).then_some((names, default))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_shows_its_own() {
        let help = "Repeats [default: 6; experiments backlog and fanout: 3; hold: 1]";
        for (experiment, default) in [
            ("echo", "6"),
            ("fanout", "3"),
            ("backlog", "3"),
            ("hold", "1"),
        ] {
            assert_eq!(
                own_default(help, experiment),
                format!("Repeats [default: {default}]")
            );
        }
    }

    #[test]
    fn what_names_no_experiment_stays() {
        let help = "Answers [default: oneshot; churn experiment: echo; http with http:// targets]";
        assert_eq!(
            own_default(help, "backlog"),
            "Answers [default: oneshot; http with http:// targets]"
        );
        assert_eq!(own_default(help, "churn"), "Answers [default: echo]");
        for help in ["No default", "Open [default: one", "[default: 2s]", ""] {
            assert_eq!(own_default(help, "echo"), help);
        }
    }

    #[test]
    fn no_command_but_run_names_the_default_of_another_experiment() {
        let mut command = command();
        command.build();
        for experiment in EXPERIMENTS {
            let of_experiment = command.find_subcommand(experiment).expect("there");
            for argument in of_experiment.get_arguments() {
                let help = argument
                    .get_help()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let defaults = help
                    .split_once("[default: ")
                    .map_or("", |(_, rest)| rest.split(']').next().unwrap_or(rest));
                let mut of_others = defaults.split("; ").filter_map(of_experiments);
                assert_eq!(of_others.next(), None, "{help}");
            }
        }
    }
}
