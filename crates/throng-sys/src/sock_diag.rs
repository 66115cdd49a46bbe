//! Looking a listener up without touching it: is it there, how full is its accept queue, whose is it?
//!
//! TCP by `NETLINK_SOCK_DIAG` (`sock_diag(7)`): the exact look-up asks the kernel for the listener that a
//! connection to an address would reach, with the kernel's own rules for wildcard addresses. A probe connection
//! would disturb a server that serves one client at a time. Unix sockets by `/proc/net/unix`, see
//! [`find_unix_listener`]. Whose it is by the descriptors in `/proc`, see [`owner_of`].
//!
//! A netlink socket belongs to the network namespace in which it was opened, whoever uses it later: open a
//! [`SocketDiagnostics`] there and keep it. The free functions open one for each call, in the calling thread's.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::fd::{FromRawFd as _, IntoRawFd as _, OwnedFd};

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP, TCP_LISTEN};
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use crate::kernel_file::with_context;

mod owner;
mod unix;

pub use owner::owner_of;
pub(crate) use unix::find_unix_listener_in;
pub use unix::{UnixListener, find_unix_listener};

/// One listening TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listener {
    /// The address that it is bound to; a wildcard address if it takes any.
    pub address: SocketAddr,
    /// Its inode number, as in `socket:[N]` of `/proc/PID/fd`.
    pub inode: u32,
    /// The user who opened it.
    pub uid: u32,
    /// Established connections that wait to be accepted, now (`idiag_rqueue`).
    pub accept_queue: u32,
    /// The accept queue overflows when it holds *more* than this: the backlog given to `listen(2)`, as clamped
    /// by `net.core.somaxconn` (`idiag_wqueue`).
    pub accept_queue_limit: u32,
}

/// The listener that a connection to `address` would reach, in the calling thread's network namespace.
///
/// # Errors
/// As [`SocketDiagnostics::find_listener`].
pub fn find_listener(address: SocketAddr) -> io::Result<Option<Listener>> {
    SocketDiagnostics::open()?.find_listener(address)
}

/// All TCP listeners of the calling thread's network namespace.
///
/// # Errors
/// As [`SocketDiagnostics::listeners`].
pub fn listeners() -> io::Result<Vec<Listener>> {
    SocketDiagnostics::open()?.listeners()
}

/// A netlink socket to the socket diagnostics of the network namespace in which it was opened.
#[derive(Debug)]
pub struct SocketDiagnostics {
    socket: Socket,
}

impl From<OwnedFd> for SocketDiagnostics {
    /// A socket that was opened as [`SocketDiagnostics::open`] does, in whichever namespace.
    fn from(descriptor: OwnedFd) -> Self {
        // SAFETY: the descriptor is owned, and given up to the socket.
        let socket = unsafe { Socket::from_raw_fd(descriptor.into_raw_fd()) };
        Self { socket }
    }
}

impl From<SocketDiagnostics> for OwnedFd {
    fn from(diagnostics: SocketDiagnostics) -> Self {
        // SAFETY: the socket gives its descriptor up to us.
        unsafe { OwnedFd::from_raw_fd(diagnostics.socket.into_raw_fd()) }
    }
}

impl SocketDiagnostics {
    /// Opens it in the calling thread's network namespace. Needs no privilege.
    ///
    /// # Errors
    /// What `socket(2)` answers: `EPROTONOSUPPORT` where the kernel (or a sandbox) has no socket diagnostics.
    pub fn open() -> io::Result<Self> {
        let socket = Socket::new(NETLINK_SOCK_DIAG).map_err(|error| {
            with_context(&error, "cannot ask the kernel about sockets (sock_diag)")
        })?;
        Ok(Self { socket })
    }

    /// The listener that a connection to `address` would reach: one bound to it, or to the wildcard address of
    /// its family, or to `[::]` for an IPv4 address where that takes both. `None` if there is none. Of several
    /// that share a port (`SO_REUSEPORT`) it is one, arbitrarily; see [`SocketDiagnostics::listeners`].
    ///
    /// # Errors
    /// `Unsupported` if the kernel cannot look TCP sockets up (no `tcp_diag`); what netlink answers otherwise.
    pub fn find_listener(&self, address: SocketAddr) -> io::Result<Option<Listener>> {
        let canonical = SocketAddr::new(address.ip().to_canonical(), address.port());
        let scope = if let SocketAddr::V6(v6) = address {
            v6.scope_id()
        } else {
            0
        };
        match self.ask(request(canonical, scope, [0xff; 8]), NLM_F_REQUEST) {
            Ok(found) => Ok(found.into_iter().next()),
            // The kernel has one answer for "no such socket" and "no such look-up"; a dump tells them apart.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                self.listeners().map(|_| None)
            }
            Err(error) => Err(with_context(
                &error,
                format_args!("cannot look up the listener at {address}"),
            )),
        }
    }

    /// All TCP listeners, of both families.
    ///
    /// # Errors
    /// `Unsupported` if the kernel cannot look TCP sockets up (no `tcp_diag`); what netlink answers otherwise.
    pub fn listeners(&self) -> io::Result<Vec<Listener>> {
        let mut all = Vec::new();
        for any in ["0.0.0.0:0", "[::]:0"] {
            let any: SocketAddr = any.parse().expect("a constant address");
            match self.ask(request(any, 0, [0; 8]), NLM_F_REQUEST | NLM_F_DUMP) {
                Ok(found) => all.extend(found),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                    return Err(io::Error::new(
                        io::ErrorKind::Unsupported,
                        "this kernel cannot look TCP sockets up; load its module: modprobe tcp_diag",
                    ));
                }
                Err(error) => return Err(with_context(&error, "cannot list the TCP listeners")),
            }
        }
        Ok(all)
    }

    /// Sends one request and collects the listeners in its answer.
    fn ask(&self, request: InetRequest, flags: u16) -> io::Result<Vec<Listener>> {
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket
            .send_to(&bytes, &netlink_sys::SocketAddr::new(0, 0), 0)?;

        let is_dump = flags & NLM_F_DUMP == NLM_F_DUMP;
        let mut found = Vec::new();
        loop {
            let (datagram, _) = self.socket.recv_from_full()?;
            let is_complete = collect(&datagram, &mut found)?;
            if is_complete || !is_dump {
                return Ok(found);
            }
        }
    }
}

