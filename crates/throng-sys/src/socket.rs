//! Stream sockets: listening, accepting, connecting without blocking, and the options that experiments turn.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketAddrUnix, SocketFlags,
    SocketType, sockopt,
};

use crate::address::Address;

/// Why a server could not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is taken.
    #[error(
        "cannot listen on {address}: it is already in use; stop the program that holds it (`ss -ltnp`), or let the kernel choose with port 0"
    )]
    InUse {
        /// Where.
        address: Address,
    },
    /// The path of a Unix socket already exists.
    #[error(
        "cannot listen on {address}: the path already exists; remove it if no server uses it any more, or choose another"
    )]
    PathExists {
        /// Where.
        address: Address,
    },
    /// Anything else.
    #[error("cannot listen on {address}: {source}")]
    Other {
        /// Where.
        address: Address,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// A listening socket and the address it got, in which port 0 is replaced by the kernel's choice. Non-blocking.
///
/// `backlog` is the length asked for; the kernel clamps it to `net.core.somaxconn` and its queue holds one more.
///
/// # Errors
/// [`ListenError`], which names the address and the next step.
pub fn listen(address: &Address, backlog: u32) -> Result<(OwnedFd, Address), ListenError> {
    try_listen(address, backlog).map_err(|source| listen_error(address, source))
}

/// What the kernel's answer means for a listener.
pub(crate) fn listen_error(address: &Address, source: io::Error) -> ListenError {
    let address = address.clone();
    match (source.kind(), &address) {
        (io::ErrorKind::AddrInUse, Address::Unix(_)) => ListenError::PathExists { address },
        (io::ErrorKind::AddrInUse, Address::Tcp(_)) => ListenError::InUse { address },
        _ => ListenError::Other { address, source },
    }
}

fn try_listen(address: &Address, backlog: u32) -> io::Result<(OwnedFd, Address)> {
    let socket = stream_socket(address)?;
    if let Address::Tcp(_) = address {
        sockopt::set_socket_reuseaddr(&socket, true)?;
    }
    rustix::net::bind(&socket, &to_kernel(address)?)?;
    rustix::net::listen(&socket, i32::try_from(backlog).unwrap_or(i32::MAX))?;
    let bound = match address {
        Address::Unix(path) => Address::Unix(path.clone()),
        Address::Tcp(_) => Address::Tcp(local_address(&socket)?),
    };
    Ok((socket, bound))
}

pub(crate) fn stream_socket(address: &Address) -> io::Result<OwnedFd> {
    let family = match address {
        Address::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
        Address::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
        Address::Unix(_) => AddressFamily::UNIX,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(rustix::net::socket_with(
        family,
        SocketType::STREAM,
        flags,
        None,
    )?)
}

pub(crate) fn to_kernel(address: &Address) -> io::Result<SocketAddrAny> {
    Ok(match address {
        Address::Tcp(address) => SocketAddrAny::from(*address),
        Address::Unix(path) => unix_address(path)?.into(),
    })
}

/// A Unix socket's path has at most 107 bytes (`sun_path`, unix(7)).
fn unix_address(path: &Path) -> io::Result<SocketAddrUnix> {
    SocketAddrUnix::new(path).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "the path {} is too long for a Unix socket (107 bytes at most)",
                path.display()
            ),
        )
    })
}

/// The address a TCP socket is bound to.
///
/// # Errors
/// As `getsockname(2)`, and for a socket that is not TCP.
pub fn local_address(socket: impl AsFd) -> io::Result<SocketAddr> {
    Ok(SocketAddr::try_from(rustix::net::getsockname(socket)?)?)
}

/// Accepts one connection, non-blocking and closed on exec.
///
/// # Errors
/// `WouldBlock` where none waits; EMFILE where the table is full; ECONNABORTED where the client gave up.
pub fn accept(listener: impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::net::accept_with(
        listener,
        SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
    )?)
}

/// Accepts one connection whose reads and writes block.
///
/// # Errors
/// As [`accept`].
pub fn accept_blocking(listener: impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::net::accept_with(listener, SocketFlags::CLOEXEC)?)
}

/// Makes accepting block where no connection waits, for every process and thread that has this socket.
///
/// # Errors
/// As `ioctl(2)`.
pub fn set_blocking(socket: impl AsFd) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(socket, false)?)
}

/// Ends a listener for every process and thread that has it: whoever is blocked in accept gets EINVAL, at the latest when
/// no connection waits any more, and nobody connects any more. (For a listener `shutdown(2)` is documented nowhere; see
/// inet_shutdown in net/ipv4/af_inet.c and unix_shutdown in net/unix/af_unix.c. TCP drops those who wait, a Unix socket
/// still hands them out.)
///
/// # Errors
/// ENOTCONN where that has been done before.
pub fn end_listening(listener: impl AsFd) -> io::Result<()> {
    Ok(rustix::net::shutdown(listener, Shutdown::Read)?)
}

