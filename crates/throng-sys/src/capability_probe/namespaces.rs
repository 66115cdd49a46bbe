//! Whether a private network can be made: tried in a forked child, which then ends.
//!
//! The child enters the namespaces and brings its loopback interface up, because some distributions grant a user
//! namespace but no capabilities in it, which shows only then. It answers by its exit status.

use std::io;

use rustix::process::{Pid, WaitOptions, waitpid};

use super::{APPARMOR_RESTRICTION, Availability, Obstacle};
use crate::namespace::raw;
use crate::sysctl;

/// Whether a network namespace can be made and set up as this user is: root's way.
pub fn network_namespace() -> Availability {
    attempt(libc::CLONE_NEWNET)
}

/// Whether a network namespace can be made and set up inside a user namespace: the way without root.
pub fn user_and_network_namespace() -> Availability {
    attempt(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)
}

/// The child's exit status if it entered the namespaces but could not bring loopback up. Otherwise the status
/// is 0 or the error number of `unshare`, all of which are smaller (the largest in Linux is 133).
const LOOPBACK_REFUSED: i32 = 200;

fn attempt(flags: libc::c_int) -> Availability {
    match exit_status_of_child(flags) {
        Ok(0) => Availability::Usable,
        Ok(LOOPBACK_REFUSED) => Availability::Unusable(Obstacle::WithoutCapabilities),
        Ok(number) => {
            Availability::Unusable(obstacle(&io::Error::from_raw_os_error(number), flags))
        }
        Err(error) => Availability::Unusable(Obstacle::from_error(&error, None)),
    }
}

fn exit_status_of_child(flags: libc::c_int) -> io::Result<i32> {
    // SAFETY: the process may have other threads, so the child may only do what a signal handler may: it makes
    // system calls, touches no lock and no heap, and leaves by _exit.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            let status = enter(flags);
            // SAFETY: _exit ends the child and returns to nobody.
            unsafe { libc::_exit(status) }
        }
        id => Pid::from_raw(id).expect("fork gives the parent a positive id"),
    };
    loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                let ended = io::Error::other("the probing child was killed");
                return status.exit_status().ok_or(ended);
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The child's part: 0, [`LOOPBACK_REFUSED`] or the error number of `unshare`. Async-signal-safe.
fn enter(flags: libc::c_int) -> i32 {
    match raw::unshare(flags) {
        Ok(()) if raw::bring_loopback_up().is_ok() => 0,
        Ok(()) => LOOPBACK_REFUSED,
        Err(error) => error.raw_os_error().unwrap_or(libc::EINVAL),
    }
}

impl Obstacle {
    /// Why a network namespace was refused, with a user namespace or without.
    pub(crate) fn of_namespaces(error: &io::Error, with_user: bool) -> Self {
        let user = if with_user { libc::CLONE_NEWUSER } else { 0 };
        obstacle(error, libc::CLONE_NEWNET | user)
    }
}

fn obstacle(error: &io::Error, flags: libc::c_int) -> Obstacle {
    let forbidden_by = |name: &'static str, forbidding: &str, allowing: &'static str| {
        let value = sysctl::read(name)
            .ok()
            .filter(|value| value == forbidding)?;
        Some(Obstacle::ForbiddenBySetting {
            name,
            value,
            allowing,
        })
    };
    let with_user = flags & libc::CLONE_NEWUSER != 0;
    let by_setting = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) if with_user => {
            forbidden_by("kernel.unprivileged_userns_clone", "0", "1")
                .or_else(|| forbidden_by(APPARMOR_RESTRICTION, "1", "0"))
        }
        Some(libc::ENOSPC | libc::EUSERS) => forbidden_by("user.max_user_namespaces", "0", "10000")
            .or_else(|| forbidden_by("user.max_net_namespaces", "0", "10000")),
        // A flag that the kernel does not know: it was built without these namespaces.
        Some(libc::EINVAL) => Some(Obstacle::NotInKernel),
        _ => None,
    };
    let capability = if with_user {
        None
    } else {
        Some("CAP_SYS_ADMIN")
    };
    by_setting.unwrap_or_else(|| Obstacle::from_error(error, capability))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_namespaces() -> Vec<std::path::PathBuf> {
        ["net", "user"]
            .map(|kind| std::fs::read_link(format!("/proc/thread-self/ns/{kind}")).unwrap())
            .to_vec()
    }

    #[test]
    fn probing_leaves_this_process_where_it_was() {
        let before = own_namespaces();
        let outcomes = [network_namespace(), user_and_network_namespace()];
        assert_eq!(own_namespaces(), before);
        for outcome in outcomes {
            let is_unexplained = matches!(
                outcome,
                Availability::Unusable(Obstacle::Other {
                    error_number: None,
                    ..
                })
            );
            assert!(!is_unexplained, "{outcome:?}");
        }
    }

    #[test]
    fn a_namespace_that_the_kernel_does_not_know_is_not_in_it() {
        let no_such_namespace = 1;
        let outcome = attempt(no_such_namespace);
        assert_eq!(outcome, Availability::Unusable(Obstacle::NotInKernel));
    }

    #[test]
    fn a_network_namespace_without_privilege_needs_a_capability() {
        let refused = obstacle(
            &io::Error::from_raw_os_error(libc::EPERM),
            libc::CLONE_NEWNET,
        );
        assert_eq!(
            refused,
            Obstacle::NotPermitted {
                capability: Some("CAP_SYS_ADMIN")
            }
        );
        assert_eq!(
            refused.remedy().unwrap(),
            "run as root, or grant CAP_SYS_ADMIN"
        );
    }
}
