//! The flags of experiments: made from the table of keys, for each command those that its experiment has a use for.
//!
//! A command flattens [`PlanFlags`], and its name says which experiment it is; `throng run`, which carries out any, has the flags of all.
//! A flag's text is read as the value of its key, commas included, so clap sees texts only, and refuses them in the words of a plan file.

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use throng_lab::plan::keys::{self, GROUPS, Key, Switch};
use throng_lab::plan::{PlanDraft, PlanError};
use throng_record::plan::Experiment;

/// What the flags of a command say of the plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanFlags(pub(crate) PlanDraft);

impl Args for PlanFlags {
    fn augment_args(command: Command) -> Command {
        let experiment = Experiment::named(command.get_name());
        let of_key = |key: &'static Key| of_key(key, experiment);
        let of_group = |(heading, keys): (&'static str, &'static [Key])| {
            let flags = keys.iter().flat_map(of_key);
            flags.map(move |flag| flag.help_heading(heading))
        };
        command.args(GROUPS.into_iter().flat_map(of_group))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PlanFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self(PlanDraft::default());
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for key in keys::all() {
            // A command does not know the flags of other experiments, which is no error here.
            let values = matches.try_get_many::<String>(key.name).ok().flatten();
            let is_there = |switch: &&Switch| {
                matches!(matches.try_get_one::<bool>(switch.flag), Ok(Some(true)))
            };
            let switched = key.switches.iter().filter(is_there);
            let values = values.into_iter().flatten().map(String::as_str);
            for text in values.chain(switched.map(|switch| switch.value)) {
                let read = self.0.add(key.name, text);
                read.map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, why))?;
            }
        }
        Ok(())
    }
}

/// The flags that set a key: with a value, and switches. They contradict one another.
fn of_key(key: &'static Key, experiment: Option<Experiment>) -> Vec<Arg> {
    if experiment.is_some_and(|experiment| !key.has_flags(experiment)) {
        return Vec::new();
    }
    // The accept experiment has no server, and so lacks most: that goes without saying.
    let scope = match (experiment, key.scope().as_str()) {
        (Some(_), _) | (None, "" | "all but accept") => String::new(),
        (None, scope) => format!(" ({scope})"),
    };
    let mut flags = Vec::new();
    if !key.value_name.is_empty() {
        let default = match key.defaults(experiment) {
            default if default.is_empty() => default,
            default => format!(" [default: {default}]"),
        };
        let help = format!("{}{scope}{default}", key.help(experiment));
        flags.push(with_value(key).help(help));
    }
    for switch in key.switches_of(experiment) {
        let others: Vec<_> = flags.iter().map(|flag| flag.get_id().clone()).collect();
        let flag = Arg::new(switch.flag)
            .long(switch.flag)
            .action(ArgAction::SetTrue);
        let help = format!("{}{scope}", switch.help);
        flags.push(flag.conflicts_with_all(others).help(help));
    }
    flags
}

fn with_value(key: &'static Key) -> Arg {
    let is_list = key.value_name.ends_with('…');
    let flag = Arg::new(key.name)
        .long(key.name)
        .short(key.short)
        .value_name(key.value_name)
        .allow_hyphen_values(key.takes_hyphen)
        .action(if is_list {
            ArgAction::Append
        } else {
            ArgAction::Set
        });
    match key.words {
        [] => flag.value_parser(|text: &str| key.check(text).map(|()| text.to_owned())),
        words if is_list => flag
            .value_delimiter(',')
            .value_parser(PossibleValuesParser::new(words)),
        words => flag.value_parser(PossibleValuesParser::new(words)),
    }
}

/// Where a command was refused for a flag that only other experiments have: what to write instead.
pub(crate) fn of_other_experiment(error: &clap::Error, command: Option<&str>) -> Option<PlanError> {
    let experiment = Experiment::named(command?)?;
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let key = flag.strip_prefix("--")?.split('=').next()?;
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    if experiment == Experiment::Accept && key == "command" {
        return Some(throng_lab::target::multiplexer::none("--command"));
    }
    keys::find(key.strip_prefix("no-").unwrap_or(key))?.refusal(experiment)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn command(name: &str) -> Command {
        Cli::command().find_subcommand(name).expect(name).clone()
    }

    #[test]
    fn no_flag_mentions_nothing() {
        for line in [
            "run", "echo", "backlog", "accept", "fanout", "churn", "services", "capacity", "hold 5",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let matches = command(words[0]).get_matches_from(&words);
            let PlanFlags(draft) = PlanFlags::from_arg_matches(&matches).expect(line);
            assert_eq!(draft, PlanDraft::default(), "{line}");
        }
    }

    #[test]
    fn a_command_has_a_flag_for_every_key_of_its_experiment_with_its_own_default() {
        // Phases are written in a plan file.
        let with_command = |one: &Experiment| *one != Experiment::Phases;
        for experiment in Experiment::ALL.into_iter().filter(with_command) {
            let command = command(experiment.name());
            for key in keys::all().filter(|key| !key.value_name.is_empty()) {
                let mut flags = command.get_opts();
                let flag = flags.find(|flag| flag.get_long() == Some(key.name));
                assert_eq!(flag.is_some(), key.has_flags(experiment), "{}", key.name);
                let Some(help) = flag.and_then(Arg::get_help) else {
                    continue;
                };
                let usual = key.usual(experiment).text();
                let told = help.to_string();
                let told = told.split_once(" [default: ").map_or("", |(_, told)| told);
                assert_eq!(told.trim_end_matches(']'), usual, "{}", key.name);
            }
        }
    }

    #[test]
    fn run_has_the_flags_of_all_and_tells_whose_they_are() {
        let run = command("run");
        let help = |name: &str| {
            let flag = run.get_opts().find(|flag| flag.get_long() == Some(name));
            flag.and_then(Arg::get_help).expect(name).to_string()
        };
        for key in keys::all().filter(|key| !key.value_name.is_empty()) {
            assert!(help(key.name).starts_with(key.help(None)), "{}", key.name);
        }
        for (name, end) in [
            (
                "repeats",
                " setting [default: 6; backlog, fanout, services: 3; hold: 1]",
            ),
            ("pings", " or all (hold, phases) [default: 1000 at most]"),
            (
                "connect-rate",
                " (fanout, hold, phases) [default: as fast as possible]",
            ),
            ("size", " (all but accept, fanout, services) [default: 6]"),
            (
                "backlog",
                " accept queue [default: 1024; backlog: 5; services: 1 on Unix sockets, 1024 elsewhere]",
            ),
            ("no-spin", " (echo, churn, capacity, phases)"),
            ("no-greeting", " (fanout)"),
        ] {
            assert!(help(name).ends_with(end), "{}", help(name));
        }
    }
}
