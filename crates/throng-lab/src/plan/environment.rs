//! What of the machine and of this throng a plan is resolved against.

use throng_findings::Limits;
use throng_record::{BuiltInModel, TargetRecord};

use throng_catalogue::catalogue::Catalogue;

/// The surroundings that decide defaults and what is possible. Made by [`Environment::detect`], or by hand in tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// CPUs this process may use, ascending, at least one.
    pub cpus_allowed: Vec<u32>,
    /// Why `io_uring` cannot be used here; `None` where it can.
    pub io_uring_obstacle: Option<String>,
    /// The built-in models.
    pub models: Vec<BuiltInModel>,
    /// The catalogued servers; none where the plan names none.
    pub catalogue: Catalogue,
    /// The network settings of this kernel, by dotted name.
    pub kernel_settings: Vec<String>,
    /// What bounds the number of connections.
    pub limits: Limits,
}

/// The model that a target is, if it is one.
pub(crate) fn model_of<'a>(
    models: &'a [BuiltInModel],
    target: &TargetRecord,
) -> Option<&'a BuiltInModel> {
    let name = target.model.as_ref()?;
    models.iter().find(|model| model.name == *name)
}

impl Environment {
    /// The model that a target is, if it is one.
    pub(crate) fn model_of(&self, target: &TargetRecord) -> Option<&BuiltInModel> {
        model_of(&self.models, target)
    }

    /// Whether the word stands for several servers of the catalogue.
    pub(crate) fn is_group_of_catalogue(&self, word: &str) -> bool {
        self.catalogue.is_group(word)
    }

    /// This machine, with the given built-in models and catalogue.
    #[must_use]
    pub fn detect(models: Vec<BuiltInModel>, catalogue: Catalogue) -> Self {
        Self {
            cpus_allowed: throng_sys::affinity::allowed_cpus(),
            io_uring_obstacle: crate::machine::io_uring_obstacle(),
            models,
            catalogue,
            kernel_settings: throng_sys::sysctl::network::names(),
            limits: crate::machine::limits(),
        }
    }
}
