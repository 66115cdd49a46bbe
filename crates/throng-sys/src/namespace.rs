//! Network namespaces: making one, setting it up, and using it from outside (`network_namespaces(7)`,
//! `user_namespaces(7)`).
//!
//! Two halves. A short-lived process of one thread [enters](Entered::enter) a new namespace, sets it up, and hands its
//! descriptors over a Unix socket. Whoever receives them has a [`Network`]: children can be started in it, and its
//! sockets and counters can be looked at, without entering it. The descriptors alone keep the namespace alive; with the
//! last of them and the last process in it the kernel takes it away, so there is nothing to clean up, however we end.
//!
//! Settings are written in a new namespace only: [`Entered`] is the proof that there is one.

use std::io;
use std::marker::PhantomData;

use crate::capability_probe::Obstacle;
use crate::kernel_file::with_context;
use crate::sysctl;

mod handover;
mod network;
pub(crate) mod raw;

pub use network::Network;

/// The calling process, moved into a network namespace that it has just made.
///
/// Not `Send`: a namespace is a thread's, and this proves it of one thread.
#[derive(Debug)]
pub struct Entered {
    /// Whether it took a user namespace: the way without root.
    pub in_user_namespace: bool,
    _of_this_thread: PhantomData<*const ()>,
}

impl Entered {
    /// Moves the calling process, which must have one thread, into a new network namespace; where that is not permitted,
    /// into a new user namespace with it, in which its user and group keep their numbers. Its loopback interface is still
    /// down. An exec without root gives the privileges in a user namespace up: set everything up before.
    ///
    /// # Errors
    /// Why there is none, with a remedy.
    pub fn enter() -> Result<Self, Obstacle> {
        let entered = |in_user_namespace| Self {
            in_user_namespace,
            _of_this_thread: PhantomData,
        };
        match raw::unshare(libc::CLONE_NEWNET) {
            Ok(()) => return Ok(entered(false)),
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
            Err(error) => return Err(Obstacle::of_namespaces(&error, false)),
        }
        // Before: afterwards they are those of nobody, until the maps are written.
        let user = rustix::process::getuid().as_raw();
        let group = rustix::process::getgid().as_raw();
        raw::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)
            .map_err(|error| Obstacle::of_namespaces(&error, true))?;
        map_identically(user, group).map_err(|error| Obstacle::of_namespaces(&error, true))?;
        Ok(entered(true))
    }

    /// Brings the loopback interface up, which gives it 127.0.0.1 and, where IPv6 is not disabled, `::1`.
    ///
    /// # Errors
    /// [`Obstacle::WithoutCapabilities`] where a user namespace comes without them.
    pub fn bring_loopback_up(&self) -> Result<(), Obstacle> {
        raw::bring_loopback_up().map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Obstacle::WithoutCapabilities,
            _ => Obstacle::of_namespaces(&error, self.in_user_namespace),
        })
    }

    /// Sets a network setting of this namespace.
    ///
    /// # Errors
    /// What the kernel answers; `InvalidInput` for a name that is not below `net.`.
    pub fn set(&self, name: &str, value: &str) -> io::Result<()> {
        sysctl::network::write(name, value)
    }
}

/// Each id as itself (`user_namespaces(7)`). Without privilege a group can be mapped only where `setgroups(2)` is given up.
fn map_identically(user: u32, group: u32) -> io::Result<()> {
    let write = |file: &str, text: String| {
        let path = format!("/proc/self/{file}");
        std::fs::write(&path, text)
            .map_err(|error| with_context(&error, format_args!("cannot write {path}")))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))
}
