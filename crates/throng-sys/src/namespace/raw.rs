//! The calls between a fork and what follows it: each only makes system calls, touches no lock and no heap, and so may be
//! made in the child of a process with threads.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::Network;

/// Moves the calling process into new namespaces.
pub(crate) fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: unshare takes flags only. Descriptors and memory are not unshared by the flags of this module's callers.
    match unsafe { libc::unshare(flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets `IFF_UP` on `lo` (`netdevice(7)`).
pub(crate) fn bring_loopback_up() -> io::Result<()> {
    // SAFETY: socket takes integers only.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all zeros are a valid ifreq: it is made of integers and characters.
    let mut interface: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, letter) in interface.ifr_name.iter_mut().zip(*b"lo") {
        *place = letter as libc::c_char;
    }
    interface.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: SIOCSIFFLAGS reads one ifreq, which lives until the call returns.
    let answer = unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw mut interface) };
    let outcome = match answer {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: the descriptor was opened above and is nobody else's.
    unsafe { libc::close(socket) };
    outcome
}

/// Lets the child that `command` starts enter a private network: after the fork, where it has one thread (in a process with
/// more, a user namespace cannot be entered), and before the exec.
pub(super) fn join(network: &Network, command: &mut Command) {
    let Some(private) = network.private.clone() else {
        return;
    };
    let enter = move || {
        // The user namespace first: it gives the privilege to enter the network namespace that belongs to it.
        if let Some(user) = &private.user {
            move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
        }
        move_into_link_name_space(private.net.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(())
    };
    // SAFETY: the closure makes two system calls, and errors made of a number.
    unsafe {
        command.pre_exec(enter);
    }
}
