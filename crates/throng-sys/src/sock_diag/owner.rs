//! Which process holds a socket: the one with a descriptor `socket:[INODE]` in `/proc/PID/fd`.
//!
//! Used once per listener, to be certain that the one that appeared belongs to the launched command and not to
//! something that had the port before. It reads every descriptor of a process until it finds the socket: cheap
//! for a server that has just started, not for one with 100,000 connections.

use std::io;
use std::path::Path;

use crate::process;

/// The first of `pids` that holds the socket of this inode number; `None` if none of them does. Processes that
/// are gone are passed over. A thread may have a descriptor table of its own, so all threads are looked at,
/// after all main threads.
///
/// # Errors
/// `PermissionDenied` if none is seen to hold it but some could not be looked into (`ptrace(2)`'s rule: another
/// user's, or one that changed its user).
pub fn owner_of(inode: u32, pids: &[u32]) -> io::Result<Option<u32>> {
    let wanted = format!("socket:[{inode}]");
    let mut denied = None;
    for &pid in pids {
        if holds(Path::new(&format!("/proc/{pid}/fd")), &wanted, &mut denied) {
            return Ok(Some(pid));
        }
    }
    for &pid in pids {
        let threads = process::threads(pid).unwrap_or_default();
        let in_own_table = |thread: &u32| {
            *thread != pid
                && holds(
                    Path::new(&format!("/proc/{pid}/task/{thread}/fd")),
                    &wanted,
                    &mut denied,
                )
        };
        if threads.iter().any(in_own_table) {
            return Ok(Some(pid));
        }
    }
    denied.map_or(Ok(None), |directory| {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("cannot tell who holds socket {inode}: may not look into {directory}"),
        ))
    })
}

/// Whether a descriptor in `directory` is the socket. One that may not be read is put into `denied`.
fn holds(directory: &Path, wanted: &str, denied: &mut Option<String>) -> bool {
    let is_wanted = |entry: io::Result<std::fs::DirEntry>| {
        entry
            .and_then(|entry| std::fs::read_link(entry.path()))
            .is_ok_and(|link| link == Path::new(wanted))
    };
    match std::fs::read_dir(directory) {
        Ok(mut entries) => entries.any(is_wanted),
        Err(error) => {
            if error.kind() == io::ErrorKind::PermissionDenied {
                *denied = Some(directory.display().to_string());
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};

    use super::super::find_listener;
    use super::*;

    #[test]
    fn the_holder_is_told_from_a_bystander() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let inode = find_listener(listener.local_addr().unwrap())
            .unwrap()
            .unwrap()
            .inode;
        let mut bystander = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let own = std::process::id();
        let owner = owner_of(inode, &[bystander.id(), own]);
        let without_owner = owner_of(inode, &[bystander.id()]);
        bystander.kill().unwrap();
        bystander.wait().unwrap();
        assert_eq!(owner.unwrap(), Some(own));
        assert_eq!(without_owner.unwrap(), None);
        assert_eq!(owner_of(inode, &[bystander.id()]).unwrap(), None, "gone");
    }

    #[test]
    fn a_listener_in_a_threads_private_table_is_found() {
        let (address_out, address_in) = std::sync::mpsc::channel();
        let (done_out, done_in) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            crate::descriptor_table::make_private(&[]).unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            assert!(listener.as_fd().try_clone_to_owned().is_ok());
            address_out.send(listener.local_addr().unwrap()).unwrap();
            done_in.recv().unwrap();
        });
        let inode = find_listener(address_in.recv().unwrap())
            .unwrap()
            .unwrap()
            .inode;
        let own = std::process::id();
        let owner = owner_of(inode, &[own]);
        done_out.send(()).unwrap();
        thread.join().unwrap();
        assert_eq!(owner.unwrap(), Some(own));
    }
}
