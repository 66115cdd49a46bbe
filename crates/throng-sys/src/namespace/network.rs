//! A network as seen from outside: starting children in it, looking up its sockets, reading its counters.
//!
//! Of a private network everything was opened inside and handed over: a netlink socket asks about the namespace in which it
//! was opened, and a file of `/proc/net` shows that in which it was opened, whoever reads it. Nothing here needs privilege,
//! and the caller stays where it is.

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::raw;
use crate::kernel_counters::{self, KernelCounters};
use crate::packet::{Interfaces, PacketSocket, SegmentTap, TapError};
use crate::sock_diag::{self, Listener, SocketDiagnostics, UnixListener};

/// The caller's own network, or a private one. Clones are the same network, which lives as long as one of them does, or a
/// process in it.
#[derive(Clone, Debug, Default)]
pub struct Network {
    pub(super) private: Option<Arc<Private>>,
}

/// What was handed over.
#[derive(Debug)]
pub(super) struct Private {
    pub(super) net: OwnedFd,
    /// Where it took one.
    pub(super) user: Option<OwnedFd>,
    pub(super) diagnostics: Arc<SocketDiagnostics>,
    /// Or the kernel's number for why there is none.
    pub(super) packets: Result<Arc<PacketSocket>, i32>,
    pub(super) snmp: File,
    pub(super) netstat: File,
    pub(super) sockstat: File,
    pub(super) unix: File,
}

impl Network {
    /// The network of the calling thread.
    pub fn own() -> Self {
        Self::default()
    }

    /// Whether it is another than the caller's.
    pub fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// Lets the child that `command` starts run in it. Call it before [`crate::signal::bind_to_parent`]: a change of user
    /// namespace may undo what that does.
    pub fn join(&self, command: &mut Command) {
        raw::join(self, command);
    }

    /// As [`SocketDiagnostics::find_listener`].
    ///
    /// # Errors
    /// As there.
    pub fn find_listener(&self, address: SocketAddr) -> io::Result<Option<Listener>> {
        match &self.private {
            Some(private) => private.diagnostics.find_listener(address),
            None => sock_diag::find_listener(address),
        }
    }

    /// As [`SocketDiagnostics::listeners`].
    ///
    /// # Errors
    /// As there.
    pub fn listeners(&self) -> io::Result<Vec<Listener>> {
        match &self.private {
            Some(private) => private.diagnostics.listeners(),
            None => sock_diag::listeners(),
        }
    }

    /// The socket diagnostics of this network, to be asked again and again.
    ///
    /// # Errors
    /// As [`SocketDiagnostics::open`].
    pub fn diagnostics(&self) -> io::Result<Arc<SocketDiagnostics>> {
        match &self.private {
            Some(private) => Ok(Arc::clone(&private.diagnostics)),
            None => SocketDiagnostics::open().map(Arc::new),
        }
    }

    /// Begins to look at the handshakes of one port. A private network has one observer at a time.
    ///
    /// # Errors
    /// [`TapError::NotPermitted`] without `CAP_NET_RAW` where the packet socket had to be opened: in a private network, or
    /// here in the caller's own.
    pub fn handshakes(&self, port: u16, interfaces: Interfaces) -> Result<SegmentTap, TapError> {
        let refused = |error| TapError::of_opening(error);
        let socket = match &self.private {
            Some(private) => private
                .packets
                .clone()
                .map_err(|errno| refused(io::Error::from_raw_os_error(errno)))?,
            None => Arc::new(PacketSocket::open().map_err(refused)?),
        };
        SegmentTap::start(&socket, port, interfaces)
    }

    /// As [`sock_diag::find_unix_listener`].
    ///
    /// # Errors
    /// As there.
    pub fn find_unix_listener(&self, path: &Path) -> io::Result<Option<UnixListener>> {
        match &self.private {
            Some(private) => sock_diag::find_unix_listener_in(&private.unix, path),
            None => sock_diag::find_unix_listener(path),
        }
    }

    /// The kernel's counters.
    ///
    /// # Errors
    /// As [`KernelCounters::read`].
    pub fn counters(&self) -> io::Result<KernelCounters> {
        match &self.private {
            Some(private) => {
                KernelCounters::read_files(&private.snmp, &private.netstat, &private.sockstat)
            }
            None => KernelCounters::read(),
        }
    }

    /// Sockets in `TIME_WAIT` now; absent where the kernel does not tell.
    ///
    /// # Errors
    /// What reading `sockstat` says.
    pub fn time_wait(&self) -> io::Result<Option<i64>> {
        let sockstat = self.private.as_ref().map(|private| &private.sockstat);
        kernel_counters::time_wait_now(sockstat)
    }
}
