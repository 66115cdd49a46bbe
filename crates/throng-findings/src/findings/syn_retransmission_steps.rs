//! SYN retransmission steps: connects took whole seconds, since their SYNs got no answer and were sent again, and it was not the listener's doing.

use throng_record::finding::SynRetransmissionSteps;
use throng_record::format::{plural, times};

use super::clause::{maybe, time};
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "syn-retransmission-steps",
    title: "SYN retransmission steps",
    page: include_str!("../../../../docs/findings/syn-retransmission-steps.md"),
};

impl Words for SynRetransmissionSteps {
    fn happened(&self) -> String {
        format!(
            "{} waited for a SYN to be sent again ({} in all), {}{}{}.",
            plural(self.connections.into(), "connect"),
            times(self.retransmissions),
            match self.connect_ns_max {
                0 => "and none was answered".to_owned(),
                slowest => format!("the slowest for {}", time(slowest)),
            },
            maybe(self.overflows, |overflows| format!(
                "; {} (ListenOverflows)",
                plural(overflows, "overflow")
            )),
            maybe(self.backlog, |backlog| format!(
                "; the backlog in force is {backlog}"
            ))
        )
    }

    fn cause(&self) -> &'static str {
        match self.overflows {
            Some(_) => {
                "SYNs, or their answers, were lost on the way or filtered, and not dropped at a full accept queue; the client sends a SYN again after 1 s, and then again and again."
            }
            None => {
                "SYNs were lost on the way, or dropped by a server whose accept queue was full, which cannot be seen from here; the client sends a SYN again after 1 s, and then again and again."
            }
        }
    }

    fn remedy(&self) -> String {
        match self.overflows {
            Some(_) => {
                "look for loss between the two: nstat -az, ethtool -S, a firewall that limits the rate of SYNs."
            }
            None => {
                "nstat -az TcpExtListenOverflows on the server's host tells which; then a longer backlog (with net.core.somaxconn no less), or a look for loss between the two."
            }
        }
        .to_owned()
    }

    fn gravity(&self) -> f64 {
        self.connect_ns_max as f64
    }
}
