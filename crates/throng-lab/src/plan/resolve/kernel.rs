//! Which kernel settings, with which values.
//!
//! Names are looked up here, among the settings that there are; what the kernel says of their values is found out when the
//! first private networks are made, still before anything is measured.

use crate::plan::kernel::KernelSweep;
use crate::plan::{Environment, PlanDraft};
use throng_catalogue::suggest::{nearest, or_list};

/// Where short names are looked up.
const FOLDERS: [&str; 3] = ["net.ipv4", "net.core", "net.ipv6"];

/// A `[kernel]` table that cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message is its documentation")]
pub enum KernelNameError {
    #[error(
        "`[kernel]` {0}: it is not below net., so it is the whole machine's and not a private network's; leave it out, or set it for the machine with sysctl"
    )]
    NotOfANetwork(String),
    #[error("`[kernel]` {name}: this kernel has no such setting; {hint}")]
    Unknown { name: String, hint: String },
    #[error("`[kernel]` {name}: several settings are called that; write {meant}")]
    Ambiguous { name: String, meant: String },
    #[error(
        "`[kernel]` {name}: a private network has no interface but lo, and other programs' are not touched; leave it out, or write it of `all`, `default` or `lo`"
    )]
    Interface { name: String },
    #[error(
        "`[kernel]` {name} has no value, or an empty one in its list; write for example --kernel somaxconn=4096 (in a plan: somaxconn = 4096)"
    )]
    NoValue { name: String },
    #[error(
        "`[kernel]` {name} is given twice, perhaps once by its short name; leave one out, or write a list to measure both values: --kernel somaxconn=16,4096 (in a plan: somaxconn = [16, 4096])"
    )]
    Twice { name: String },
}

/// The settings that are meant, by dotted name in alphabetical order.
pub(super) fn resolve(
    draft: &PlanDraft,
    environment: &Environment,
) -> Result<Vec<KernelSweep>, KernelNameError> {
    let known = &environment.kernel_settings;
    let mut found: Vec<KernelSweep> = Vec::new();
    for setting in draft.kernel.iter().flat_map(|kernel| &kernel.0) {
        let name = full_name(&setting.name, known)?;
        let is_none = |value: &String| value.is_empty() || value.contains(char::is_control);
        if setting.values.values().iter().any(is_none) {
            return Err(KernelNameError::NoValue { name });
        }
        if found.iter().any(|other| other.name == name) {
            return Err(KernelNameError::Twice { name });
        }
        found.push(KernelSweep {
            key: shortest_name(&name, known).to_owned(),
            name,
            values: setting.values.clone(),
        });
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// The least that can be written of a dotted name so that it is still the one that is meant.
fn shortest_name<'name>(name: &'name str, known: &[String]) -> &'name str {
    let is_enough = |short: &&str| full_name(short, known).is_ok_and(|meant| meant == name);
    let mut shorter = FOLDERS
        .iter()
        .filter_map(|folder| name.strip_prefix(folder)?.strip_prefix('.'));
    shorter.find(is_enough).unwrap_or(name)
}

/// The dotted name of the setting that is meant.
fn full_name(name: &str, known: &[String]) -> Result<String, KernelNameError> {
    let is_known = |name: &str| known.iter().any(|setting| setting == name);
    if name.starts_with("net.") {
        return match is_known(name) {
            true => Ok(name.to_owned()),
            false => Err(unknown(name, known)),
        };
    }
    let candidates = FOLDERS.map(|folder| format!("{folder}.{name}"));
    let meant: Vec<&String> = candidates.iter().filter(|name| is_known(name)).collect();
    match meant[..] {
        [one] => Ok(one.clone()),
        [] if name.contains(['.', '/']) => Err(KernelNameError::NotOfANetwork(name.to_owned())),
        [] => Err(unknown(name, known)),
        _ => Err(KernelNameError::Ambiguous {
            name: name.to_owned(),
            meant: or_list(&meant),
        }),
    }
}

