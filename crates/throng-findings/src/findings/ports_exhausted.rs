//! Ports exhausted: no local port was left for a further connection to the same destination, and `connect(2)` said `EADDRNOTAVAIL`.

use throng_record::finding::PortsExhausted;
use throng_record::format::{exact, plural};

use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "ports-exhausted",
    title: "Ports exhausted",
    page: include_str!("../../../../docs/findings/ports-exhausted.md"),
};

impl Words for PortsExhausted {
    fn happened(&self) -> String {
        let addresses = match self.source_addresses {
            1 => "one source address".to_owned(),
            more => format!("{} source addresses", exact(more.into())),
        };
        let ports = plural(self.ports.into(), "port");
        match self.open {
            0 => format!(
                "{} failed for want of a port: {addresses} with {ports} each, and connections that have ended keep theirs (TIME_WAIT).",
                plural(self.failed, "connect")
            ),
            open => format!(
                "{} open from {addresses} with {ports} each; {} failed or were not begun for want of a port.",
                plural(open.into(), "connection"),
                exact(self.failed)
            ),
        }
    }

    fn cause(&self) -> &'static str {
        "connections to one destination differ only in their local address and port, so that each source address has as many as there are ports in net.ipv4.ip_local_port_range."
    }

    fn remedy(&self) -> String {
        "more source addresses: leave --addresses kernel out, or name some with --source; or a wider net.ipv4.ip_local_port_range.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.failed as f64
    }
}
