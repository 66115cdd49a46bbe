//! What of the machine and of this throng a plan is resolved against.

/// The surroundings that decide defaults and what is possible. Made by [`Environment::detect`], or by hand in tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// CPUs this process may use, ascending, at least one.
    pub cpus_allowed: Vec<u32>,
    /// Why `io_uring` cannot be used here; `None` where it can.
    pub io_uring_obstacle: Option<String>,
    /// The built-in models.
    pub models: Vec<BuiltInModel>,
    /// The network settings of this kernel, by dotted name.
    pub kernel_settings: Vec<String>,
}

/// What a plan must know of a model: the lab launches servers, it does not contain them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltInModel {
    /// The word for it.
    pub name: String,
    /// Whether it has a loop for each CPU that it may use.
    pub uses_every_cpu: bool,
}

impl BuiltInModel {
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            uses_every_cpu: false,
        }
    }
}

impl AsRef<str> for BuiltInModel {
    fn as_ref(&self) -> &str {
        &self.name
    }
}

impl Environment {
    /// This machine, with the given built-in models.
    #[must_use]
    pub fn detect(models: Vec<BuiltInModel>) -> Self {
        Self {
            cpus_allowed: throng_sys::affinity::allowed_cpus(),
            io_uring_obstacle: crate::machine::io_uring_obstacle(),
            models,
            kernel_settings: throng_sys::sysctl::network::names(),
        }
    }
}
