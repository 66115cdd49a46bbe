//! Where a server listens or a fleet connects: a TCP address or the path of a Unix stream socket.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;

/// A stream socket's address. Written `127.0.0.1:80`, `[::1]:80`, `tcp://HOST:PORT` or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// A Unix stream socket bound to a path.
    Unix(PathBuf),
}

/// Why a text is no address.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// No port, or no address at all.
    #[error("'{0}' is no address: write HOST:PORT, [IPV6]:PORT, tcp://HOST:PORT or unix:PATH")]
    Malformed(String),
    /// The host's name has no address.
    #[error(
        "the host of '{text}' cannot be resolved ({source}): check the name, or give its numeric address"
    )]
    Unresolved {
        /// As written.
        text: String,
        /// The resolver's error.
        source: std::io::Error,
    },
    /// `unix:` without a path.
    #[error("'unix:' needs a path, for example unix:/tmp/echo.sock")]
    NoPath,
}

impl Address {
    /// The loopback address of a family with the port left to the kernel.
    #[must_use]
    pub fn any_loopback_port(ip: IpAddr) -> Self {
        Self::Tcp(SocketAddr::new(ip, 0))
    }

    /// Whether it is TCP to 127.0.0.0/8, where every address of the block can be a source.
    #[must_use]
    pub fn is_ipv4_loopback(&self) -> bool {
        matches!(self, Self::Tcp(address) if matches!(address.ip(), IpAddr::V4(ip) if ip.is_loopback()))
    }

    /// The address a client connects to: where a listener is bound to every interface, its loopback.
    #[must_use]
    pub fn connectable(&self) -> Self {
        match self {
            Self::Tcp(address) if address.ip().is_unspecified() => {
                let loopback: IpAddr = match address {
                    SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                    SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
                };
                Self::Tcp(SocketAddr::new(loopback, address.port()))
            }
            other => other.clone(),
        }
    }
}

impl FromStr for Address {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() {
                Err(ParseError::NoPath)
            } else {
                Ok(Self::Unix(path.into()))
            };
        }
        let bare = text.strip_prefix("tcp://").unwrap_or(text);
        if let Ok(address) = bare.parse() {
            return Ok(Self::Tcp(address));
        }
        let named = bare
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
        if !named || bare.contains('/') {
            return Err(ParseError::Malformed(text.to_owned()));
        }
        let resolved = bare
            .to_socket_addrs()
            .map_err(|source| ParseError::Unresolved {
                text: text.to_owned(),
                source,
            })?;
        prefer_ipv4(resolved)
            .map(Self::Tcp)
            .ok_or_else(|| ParseError::Malformed(text.to_owned()))
    }
}

/// IPv4 first: `localhost` often resolves to `::1` first while the server listens on 127.0.0.1 only.
fn prefer_ipv4(addresses: impl Iterator<Item = SocketAddr>) -> Option<SocketAddr> {
    addresses.min_by_key(SocketAddr::is_ipv6)
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(formatter, "tcp://{address}"),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_back() {
        for (text, written) in [
            ("127.0.0.1:80", "tcp://127.0.0.1:80"),
            ("tcp://[::1]:8080", "tcp://[::1]:8080"),
            ("unix:/tmp/a.sock", "unix:/tmp/a.sock"),
            ("unix:///tmp/a.sock", "unix:/tmp/a.sock"),
            ("tcp://localhost:99", "tcp://127.0.0.1:99"),
        ] {
            assert_eq!(text.parse::<Address>().expect(text).to_string(), written);
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_forms() {
        for text in [
            "",
            "localhost",
            "1.2.3.4",
            "tcp://",
            "tcp://:80",
            "http://a:80/x",
            "127.0.0.1:70000",
        ] {
            let error = text.parse::<Address>().expect_err(text).to_string();
            assert!(error.contains("HOST:PORT"), "{text}: {error}");
        }
        assert!("unix:".parse::<Address>().is_err());
    }

    #[test]
    fn a_wildcard_listener_is_reached_over_loopback() {
        let wildcard: Address = "0.0.0.0:80".parse().expect("numeric");
        assert_eq!(wildcard.connectable().to_string(), "tcp://127.0.0.1:80");
    }
}
