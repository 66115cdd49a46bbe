//! In which network, and with which kernel settings there.
//!
//! Names are looked up here, among the settings that there are; what the kernel says of their values is found out when the
//! first private network is made, still before anything is measured.

use std::collections::BTreeMap;
use std::net::IpAddr;

use throng_record::{Network, TargetKind, TargetRecord};

use crate::plan::{Environment, PlanDraft, PlanError};
use crate::suggest::{nearest, or_list};

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
    #[error("`[kernel]` {name} has no value; write for example somaxconn = 4096")]
    NoValue { name: String },
    #[error("`[kernel]` {name} is given twice, perhaps once by its short name; leave one out")]
    Twice { name: String },
}

pub(super) fn network(
    draft: &PlanDraft,
    environment: &Environment,
    targets: &[TargetRecord],
) -> Result<(Network, BTreeMap<String, String>), PlanError> {
    let is_launched = |target: &TargetRecord| target.kind != TargetKind::Running;
    let net = match draft.net {
        _ if !targets.iter().any(is_launched) => Network::Host,
        asked => asked.unwrap_or(Network::Private),
    };
    let has_elsewhere = |source: &Vec<IpAddr>| source.iter().any(|address| !address.is_loopback());
    if net == Network::Private && draft.source.as_ref().is_some_and(has_elsewhere) {
        return Err(PlanError::Needs {
            key: "source",
            needed: "net = \"host\"",
            why: "a private network has no addresses but those of loopback",
        });
    }
    let mut kernel = BTreeMap::new();
    let settings = draft.kernel.as_ref().map_or(&[][..], |kernel| &kernel.0);
    for setting in settings {
        if net == Network::Host {
            return Err(without_private_network(draft));
        }
        let name = full_name(&setting.name, &environment.kernel_settings)?;
        if setting.value.is_empty() || setting.value.contains(char::is_control) {
            return Err(KernelNameError::NoValue { name }.into());
        }
        if kernel.insert(name.clone(), setting.value.clone()).is_some() {
            return Err(KernelNameError::Twice { name }.into());
        }
    }
    Ok((net, kernel))
}

fn without_private_network(draft: &PlanDraft) -> PlanError {
    if draft.net == Some(Network::Host) {
        return PlanError::Conflict {
            key: "kernel",
            other: "net = \"host\"",
            why: "settings are made in a private network, and the host's are never changed",
        };
    }
    PlanError::Needs {
        key: "kernel",
        needed: "a target to launch",
        why: "settings are made in a private network, and a server that already runs is in the host's, which is never changed",
    }
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
    use super::*;
    use crate::plan::{KernelDraft, resolve, test_environment};

    fn outcome(text: &str) -> Result<(Network, Vec<(String, String)>), String> {
        let text = if text.contains("targets") {
            text.to_owned()
        } else {
            format!("targets = ['poll']\n{text}")
        };
        let draft = PlanDraft::parse(&text, "plan.toml").map_err(|error| error.problem)?;
        let resolved = resolve(draft, &test_environment(2)).map_err(|error| error.to_string())?;
        let kernel = resolved.plan.kernel.into_iter().collect();
        Ok((resolved.plan.net, kernel))
    }

    #[test]
    fn launched_targets_are_in_a_private_network_unless_told_otherwise() {
        let net = |text: &str| outcome(text).expect(text).0;
        assert_eq!(net(""), Network::Private);
        assert_eq!(net("net = 'host'"), Network::Host);
        assert_eq!(net("targets = ['tcp://127.0.0.1:1']"), Network::Host);
        let both = "targets = ['poll', 'tcp://127.0.0.1:1']";
        assert_eq!(net(both), Network::Private);
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
            "[kernel]\n'net.core.somaxconn' = '17'\nip_local_port_range = '1024 65535'",
        ] {
            assert_eq!(outcome(text).expect(text).1, meant, "{text}");
        }
    }

    #[test]
    fn a_setting_on_the_command_line_replaces_that_of_the_plan_however_it_is_named() {
        let file =
            "targets = ['poll']\n[kernel]\nnet.core.somaxconn = 1\nip_local_port_range = '1 2'";
        let draft = PlanDraft::parse(file, "plan.toml").expect(file);
        let flags = PlanDraft {
            kernel: Some(KernelDraft(vec![
                "somaxconn=17".parse().expect("a setting"),
            ])),
            ..PlanDraft::default()
        };
        let plan = resolve(draft.overlay(flags), &test_environment(2))
            .expect("resolves")
            .plan;
        let values: Vec<&str> = plan.kernel.values().map(String::as_str).collect();
        assert_eq!(values, ["17", "1 2"]);
    }

    #[test]
    fn settings_that_cannot_be_meant_are_refused() {
        let refused = |text: &str| outcome(text).expect_err(text);
        for (text, part) in [
            ("[kernel]\nsomaxcon = 1", "did you mean `somaxconn`?"),
            (
                "[kernel]\nnet.core.somaxcon = 1",
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
            ("[kernel]\nsomaxconn = \"1\\n2\"", "has no value"),
            ("[kernel]\nsomaxconn = true", "expected a number"),
            ("[kernel]\nsomaxconn = 1.5", "expected a number"),
            ("source = '192.0.2.1'", "`source` needs `net = \"host\"`"),
            ("kernel = 5", "expected a table"),
            (
                "net = 'host'\n[kernel]\nsomaxconn = 1",
                "contradict each other",
            ),
            (
                "targets = ['tcp://127.0.0.1:1']\n[kernel]\nsomaxconn = 1",
                "a target to launch",
            ),
        ] {
            let message = refused(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
