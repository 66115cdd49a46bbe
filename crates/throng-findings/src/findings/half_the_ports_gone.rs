//! Half of the ports gone: connects turned slow when half of a source address's ports were taken.

use throng_record::finding::HalfThePortsGone;
use throng_record::format::exact;

use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "half-the-ports-gone",
    title: "Half the ports gone",
    page: include_str!("../../../../docs/findings/half-the-ports-gone.md"),
};

impl Words for HalfThePortsGone {
    fn happened(&self) -> String {
        format!(
            "{} connects a second until half of a source address's {} ports were taken, and {} a second from then on, up to {} connections from one address.",
            exact(self.rate_before_per_second.round() as u64),
            exact(self.ports.into()),
            exact(self.rate_after_per_second.round() as u64),
            exact(self.connections.into())
        )
    }

    fn cause(&self) -> &'static str {
        "connect(2) looks for a free port among those of one parity first; when these are taken it goes through all of them in vain, for each further connection, before it turns to the others."
    }

    fn remedy(&self) -> String {
        "more source addresses: leave --addresses kernel out, or name some with --source. A client elsewhere: bind to several addresses with IP_BIND_ADDRESS_NO_PORT, or widen net.ipv4.ip_local_port_range.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.rate_before_per_second / self.rate_after_per_second.max(1.0)
    }
}
