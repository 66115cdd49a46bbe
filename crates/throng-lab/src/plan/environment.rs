//! What of the machine and of this throng a plan is resolved against.

/// The surroundings that decide defaults and what is possible. Made by [`Environment::detect`], or by hand in tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// CPUs this process may use, ascending, at least one.
    pub cpus_allowed: Vec<u32>,
    /// Why `io_uring` cannot be used here; `None` where it can.
    pub io_uring_obstacle: Option<String>,
    /// The built-in models, by name.
    pub models: Vec<String>,
    /// The network settings of this kernel, by dotted name.
    pub kernel_settings: Vec<String>,
}

impl Environment {
    /// This machine, with the given built-in models.
    #[must_use]
    pub fn detect(models: &[&str]) -> Self {
        Self {
            cpus_allowed: throng_sys::affinity::allowed_cpus(),
            io_uring_obstacle: crate::machine::io_uring_obstacle(),
            models: models.iter().map(|&model| model.to_owned()).collect(),
            kernel_settings: throng_sys::sysctl::network::names(),
        }
    }
}
