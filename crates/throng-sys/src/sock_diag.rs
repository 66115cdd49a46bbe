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
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::sync::{Mutex, PoisonError};

use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use crate::kernel_file::with_context;

mod look_up;
mod owner;
mod unix;

pub use look_up::LookUp;
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
    socket: Mutex<Numbered>,
}

/// The socket, and the number of the last question: an answer that nobody has waited for is not taken for another's.
#[derive(Debug)]
struct Numbered {
    socket: Socket,
    last: u32,
}

impl From<OwnedFd> for SocketDiagnostics {
    /// A socket that was opened as [`SocketDiagnostics::open`] does, in whichever namespace.
    fn from(descriptor: OwnedFd) -> Self {
        // SAFETY: the descriptor is owned, and given up to the socket.
        let socket = unsafe { Socket::from_raw_fd(descriptor.into_raw_fd()) };
        Self::new(socket)
    }
}

impl From<SocketDiagnostics> for OwnedFd {
    fn from(diagnostics: SocketDiagnostics) -> Self {
        let numbered = diagnostics.socket.into_inner();
        let socket = numbered.unwrap_or_else(PoisonError::into_inner).socket;
        // SAFETY: the socket gives its descriptor up to us.
        unsafe { OwnedFd::from_raw_fd(socket.into_raw_fd()) }
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
        Ok(Self::new(socket))
    }

    fn new(socket: Socket) -> Self {
        let last = 0;
        Self {
            socket: Mutex::new(Numbered { socket, last }),
        }
    }

    /// The listener that a connection to `address` would reach: one bound to it, or to the wildcard address of
    /// its family, or to `[::]` for an IPv4 address where that takes both. `None` if there is none. Of several
    /// that share a port (`SO_REUSEPORT`) it is one, arbitrarily; see [`SocketDiagnostics::listeners`].
    ///
    /// # Errors
    /// `Unsupported` if the kernel cannot look TCP sockets up (no `tcp_diag`); what netlink answers otherwise.
    pub fn find_listener(&self, address: SocketAddr) -> io::Result<Option<Listener>> {
        match self.repeat(&mut LookUp::exact(address)) {
            // The kernel has one answer for "no such socket" and "no such look-up"; a dump tells them apart.
            Ok([]) => self.listeners().map(|_| None),
            Ok(found) => Ok(found.first().copied()),
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
        self.listeners_on(0)
    }

    /// All TCP listeners on `port`, of both families: with `SO_REUSEPORT` there are several at one address. The kernel goes
    /// through listeners only, and answers with those of the port. Port 0 stands for all.
    ///
    /// # Errors
    /// As [`SocketDiagnostics::listeners`].
    pub fn listeners_on(&self, port: u16) -> io::Result<Vec<Listener>> {
        let mut all = Vec::new();
        for any in [
            IpAddr::from(Ipv4Addr::UNSPECIFIED),
            Ipv6Addr::UNSPECIFIED.into(),
        ] {
            match self.repeat(&mut LookUp::on(SocketAddr::new(any, port))) {
                Ok(found) => all.extend_from_slice(found),
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

    /// Asks again what `look_up` asks: the listeners at this moment, none if there is none.
    ///
    /// # Errors
    /// What netlink answers.
    pub fn repeat<'a>(&self, look_up: &'a mut LookUp) -> io::Result<&'a [Listener]> {
        // Another thread's question must not come between this one and its answer.
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        look_up.ask(&mut socket)
    }
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
    fn a_group_on_one_port_is_listed_alone() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let any = any.parse().unwrap();
            let three = std::num::NonZeroUsize::new(3).unwrap();
            let (_sockets, bound) = crate::shared_port::listen(&any, 64, three).unwrap();
            let crate::address::Address::Tcp(address) = bound else {
                panic!("TCP")
            };
            let diagnostics = SocketDiagnostics::open().unwrap();
            let all = diagnostics.listeners_on(address.port()).unwrap();
            let of_group = all.iter().filter(|listener| listener.address == address);
            assert_eq!(of_group.count(), 3);
            assert!(all.iter().all(|one| one.address.port() == address.port()));
            let _waiting = [(); 20].map(|()| TcpStream::connect(address).unwrap());
            let mut look_up = LookUp::on(address);
            let waiting = |listeners: &[Listener]| -> u32 {
                listeners.iter().map(|listener| listener.accept_queue).sum()
            };
            for _ in 0..3 {
                let found = diagnostics.repeat(&mut look_up).unwrap();
                assert_eq!((found.len(), waiting(found)), (3, 20));
            }
        }
    }

    #[test]
    fn a_question_is_repeated_and_answers_are_not_mixed_up_between_threads() {
        let diagnostics = SocketDiagnostics::open().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                    let address = listener.local_addr().unwrap();
                    let mut look_up = LookUp::exact(address);
                    for _ in 0..500 {
                        let found = diagnostics.repeat(&mut look_up).unwrap();
                        assert_eq!(found.len(), 1);
                        assert_eq!(found[0].address, address);
                    }
                    drop(listener);
                    assert_eq!(diagnostics.repeat(&mut look_up).unwrap(), []);
                });
            }
        });
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
