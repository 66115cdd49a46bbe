//! Starved connections: a few were answered never or seldom, while the others were.

use throng_record::finding::StarvedConnections;
use throng_record::format::{exact, plural};

use super::clause::time;
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "starved-connections",
    title: "Starved connections",
    page: include_str!("../../../../docs/findings/starved-connections.md"),
};

impl Words for StarvedConnections {
    fn happened(&self) -> String {
        let connections = plural(self.connections.into(), "connection");
        let seldom = self.seldom_served.map(|seldom| {
            format!(
                "{} of {connections} had at most a fifth of the median replies (fewest {}, median {})",
                exact(seldom.into()),
                exact(self.replies_min.unwrap_or(0).into()),
                exact(self.replies_median.unwrap_or(0).into())
            )
        });
        let waiting = self.waiting.map(|waiting| {
            format!(
                "{} of {connections} waited at the end of the window, for up to {}, while others were answered; the slowest reply took {}",
                exact(waiting.into()),
                time(self.waited_ns_max.unwrap_or(0)),
                time(self.reply_ns_max)
            )
        });
        let clauses: Vec<String> = seldom.into_iter().chain(waiting).collect();
        format!("{}.", clauses.join("; "))
    }

    fn cause(&self) -> &'static str {
        "the server does not come to these connections: a readiness event that was missed (edge-triggered epoll, not read to the end), a worker that hangs, a loop that begins with the same connections again, a request that was lost."
    }

    fn remedy(&self) -> String {
        "ss -tnp on the server's host shows which connections have bytes in Recv-Q that nobody reads; then look how the server chooses whom it serves next.".to_owned()
    }

    fn gravity(&self) -> f64 {
        let starved = self.seldom_served.max(self.waiting).unwrap_or(0);
        f64::from(starved) / f64::from(self.connections.max(1))
    }
}