fn unknown(name: &str, known: &[String]) -> KernelNameError {
    let names_interface = |folder: &str| {
        let rest = name.split_once(folder).map(|(_, rest)| rest);
        let interface = rest.and_then(|rest| Some(rest.split_once('.')?.0));
        interface.is_some_and(|interface| !["all", "default", "lo"].contains(&interface))
    };
    let name = name.to_owned();
    if names_interface(".conf.") || names_interface(".neigh.") {
        return KernelNameError::Interface { name };
    }
    let is_short = !name.starts_with("net.");
    let as_written = known.iter().filter_map(|setting| {
        if is_short {
            let (folder, last) = setting.rsplit_once('.')?;
            FOLDERS.contains(&folder).then_some(last)
        } else {
            Some(setting.as_str())
        }
    });
    let hint = nearest(&name, as_written).map_or_else(
        || "sysctl -a --pattern '^net' lists those there are".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    KernelNameError::Unknown { name, hint }
}

#[cfg(test)]
mod tests {
    use throng_record::Plan;

    use super::*;
    use crate::plan::{KernelDraft, resolve, test_environment};

    fn outcome(text: &str) -> Result<Plan, String> {
        let text = format!("targets = ['poll']\n{text}");
        let draft = PlanDraft::parse(&text, "plan.toml").map_err(|error| error.problem)?;
        let resolved = resolve(draft, &test_environment(2));
        resolved
            .map(|resolved| resolved.plan)
            .map_err(|error| error.to_string())
    }

    /// Of each of the plan's settings: its kernel's values in the order of their names.
    fn values(plan: &Plan) -> Vec<Vec<&str>> {
        let settings = plan.settings.iter();
        settings
            .map(|setting| setting.kernel.values().map(String::as_str).collect())
            .collect()
    }

    #[test]
    fn settings_are_found_however_they_are_named() {
        let meant = [
            ("net.core.somaxconn", "17"),
            ("net.ipv4.ip_local_port_range", "1024 65535"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        for text in [
            "[kernel]\nsomaxconn = 17\nip_local_port_range = '1024 65535'",
            "[kernel]\nnet.core.somaxconn = 17\nnet.ipv4.ip_local_port_range = ' 1024 65535'",
            "[kernel]\n'net.core.somaxconn' = ['17']\nip_local_port_range = ['1024 65535']",
        ] {
            let plan = outcome(text).expect(text);
            assert_eq!((plan.settings.len(), plan.swept.len()), (1, 0), "{text}");
            assert_eq!(plan.settings[0].kernel, meant.clone().into(), "{text}");
        }
    }

    #[test]
    fn a_list_is_a_sweep_that_varies_slowest_and_is_told_by_the_shortest_name() {
        let text = "connections = [1, 2]\nbacklog = [7, 9]\n[kernel]\nip_local_port_range = '1 2'\nnet.ipv4.both = ['b', 3, 3]\nnet.core.somaxconn = [17, 5]";
        let plan = outcome(text).expect(text);
        // Two settings are called `both`.
        let swept = ["somaxconn", "net.ipv4.both", "backlog", "connections"];
        assert_eq!(plan.swept, swept);
        let range = "1 2";
        let quarters = [["17", "b"], ["17", "3"], ["5", "b"], ["5", "3"]];
        let kernels = quarters.map(|[most, both]| vec![vec![most, both, range]; 4]);
        assert_eq!(values(&plan), kernels.concat());
        let told = |place: usize| plan.settings[place].swept.iter().map(|one| &one.value[..]);
        assert!(told(2).eq(["17", "b", "9", "1"]));
        assert!(told(13).eq(["5", "3", "7", "2"]));
    }

    #[test]
    fn on_the_command_line_commas_part_values_and_in_a_file_they_do_not() {
        let flag: crate::plan::KernelSetting = "somaxconn = 17, 1 2,17".parse().expect("read");
        assert_eq!(
            (flag.name.as_str(), flag.values.values()),
            ("somaxconn", &["17", "1 2"].map(str::to_owned)[..])
        );
        let plan = outcome("[kernel]\nsomaxconn = '17,5'").expect("one value");
        assert_eq!(values(&plan), [["17,5"]]);
    }

    #[test]
    fn a_setting_on_the_command_line_replaces_that_of_the_plan_however_it_is_named() {
        let file = "targets = ['poll']\n[kernel]\nnet.core.somaxconn = [1, 2, 3]\nip_local_port_range = '1 2'";
        let over = |flag: &str| {
            let draft = PlanDraft::parse(file, "plan.toml").expect(file);
            let flags = PlanDraft {
                kernel: Some(KernelDraft(vec![flag.parse().expect("a setting")])),
                ..PlanDraft::default()
            };
            resolve(draft.overlay(flags), &test_environment(2))
                .expect("resolves")
                .plan
        };
        assert_eq!(values(&over("somaxconn=17")), [["17", "1 2"]]);
        let swept = over("ip_local_port_range=8 9,3 4");
        assert_eq!(swept.swept, ["somaxconn", "ip_local_port_range"]);
        assert_eq!(values(&swept)[..2], [["1", "8 9"], ["1", "3 4"]]);
    }

    #[test]
    fn the_short_form_thins_them_out_as_any_sweep() {
        let all: Vec<u32> = (1..=200).collect();
        let text = format!("targets = ['all']\nconnections = 15000\n[kernel]\nsomaxconn = {all:?}");
        let draft = PlanDraft::parse(&text, "plan.toml").expect("a plan");
        let resolved = resolve(draft.shortened(), &test_environment(2));
        let plan = resolved.expect("resolves").plan;
        let kept = values(&plan);
        assert!((2..200).contains(&kept.len()), "{kept:?}");
        assert_eq!(
            (&kept[0][..], &kept[kept.len() - 1][..]),
            (&["1"][..], &["200"][..])
        );
        for setting in &plan.settings {
            assert_eq!(setting.swept[0].value, setting.kernel["net.core.somaxconn"]);
        }
    }

    #[test]
    fn settings_that_cannot_be_meant_are_refused() {
        for (text, part) in [
            ("[kernel]\nsomaxcon = 1", "did you mean `somaxconn`?"),
            (
                "[kernel]\nnet.core.somaxcon = [1, 2]",
                "did you mean `net.core.somaxconn`?",
            ),
            ("[kernel]\nzzz = 1", "sysctl -a"),
            ("[kernel]\nkernel.pid_max = 1", "not below net."),
            ("[kernel]\nvm.max_map_count = 1", "not below net."),
            ("[kernel]\n'../../etc/passwd' = 1", "not below net."),
            ("[kernel]\n'net.core.../somaxconn' = 1", "no such setting"),
            ("[kernel]\nboth = 1", "write net.ipv4.both or net.core.both"),
            (
                "[kernel]\nnet.ipv4.conf.eth0.rp_filter = 1",
                "no interface but lo",
            ),
            (
                "[kernel]\nsomaxconn = 1\nnet.core.somaxconn = 1",
                "given twice",
            ),
            ("[kernel]\nsomaxconn = ''", "has no value"),
            ("[kernel]\nsomaxconn = [1, ' ']", "has no value"),
            ("[kernel]\nsomaxconn = \"1\\n2\"", "has no value"),
            ("[kernel]\nsomaxconn = []", "the list is empty"),
            ("[kernel]\nsomaxconn = true", "expected a number"),
            ("[kernel]\nsomaxconn = 1.5", "expected a number"),
            (
                "[kernel]\nsomaxconn = [1, true]",
                "expected a number or a text",
            ),
            ("[kernel]\nsomaxconn = [[1]]", "expected a number or a text"),
            ("kernel = 5", "expected a table"),
            ("kernel = [5]", "expected a table"),
        ] {
            let message = outcome(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn a_sweep_that_explodes_counts_them_too() {
        let many = |last: u32| format!("{:?}", (0..last).collect::<Vec<_>>());
        let text = format!(
            "size = {}\n[kernel]\nsomaxconn = {}",
            many(201).replacen('0', "300", 1),
            many(50)
        );
        let message = outcome(&text).expect_err("10,050");
        assert!(
            message.contains("50 of somaxconn × 201 of size"),
            "{message}"
        );
    }
}
