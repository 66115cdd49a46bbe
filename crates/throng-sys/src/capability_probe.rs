//! What this kernel lets this user do, found out by doing it: io_uring, namespaces.
//!
//! Settings and version numbers only hint; containers, seccomp filters and security modules decide at the call.
//! Each probe therefore makes the call, undoes it, and turns a refusal into its [`Obstacle`]. The calling
//! process is left as it was. Nothing here changes a setting.

use std::io;

use io_uring::IoUring;

use crate::sysctl;

mod namespaces;

pub use namespaces::{network_namespace, user_and_network_namespace};

/// The outcome of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It was done, and it worked.
    Usable,
    /// It was refused.
    Unusable(Obstacle),
}

impl Availability {
    /// Whether it worked.
    pub fn is_usable(&self) -> bool {
        *self == Self::Usable
    }
}

/// Why something was refused. Its text states the cause; the remedy is [`Obstacle::remedy`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// The kernel was built without it (or a sandbox plays such a kernel).
    #[error("this kernel does not have it")]
    NotInKernel,
    /// The kernel is too old.
    #[error("this kernel is too old: it came with Linux {since}")]
    KernelTooOld {
        /// The first version that has it.
        since: &'static str,
    },
    /// A kernel setting forbids it.
    #[error("forbidden by the kernel setting {name} = {value}")]
    ForbiddenBySetting {
        /// The setting's dotted name.
        name: &'static str,
        /// Its value now.
        value: String,
        /// The value that would allow it.
        allowing: &'static str,
    },
    /// Not permitted, and no known setting says so: only a privilege, or a seccomp filter, a container or a
    /// security module.
    #[error(
        "not permitted, by a missing privilege or by a seccomp filter, a container or a security module"
    )]
    NotPermitted {
        /// The capability that would permit it (`capabilities(7)`), where one would.
        capability: Option<&'static str>,
    },
    /// A user namespace was granted, but without capabilities in it, so that its network stays down.
    #[error(
        "user namespaces are granted here without capabilities, so their network cannot be set up"
    )]
    WithoutCapabilities,
    /// Anything else.
    #[error("{message}")]
    Other {
        /// The system's error number, where there is one.
        error_number: Option<i32>,
        /// The system's error message.
        message: String,
    },
}

impl Obstacle {
    /// What to do about it: a command, or what to ask for. `None` where nothing can be advised.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::NotInKernel | Self::Other { .. } => None,
            Self::KernelTooOld { since } => Some(format!("boot Linux {since} or newer")),
            Self::ForbiddenBySetting { name, allowing, .. } => {
                Some(format!("sudo sysctl -w {name}={allowing}"))
            }
            Self::NotPermitted {
                capability: Some(capability),
            } => Some(format!("run as root, or grant {capability}")),
            Self::NotPermitted { capability: None } => {
                Some("run outside the container, or with its seccomp profile relaxed".to_owned())
            }
            Self::WithoutCapabilities => Some(format!("sudo sysctl -w {APPARMOR_RESTRICTION}=0")),
        }
    }

    fn from_error(error: &io::Error, capability: Option<&'static str>) -> Self {
        match error.raw_os_error() {
            Some(libc::ENOSYS | libc::EAFNOSUPPORT | libc::EPROTONOSUPPORT) => Self::NotInKernel,
            _ if error.kind() == io::ErrorKind::PermissionDenied => {
                Self::NotPermitted { capability }
            }
            error_number => Self::Other {
                error_number,
                message: error.to_string(),
            },
        }
    }
}

/// Ubuntu's setting by which user namespaces of unprivileged users have no capabilities.
const APPARMOR_RESTRICTION: &str = "kernel.apparmor_restrict_unprivileged_userns";

/// Whether a ring can be made as throng's event loops make it: `DEFER_TASKRUN` with `SINGLE_ISSUER`
/// (`io_uring_setup(2)`, Linux 6.1).
pub fn io_uring() -> Availability {
    match smallest_ring() {
        Ok(_ring) => Availability::Usable,
        Err(error) => {
            Availability::Unusable(io_uring_obstacle(&error, io_uring_disabled().as_deref()))
        }
    }
}

fn smallest_ring() -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(2)
}

/// `disabled`: the value of `kernel.io_uring_disabled` (Linux 6.6): 0 no, 1 for those without privilege, 2 for all.
fn io_uring_obstacle(error: &io::Error, disabled: Option<&str>) -> Obstacle {
    match (error.raw_os_error(), disabled) {
        // An older kernel does not know the flags.
        (Some(libc::EINVAL), _) => Obstacle::KernelTooOld { since: "6.1" },
        (Some(libc::EPERM), Some(value)) if value != "0" => Obstacle::ForbiddenBySetting {
            name: IO_URING_DISABLED,
            value: value.to_owned(),
            allowing: "0",
        },
        _ => Obstacle::from_error(error, None),
    }
}

const IO_URING_DISABLED: &str = "kernel.io_uring_disabled";

fn io_uring_disabled() -> Option<String> {
    sysctl::read(IO_URING_DISABLED).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(number: i32) -> io::Error {
        io::Error::from_raw_os_error(number)
    }

    #[test]
    fn refusals_of_io_uring_are_told_apart() {
        assert_eq!(
            io_uring_obstacle(&error(libc::ENOSYS), None),
            Obstacle::NotInKernel
        );
        assert_eq!(
            io_uring_obstacle(&error(libc::EINVAL), Some("0")),
            Obstacle::KernelTooOld { since: "6.1" }
        );
        let filtered = Obstacle::NotPermitted { capability: None };
        assert_eq!(io_uring_obstacle(&error(libc::EPERM), Some("0")), filtered);
        assert_eq!(io_uring_obstacle(&error(libc::EPERM), None), filtered);
        let forbidden = io_uring_obstacle(&error(libc::EPERM), Some("2"));
        assert_eq!(
            forbidden.to_string(),
            "forbidden by the kernel setting kernel.io_uring_disabled = 2"
        );
        assert_eq!(
            forbidden.remedy().unwrap(),
            "sudo sysctl -w kernel.io_uring_disabled=0"
        );
        assert!(matches!(
            io_uring_obstacle(&error(libc::ENOMEM), None),
            Obstacle::Other { .. }
        ));
    }

    #[test]
    fn io_uring_is_judged_as_the_kernel_answers() {
        assert_eq!(io_uring().is_usable(), smallest_ring().is_ok());
    }
}
