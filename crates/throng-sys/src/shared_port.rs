//! Several listeners on one TCP port (`SO_REUSEPORT`, socket(7)): the kernel gives each a queue of its own and chooses
//! between them by a hash of the connection's addresses and ports.
//!
//! Whoever sets the option before it binds joins every listener of the same user that has set it too, so that a server
//! that is started twice would silently share its port with itself. Here the first socket binds *without* the option,
//! which fails on a port that anybody listens on, and sets it afterwards: the kernel looks at the option of those that
//! are bound when a further one binds (`inet_csk_bind_conflict`, net/ipv4/inet_connection_sock.c).

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;

use rustix::net::sockopt;

use crate::address::Address;
use crate::socket::{ListenError, listen_error, local_address, stream_socket, to_kernel};

/// So many listening sockets on one address, and the address, in which port 0 is replaced by the kernel's choice for the
/// first. Non-blocking. Each has a queue of the length `backlog`, as [`crate::socket::listen`] says.
///
/// Closing one resets the connections that wait in its queue (unless `net.ipv4.tcp_migrate_req` is set).
///
/// # Errors
/// [`ListenError`]; the port is in use also where its other listeners would share it. Paths cannot be shared.
pub fn listen(
    address: &Address,
    backlog: u32,
    count: NonZeroUsize,
) -> Result<(Vec<OwnedFd>, Address), ListenError> {
    try_listen(address, backlog, count).map_err(|source| listen_error(address, source))
}

fn try_listen(
    address: &Address,
    backlog: u32,
    count: NonZeroUsize,
) -> io::Result<(Vec<OwnedFd>, Address)> {
    let Address::Tcp(_) = address else {
        let text = "only a TCP port can be shared by several listeners";
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    };
    let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
    let first = stream_socket(address)?;
    sockopt::set_socket_reuseaddr(&first, true)?;
    rustix::net::bind(&first, &to_kernel(address)?)?;
    sockopt::set_socket_reuseport(&first, true)?;
    // Before the others are bound: of two servers that start at the same time one fails here.
    rustix::net::listen(&first, backlog)?;
    let bound = Address::Tcp(local_address(&first)?);
    let mut sockets = vec![first];
    for _ in 1..count.get() {
        let further = stream_socket(&bound)?;
        sockopt::set_socket_reuseaddr(&further, true)?;
        sockopt::set_socket_reuseport(&further, true)?;
        rustix::net::bind(&further, &to_kernel(&bound)?)?;
        rustix::net::listen(&further, backlog)?;
        sockets.push(further);
    }
    Ok((sockets, bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::{self, Connecting};

    const THREE: NonZeroUsize = NonZeroUsize::new(3).expect("not 0");

    #[test]
    fn all_listen_on_the_port_and_each_connection_is_accepted_once() {
        for text in ["127.0.0.1:0", "[::1]:0"] {
            let (sockets, bound) = listen(&text.parse().expect("an address"), 64, THREE)
                .expect("listening on a free port");
            let ports: Vec<Address> = sockets
                .iter()
                .map(|socket| Address::Tcp(local_address(socket).expect("bound")))
                .collect();
            assert_eq!(ports, vec![bound.clone(); 3]);
            // All in one queue of three has a chance of 3^-46.
            let clients: Vec<Connecting> = (0..47)
                .map(|_| socket::start_connect(&bound, None, true).expect("connecting"))
                .collect();
            let accepted: Vec<usize> = sockets
                .iter()
                .map(|socket| std::iter::from_fn(|| socket::accept(socket).ok()).count())
                .collect();
            assert_eq!(
                accepted.iter().sum::<usize>(),
                clients.len(),
                "{accepted:?}"
            );
            assert!(
                accepted.iter().filter(|&&own| own > 0).count() > 1,
                "{accepted:?}"
            );
        }
    }

    #[test]
    fn a_taken_port_is_in_use_whoever_holds_it() {
        let any: Address = "127.0.0.1:0".parse().expect("an address");
        let (_shared, shared_port) = listen(&any, 1, THREE).expect("listening");
        let (_single, single_port) = socket::listen(&any, 1).expect("listening");
        for taken in [&shared_port, &single_port] {
            let error = listen(taken, 1, THREE).expect_err("taken");
            assert!(matches!(error, ListenError::InUse { .. }), "{error}");
        }
        let error = socket::listen(&shared_port, 1).expect_err("taken");
        assert!(matches!(error, ListenError::InUse { .. }), "{error}");
    }

    #[test]
    fn a_closed_port_is_free_again_at_once() {
        let any: Address = "127.0.0.1:0".parse().expect("an address");
        let (sockets, bound) = listen(&any, 1, THREE).expect("listening");
        drop(sockets);
        listen(&bound, 1, THREE).expect("free");
    }

    #[test]
    fn a_path_is_refused_and_not_made() {
        let path = std::env::temp_dir().join(format!("throng-shared-{}.sock", std::process::id()));
        let error = listen(&Address::Unix(path.clone()), 1, THREE).expect_err("a path");
        assert!(error.to_string().contains("only a TCP port"), "{error}");
        assert!(!path.exists());
    }
}