/// How far a non-blocking connect got at once.
#[derive(Debug)]
pub enum Connecting {
    /// Established. On loopback the whole handshake usually happens within the call.
    Done(OwnedFd),
    /// Under way: writable when it ends, then [`connect_result`] tells how.
    UnderWay(OwnedFd),
    /// A Unix listener's queue is full: there is no event for its end, try again.
    QueueFull,
}

/// Begins to connect without blocking, from `source` where given, its port chosen at connect time
/// (`IP_BIND_ADDRESS_NO_PORT`, ip(7)) so that ports are shared between destinations.
///
/// # Errors
/// As `socket(2)`, `bind(2)` and `connect(2)`.
pub fn start_connect(
    address: &Address,
    source: Option<IpAddr>,
    nodelay: bool,
) -> io::Result<Connecting> {
    let socket = stream_socket(address)?;
    if let Address::Tcp(_) = address {
        if let Some(source) = source {
            set_bind_address_no_port(&socket)?;
            rustix::net::bind(&socket, &SocketAddr::new(source, 0))?;
        }
        if nodelay {
            set_nodelay(&socket)?;
        }
    }
    match rustix::net::connect(&socket, &to_kernel(address)?) {
        Ok(()) => Ok(Connecting::Done(socket)),
        Err(rustix::io::Errno::INPROGRESS) => Ok(Connecting::UnderWay(socket)),
        Err(rustix::io::Errno::AGAIN) if matches!(address, Address::Unix(_)) => {
            Ok(Connecting::QueueFull)
        }
        Err(error) => Err(error.into()),
    }
}

/// Leaves the choice of the port to connect(), when the destination is known: no crate wraps this option.
fn set_bind_address_no_port(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = size_of_val(&on) as libc::socklen_t;
    // SAFETY: the pointer and the length are of `on`, which outlives the call; the descriptor is open.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            length,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// How a connect that was under way has ended.
///
/// # Errors
/// The connect's error, or that of the look-up.
pub fn connect_result(socket: impl AsFd) -> io::Result<()> {
    match sockopt::socket_error(socket)? {
        Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Sends small segments at once instead of waiting for acknowledgements (Nagle's algorithm off).
///
/// # Errors
/// As `setsockopt(2)`.
pub fn set_nodelay(socket: impl AsFd) -> io::Result<()> {
    Ok(sockopt::set_tcp_nodelay(socket, true)?)
}

/// Reads what is there; 0 is the end of input.
///
/// # Errors
/// `WouldBlock` where nothing is there; ECONNRESET after a reset.
#[inline]
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, buffer, RecvFlags::empty())?.0)
}

/// Writes as much as the send buffer takes. A closed peer is an error and no signal.
///
/// # Errors
/// `WouldBlock` where nothing fits; EPIPE or ECONNRESET where the peer is gone.
#[inline]
pub fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)?)
}

/// Writes as much as the send buffer takes at once, also where the socket's writes block.
///
/// # Errors
/// As [`send`].
pub fn send_without_waiting(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Ok(rustix::net::send(socket, bytes, flags)?)
}

/// Two connected Unix sockets that keep the borders of what is sent: each send is one packet, and each receive brings one, cut
/// where the buffer is too small. The first does not block, the second does. For a parent and its child.
///
/// # Errors
/// EMFILE where the table has no room for two.
pub fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (near, far) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?;
    rustix::io::ioctl_fionbio(&near, true)?;
    Ok((near, far))
}

/// Ends our output: the peer reads the end of input after what was sent (half-close).
///
/// # Errors
/// ENOTCONN where the connection is already gone.
pub fn end_output(socket: impl AsFd) -> io::Result<()> {
    Ok(rustix::net::shutdown(socket, Shutdown::Write)?)
}

/// Ends our input: reads return what has already come, then the end. A blocked read wakes up.
///
/// # Errors
/// ENOTCONN where the connection is already gone.
pub fn end_input(socket: impl AsFd) -> io::Result<()> {
    Ok(rustix::net::shutdown(socket, Shutdown::Read)?)
}

