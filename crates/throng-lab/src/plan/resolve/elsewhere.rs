//! What cannot be asked for where the load comes from other hosts.

use throng_record::division::DivisionError;
use throng_record::plan::{Experiment, ListenFamily};
use throng_record::{Setting, TargetRecord};
use throng_sys::address::Address;

use crate::plan::{Environment, PlanError};

/// Refuses it before the first trial.
pub(super) fn check(
    experiment: Experiment,
    targets: &[TargetRecord],
    settings: &[Setting],
    environment: &Environment,
) -> Result<(), PlanError> {
    if !environment.is_loaded_from_elsewhere() {
        return Ok(());
    }
    if !environment.are_generators_here() {
        targets.iter().try_for_each(reachable)?;
    }
    let several = environment.generators.len() > 1;
    settings.iter().try_for_each(|setting| {
        if setting.listen == ListenFamily::Unix {
            return Err(PlanError::FromElsewhere {
                what: "family = \"unix\"".to_owned(),
                why: "a Unix socket is of one host".to_owned(),
                instead: "write --family ipv4 or --family ipv6",
            });
        }
        if several && setting.connect_concurrency == 1 && setting.phases.is_divisible().is_ok() {
            return Err(PlanError::FromElsewhere {
                what: "connect-concurrency = 1".to_owned(),
                why: "connects one after another are those of one generator".to_owned(),
                instead: "write 2 or more, which is of each shard",
            });
        }
        match setting.phases.is_divisible() {
            // It is timed by the lab.
            Ok(()) | Err(DivisionError::Multiplexer) => Ok(()),
            Err(why) if several => Err(PlanError::FromElsewhere {
                what: experiment.in_prose().to_owned(),
                why: why.to_string(),
                instead: "start one generator: mpirun -np 2 --host LAB,GENERATOR …",
            }),
            Err(_) => Ok(()),
        }
    })
}

/// Whether a running server is the same one as seen from each host.
fn reachable(target: &TargetRecord) -> Result<(), PlanError> {
    let is_of_each_host = |address: Address| match address {
        Address::Unix(_) => true,
        Address::Tcp(tcp) => tcp.ip().is_loopback() || tcp.ip().is_unspecified(),
    };
    let mut running = target.addresses.iter().flat_map(|text| text.parse().ok());
    if !running.any(is_of_each_host) {
        return Ok(());
    }
    Err(PlanError::FromElsewhere {
        what: target.name.clone(),
        why: "it is another server on each host".to_owned(),
        instead: "name the address by which the other hosts reach it",
    })
}

#[cfg(test)]
mod tests {
    use crate::plan::{PlanDraft, hosts_test_environment, resolve};

    fn outcome(text: &str, cpus_of_hosts: &[u32]) -> Result<(), String> {
        let draft = PlanDraft::parse(text, "plan.toml").expect("a plan file");
        let resolved = resolve(draft, &hosts_test_environment(cpus_of_hosts));
        resolved.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_one_generator_alone_can_do_is_refused_for_several() {
        let fanout = "experiment = 'fanout'\ntargets = ['poll']\nconnections = 10";
        assert_eq!(outcome(fanout, &[2]), Ok(()));
        let message = outcome(fanout, &[2, 2]).expect_err("refused");
        assert!(message.contains("one generator"), "{message}");
    }

    #[test]
    fn what_is_another_server_on_each_host_is_refused() {
        for target in ["tcp://127.0.0.1:80", "tcp://[::1]:80", "unix:/run/x"] {
            let plan = format!("targets = ['{target}']");
            let message = outcome(&plan, &[2]).expect_err(target);
            assert!(message.contains("reach it"), "{message}");
        }
        assert_eq!(outcome("targets = ['tcp://192.0.2.1:80']", &[2, 2]), Ok(()));
    }

    #[test]
    fn a_multiplexer_is_timed_by_the_lab_and_connects_in_turn_are_of_one_generator() {
        let accept = "experiment = 'accept'\nconnections = 100";
        assert_eq!(outcome(accept, &[2, 2]), Ok(()));
        let in_turn =
            "experiment = 'hold'\ntargets = ['poll']\nconnections = 100\nconnect-concurrency = 1";
        assert_eq!(outcome(in_turn, &[2]), Ok(()));
        let message = outcome(in_turn, &[2, 2]).expect_err("refused");
        assert!(message.contains("one generator"), "{message}");
    }

    #[test]
    fn all_generators_together_have_no_more_connects_in_flight_than_a_queue_holds() {
        let in_flight = |cpus_of_hosts: &[u32]| {
            let text = "experiment = 'hold'\ntargets = ['poll']\nconnections = 1000000";
            let draft = PlanDraft::parse(text, "plan.toml").expect("a plan file");
            let resolved = resolve(draft, &hosts_test_environment(cpus_of_hosts));
            let plan = resolved.expect("a plan").plan;
            let setting = &plan.settings[0];
            let generators = cpus_of_hosts.len() as u32;
            assert!(setting.backlog >= setting.shards * generators * setting.connect_concurrency);
            setting.shards * generators
        };
        assert_eq!(in_flight(&[2, 2]), 52, "shards");
    }

    #[test]
    fn a_unix_socket_is_of_one_host() {
        let message = outcome("targets = ['poll']\nfamily = 'unix'", &[2]).expect_err("refused");
        assert!(message.contains("Unix socket"), "{message}");
    }

    #[test]
    fn each_host_has_shards_for_its_cpus_and_for_its_part_of_the_connections() {
        let shards = |text: &str, cpus_of_hosts: &[u32]| {
            let draft = PlanDraft::parse(text, "plan.toml").expect("a plan file");
            let resolved = resolve(draft, &hosts_test_environment(cpus_of_hosts));
            resolved.expect("a plan").plan.settings[0].shards
        };
        assert_eq!(shards("targets = ['poll']\nconnections = 90", &[4, 3]), 3);
        let hold = "experiment = 'hold'\ntargets = ['poll']\nconnections = 100000";
        assert_eq!(shards(hold, &[2, 2]), 3, "50,000 by 20,000");
    }
}
