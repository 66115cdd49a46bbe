//! Where a launched server is told to listen.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};

use throng_record::plan::ListenFamily;
use throng_sys::address::Address;
use throng_sys::namespace::Network;

use super::LaunchError;

/// An address for a server, and what must live as long as it does.
pub(super) struct Place {
    pub(super) address: Address,
    pub(super) folder: Option<tempfile::TempDir>,
}

/// A port for a command in a private network, where all are free: above the privileged ones, below those that the kernel usually
/// chooses for clients.
const PRIVATE_PORT: u16 = 7000;

/// Chooses one of the family, on `named` or on loopback, at the place of this number among those of the target. A built-in server asks the kernel for a port itself (`:0`) and tells; a command has to be
/// told a number, so a port is chosen that is free at this moment. Between the choice and the server's own bind somebody
/// else may take it, which the look-up of the listener's owner notices.
pub(super) fn choose(
    (family, named): (ListenFamily, Option<IpAddr>),
    number: u32,
    needs_port: bool,
    network: &Network,
) -> Result<Place, LaunchError> {
    let ip: IpAddr = match family {
        ListenFamily::Ipv4 => named.unwrap_or(Ipv4Addr::LOCALHOST.into()),
        ListenFamily::Ipv6 => named.unwrap_or(Ipv6Addr::LOCALHOST.into()),
        ListenFamily::Unix => {
            let folder = tempfile::Builder::new()
                .prefix("throng-")
                .tempdir()
                .map_err(LaunchError::Folder)?;
            let address = Address::Unix(folder.path().join("listener.sock"));
            return Ok(Place {
                address,
                folder: Some(folder),
            });
        }
    };
    let address = if needs_port && network.is_private() {
        // Refused beforehand where there are so many that they would not fit.
        Address::Tcp((ip, PRIVATE_PORT + number as u16).into())
    } else if needs_port {
        let free = TcpListener::bind((ip, 0)).and_then(|listener| listener.local_addr());
        Address::Tcp(free.map_err(|source| LaunchError::NoPort { ip, source })?)
    } else {
        Address::Tcp((ip, 0).into())
    };
    Ok(Place {
        address,
        folder: None,
    })
}