/// Makes the close that follows a reset (`SO_LINGER` of zero): nothing stays in TIME_WAIT.
///
/// # Errors
/// As `setsockopt(2)`.
pub fn reset_on_close(socket: impl AsFd) -> io::Result<()> {
    Ok(sockopt::set_socket_linger(
        socket,
        Some(std::time::Duration::ZERO),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_for(result: impl Fn() -> io::Result<OwnedFd>) -> OwnedFd {
        for _ in 0..1000 {
            match result() {
                Ok(fd) => return fd,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                Err(error) => panic!("{error}"),
            }
        }
        panic!("nothing to accept within a second");
    }

    #[test]
    fn bytes_cross_each_family() {
        let directory = std::env::temp_dir().join(format!("throng-socket-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let unix = format!("unix:{}/a.sock", directory.display());
        for text in ["127.0.0.1:0", "[::1]:0", unix.as_str()] {
            let (listener, bound) =
                listen(&text.parse().expect("an address"), 16).expect("listening");
            let (Connecting::Done(client) | Connecting::UnderWay(client)) =
                start_connect(&bound, None, true).expect("connecting")
            else {
                panic!("the queue is empty");
            };
            let server = wait_for(|| accept(&listener));
            connect_result(&client).expect("connected");
            assert_eq!(send(&client, b"hello").expect("sent"), 5);
            end_output(&client).expect("half-closed");
            let mut buffer = [0; 16];
            assert_eq!(receive(&server, &mut buffer).expect("received"), 5);
            assert_eq!(receive(&server, &mut buffer).expect("end of input"), 0);
        }
        std::fs::remove_dir_all(&directory).expect("removed");
    }

    #[test]
    fn packets_keep_their_borders_and_only_one_end_blocks() {
        let (near, far) = packet_pair().expect("a pair");
        let mut buffer = [0; 16];
        let error = receive(&near, &mut buffer).expect_err("nothing there");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(send(&far, b"one").expect("sent"), 3);
        assert_eq!(send(&far, b"three").expect("sent"), 5);
        end_output(&far).expect("ended");
        let lengths = [(); 3].map(|()| receive(&near, &mut buffer).expect("received"));
        assert_eq!(lengths, [3, 5, 0]);
        std::thread::scope(|scope| {
            let blocked = scope.spawn(|| receive(&far, &mut [0; 16]));
            send(&near, b"seven").expect("sent");
            assert_eq!(blocked.join().expect("no panic").expect("received"), 5);
        });
    }

    #[test]
    fn a_source_address_is_honoured() {
        let (listener, bound) =
            listen(&"127.0.0.1:0".parse().expect("an address"), 16).expect("listening");
        let source: IpAddr = "127.9.8.7".parse().expect("an address");
        let (Connecting::Done(client) | Connecting::UnderWay(client)) =
            start_connect(&bound, Some(source), false).expect("connecting")
        else {
            panic!("TCP has no queue-full");
        };
        let _server = wait_for(|| accept(&listener));
        assert_eq!(local_address(&client).expect("bound").ip(), source);
    }

    #[test]
    fn a_taken_port_is_said_to_be_in_use() {
        let (_listener, bound) =
            listen(&"127.0.0.1:0".parse().expect("an address"), 16).expect("listening");
        let error = listen(&bound, 16).expect_err("taken");
        assert!(matches!(error, ListenError::InUse { .. }), "{error}");
    }

    #[test]
    fn ending_a_listener_wakes_every_blocked_accept() {
        let path = std::env::temp_dir().join(format!("throng-wake-{}.sock", std::process::id()));
        for address in [
            "127.0.0.1:0".parse().expect("an address"),
            Address::Unix(path.clone()),
        ] {
            let (listener, bound) = listen(&address, 16).expect("listening");
            set_blocking(&listener).expect("set");
            std::thread::scope(|scope| {
                let blocked = [(); 3].map(|()| scope.spawn(|| accept_blocking(&listener)));
                // Before it blocks or while it does: both must end.
                std::thread::sleep(std::time::Duration::from_millis(20));
                end_listening(&listener).expect("ended");
                for accept in blocked {
                    let error = accept.join().expect("no panic").expect_err("ended");
                    assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{address}");
                }
            });
            let connected = match &bound {
                Address::Tcp(address) => std::net::TcpStream::connect(address).map(drop),
                Address::Unix(path) => std::os::unix::net::UnixStream::connect(path).map(drop),
            };
            let error = connected.expect_err("nobody listens");
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        }
        std::fs::remove_file(path).expect("removed");
    }

    #[test]
    fn an_overlong_path_is_refused_in_words() {
        let address = Address::Unix(
            "/tmp"
                .parse::<std::path::PathBuf>()
                .expect("a path")
                .join("x".repeat(200)),
        );
        let error = listen(&address, 1).expect_err("too long").to_string();
        assert!(error.contains("107 bytes"), "{error}");
    }
}
