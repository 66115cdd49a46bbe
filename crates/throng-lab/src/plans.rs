//! The plans that are built into the program.

/// A plan that comes with throng.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInPlan {
    /// As given to `throng run`.
    pub name: &'static str,
    /// The file, TOML.
    pub text: &'static str,
}

/// All of them; the first is the default.
pub const BUILT_IN: &[BuiltInPlan] = &[
    BuiltInPlan {
        name: "tour",
        text: include_str!("../../../plans/tour.toml"),
    },
    BuiltInPlan {
        name: "backlog",
        text: include_str!("../../../plans/backlog.toml"),
    },
    BuiltInPlan {
        name: "backlog-kernel",
        text: include_str!("../../../plans/backlog-kernel.toml"),
    },
    BuiltInPlan {
        name: "c10k",
        text: include_str!("../../../plans/c10k.toml"),
    },
    BuiltInPlan {
        name: "many",
        text: include_str!("../../../plans/many.toml"),
    },
    BuiltInPlan {
        name: "million",
        text: include_str!("../../../plans/million.toml"),
    },
    BuiltInPlan {
        name: "languages",
        text: include_str!("../../../plans/languages.toml"),
    },
    BuiltInPlan {
        name: "services",
        text: include_str!("../../../plans/services.toml"),
    },
    BuiltInPlan {
        name: "services-languages",
        text: include_str!("../../../plans/services-languages.toml"),
    },
];

/// The built-in plan of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static BuiltInPlan> {
    BUILT_IN.iter().find(|plan| plan.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanDraft, backlog_test_environment, many_test_environment, resolve};

    #[test]
    fn every_built_in_plan_resolves_and_bears_its_name() {
        let mut environment = backlog_test_environment();
        for model in many_test_environment().models {
            if environment.models.iter().all(|one| one.name != model.name) {
                environment.models.push(model);
            }
        }
        environment.catalogue = many_test_environment().catalogue;
        for plan in BUILT_IN {
            let draft = PlanDraft::parse(plan.text, plan.name).expect(plan.name);
            for draft in [draft.clone(), draft.shortened()] {
                let resolved = resolve(draft, &environment).expect(plan.name);
                assert_eq!(resolved.plan.name, plan.name);
            }
            assert_eq!(find(plan.name), Some(plan));
        }
    }
}
