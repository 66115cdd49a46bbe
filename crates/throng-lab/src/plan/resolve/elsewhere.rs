//! What cannot be asked for where the load comes from other hosts.

use throng_record::Setting;
use throng_record::plan::ListenFamily;

use crate::plan::{Environment, PlanError};

/// Refuses it before the first trial.
pub(super) fn check(settings: &[Setting], environment: &Environment) -> Result<(), PlanError> {
    if !environment.is_loaded_from_elsewhere() {
        return Ok(());
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
        match setting.phases.is_divisible() {
            Err(why) if several => Err(PlanError::FromElsewhere {
                what: "this".to_owned(),
                why: why.to_string(),
                instead: "start one generator: mpirun -np 2 --host LAB,GENERATOR …",
            }),
            _ => Ok(()),
        }
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