fn request(address: SocketAddr, interface_id: u32, cookie: [u8; 8]) -> InetRequest {
    let (family, blank) = match address.ip() {
        IpAddr::V4(_) => (AF_INET, SocketId::new_v4()),
        IpAddr::V6(_) => (AF_INET6, SocketId::new_v6()),
    };
    InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::LISTEN,
        socket_id: SocketId {
            source_port: address.port(),
            source_address: address.ip(),
            interface_id,
            cookie,
            ..blank
        },
    }
}

/// Adds the listeners in one datagram of messages to `found`; true if it says that it is the last one.
fn collect(datagram: &[u8], found: &mut Vec<Listener>) -> io::Result<bool> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut rest = datagram;
    while !rest.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest)
            .map_err(|error| invalid(format!("unexpected sock_diag answer: {error}")))?;
        match message.payload {
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) => {
                return Err(io::Error::from_raw_os_error(error.raw_code().abs()));
            }
            NetlinkPayload::Overrun(_) => {
                return Err(invalid("sock_diag answer cut short".to_owned()));
            }
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                found.extend(listener(&response));
            }
            _ => {}
        }
        // Messages are aligned to four bytes, the last one need not be.
        let length = (message.header.length as usize).next_multiple_of(4).max(4);
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(false)
}

fn listener(response: &InetResponse) -> Option<Listener> {
    let header = &response.header;
    let address = match header.socket_id.source_address {
        IpAddr::V6(ip) => SocketAddrV6::new(
            ip,
            header.socket_id.source_port,
            0,
            header.socket_id.interface_id,
        )
        .into(),
        ip => SocketAddr::new(ip, header.socket_id.source_port),
    };
    (header.state == TCP_LISTEN).then_some(Listener {
        address,
        inode: header.inode,
        uid: header.uid,
        accept_queue: header.recv_queue,
        accept_queue_limit: header.send_queue,
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn found(address: &SocketAddr) -> Option<Listener> {
        find_listener(*address).unwrap()
    }

    #[test]
    fn a_listener_is_found_in_both_families_and_with_its_queue() {
        for bind in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(bind).unwrap();
            let address = listener.local_addr().unwrap();
            let empty = found(&address).unwrap();
            assert_eq!((empty.address, empty.accept_queue), (address, 0));
            assert_eq!(empty.accept_queue_limit, 128, "std's backlog");
            assert_eq!(empty.uid, rustix::process::getuid().as_raw());
            let _waiting = [
                TcpStream::connect(address).unwrap(),
                TcpStream::connect(address).unwrap(),
            ];
            assert_eq!(found(&address).unwrap().accept_queue, 2);
            assert!(
                listeners()
                    .unwrap()
                    .iter()
                    .any(|one| one.inode == empty.inode)
            );
        }
    }

    #[test]
    fn a_wildcard_listener_is_found_by_a_concrete_address() {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let bound = listener.local_addr().unwrap();
        let concrete = SocketAddr::from(([127, 0, 0, 1], bound.port()));
        assert_eq!(found(&concrete).unwrap().address, bound);
        assert_eq!(found(&bound).unwrap().address, bound);

        let listener = TcpListener::bind("[::]:0").unwrap();
        let bound = listener.local_addr().unwrap();
        let loopback: SocketAddr = format!("[::1]:{}", bound.port()).parse().unwrap();
        let mapped: SocketAddr = format!("[::ffff:127.0.0.1]:{}", bound.port())
            .parse()
            .unwrap();
        assert_eq!(found(&loopback).unwrap().address, bound);
        assert_eq!(
            found(&mapped).unwrap().address,
            bound,
            "[::] takes IPv4 too"
        );
    }

    #[test]
    fn a_concrete_listener_is_not_at_other_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(found(&SocketAddr::from(([127, 0, 0, 2], port))), None);
        assert_eq!(found(&SocketAddr::from(([0, 0, 0, 0], port))), None);
    }

    #[test]
    fn what_does_not_listen_is_not_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(address).unwrap();
        assert_eq!(found(&client.local_addr().unwrap()), None);
        drop(listener);
        assert_eq!(found(&address), None);
    }

    #[test]
    fn one_socket_answers_many_questions() {
        let diagnostics = SocketDiagnostics::open().unwrap();
        let listeners: Vec<_> = (0..300)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        assert!(
            diagnostics.listeners().unwrap().len() >= 300,
            "more than one datagram"
        );
        for listener in &listeners {
            let address = listener.local_addr().unwrap();
            assert_eq!(
                diagnostics.find_listener(address).unwrap().unwrap().address,
                address
            );
        }
    }
}
