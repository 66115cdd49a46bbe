//! Accept-queue overflow: connections came that the queue had no room for, and their SYNs or final ACKs were dropped.

use throng_record::finding::AcceptQueueOverflow;
use throng_record::format::{exact, plural, times};

use super::clause::{maybe, time};
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "accept-queue-overflow",
    title: "Accept-queue overflow",
    page: include_str!("../../../../docs/findings/accept-queue-overflow.md"),
};

impl Words for AcceptQueueOverflow {
    fn happened(&self) -> String {
        format!(
            "{}, {} (ListenOverflows, ListenDrops){}{}; {} by sending the SYN again{}, {}.",
            plural(self.overflows, "overflow"),
            plural(self.drops, "drop"),
            maybe(self.backlog, |backlog| format!(
                "; a backlog of {backlog} holds {}",
                u64::from(backlog) + 1
            )),
            maybe(self.depth_max, |depth| format!(
                "; {depth} were seen waiting"
            )),
            match self.connects_delayed {
                0 => "no measured connect was delayed".to_owned(),
                some => format!("{} delayed", plural(some, "connect")),
            },
            maybe(self.syn_retransmissions, |again| format!(
                " ({} in all)",
                times(again)
            )),
            match self.connect_ns_max {
                0 => "and no connect completed".to_owned(),
                slowest => format!("the slowest that completed took {}", time(slowest)),
            }
        )
    }

    fn cause(&self) -> &'static str {
        "connections came faster than they were accepted, and Linux drops a SYN that finds the accept queue full; the client sends it again after 1 s, and then again and again."
    }

    fn remedy(&self) -> String {
        match (self.backlog_sufficient, self.syn_retransmissions) {
            (Some(enough), _) => format!(
                "a backlog of {} would have held all that waited in this run (with net.core.somaxconn no less); or accept sooner.",
                exact(enough.into())
            ),
            (None, Some(_)) => {
                "a longer backlog (with net.core.somaxconn no less), accepting sooner, or fewer connects at once (--connect-concurrency, --connect-rate).".to_owned()
            }
            (None, None) => {
                "a longer backlog (with net.core.somaxconn no less); or accept sooner.".to_owned()
            }
        }
    }

    fn gravity(&self) -> f64 {
        self.overflows as f64
    }
}
