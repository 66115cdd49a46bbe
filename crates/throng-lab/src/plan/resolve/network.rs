//! In which network launched servers and the generator are.

use std::net::IpAddr;

use throng_record::{Network, TargetKind, TargetRecord};

use crate::plan::{Environment, PlanDraft, PlanError};

/// The network that is asked for, if all that is wanted of it can be had there.
pub(super) fn network(
    draft: &PlanDraft,
    targets: &[TargetRecord],
    environment: &Environment,
) -> Result<Network, PlanError> {
    let is_launched = |target: &TargetRecord| target.kind != TargetKind::Running;
    let is_loaded_from_elsewhere = environment.is_loaded_from_elsewhere();
    let net = match draft.net {
        Some(Network::Private) if is_loaded_from_elsewhere => {
            return Err(PlanError::FromElsewhere {
                what: "net = \"private\"".to_owned(),
                why: "no other host reaches into a private network".to_owned(),
                instead: "leave net out",
            });
        }
        _ if is_loaded_from_elsewhere => Network::Host,
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
    let has_settings = draft
        .kernel
        .as_ref()
        .is_some_and(|kernel| !kernel.0.is_empty());
    if net == Network::Host && has_settings {
        return Err(without_private_network(draft, is_loaded_from_elsewhere));
    }
    Ok(net)
}

fn without_private_network(draft: &PlanDraft, is_loaded_from_elsewhere: bool) -> PlanError {
    if is_loaded_from_elsewhere {
        return PlanError::FromElsewhere {
            what: "a setting of the kernel".to_owned(),
            why: "settings are made in a private network, into which no other host reaches"
                .to_owned(),
            instead: "leave kernel out, and set it on the hosts by sysctl",
        };
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{hosts_test_environment, resolve, test_environment};

    #[test]
    fn a_server_that_other_hosts_load_is_in_the_hosts_network() {
        let outcome = |text: &str| {
            let draft = PlanDraft::parse(text, "plan.toml").expect("a plan file");
            let resolved = resolve(draft, &hosts_test_environment(&[2, 2]));
            let resolved = resolved.map(|resolved| resolved.plan.net);
            resolved.map_err(|error| error.to_string())
        };
        assert_eq!(outcome("targets = ['poll']"), Ok(Network::Host));
        for text in ["net = 'private'", "[kernel]\nsomaxconn = 16"] {
            let refused = outcome(&format!("targets = ['poll']\n{text}"));
            let message = refused.expect_err(text);
            assert!(message.contains("comes from other hosts"), "{message}");
        }
    }

    fn outcome(text: &str) -> Result<Network, String> {
        let text = if text.contains("targets") {
            text.to_owned()
        } else {
            format!("targets = ['poll']\n{text}")
        };
        let draft = PlanDraft::parse(&text, "plan.toml").expect("a plan file");
        let resolved = resolve(draft, &test_environment(2));
        resolved
            .map(|resolved| resolved.plan.net)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn launched_targets_are_in_a_private_network_unless_told_otherwise() {
        let net = |text: &str| outcome(text).expect(text);
        assert_eq!(net(""), Network::Private);
        assert_eq!(net("net = 'host'"), Network::Host);
        assert_eq!(net("net = 'host'\n[kernel]"), Network::Host);
        assert_eq!(net("targets = ['tcp://127.0.0.1:1']"), Network::Host);
        let both = "targets = ['poll', 'tcp://127.0.0.1:1']";
        assert_eq!(net(both), Network::Private);
    }

    #[test]
    fn what_cannot_be_had_there_is_refused() {
        for (text, part) in [
            ("source = '192.0.2.1'", "`source` needs `net = \"host\"`"),
            (
                "net = 'host'\n[kernel]\nsomaxconn = 1",
                "contradict each other",
            ),
            (
                "targets = ['tcp://127.0.0.1:1']\n[kernel]\nsomaxconn = [1, 2]",
                "a target to launch",
            ),
        ] {
            let message = outcome(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
