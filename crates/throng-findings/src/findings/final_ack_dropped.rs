//! Final ACKs dropped: clients were connected while the server did not have their connections, and learned of nothing.

use throng_record::finding::FinalAckDropped;
use throng_record::format::{plural, times};

use super::clause::{maybe, time};
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "final-ack-dropped",
    title: "Final ACK dropped",
    page: include_str!("../../../../docs/findings/final-ack-dropped.md"),
};

impl Words for FinalAckDropped {
    fn happened(&self) -> String {
        format!(
            "{} that clients took for established and the server did not have, for up to {}{}{}.",
            plural(self.connections, "connection"),
            time(self.waited_ns_max),
            maybe(self.data_retransmissions, |again| format!(
                "; data sent again {}",
                times(again)
            )),
            maybe(self.syn_ack_retransmissions, |again| format!(
                ", SYN-ACKs {}",
                times(again)
            ))
        )
    }

    fn cause(&self) -> &'static str {
        "the last ACK of the handshake found the accept queue full and was dropped; such a connection is completed only when the client sends its data again, after 200 ms and then after doubling waits, or the server its SYN-ACK, which it cannot for a cookie. The time is in the reply, not in the connect."
    }

    fn remedy(&self) -> String {
        "whatever ends the overflow: a longer backlog, or accepting sooner.".to_owned()
    }

    fn gravity(&self) -> f64 {
        self.waited_ns_max as f64
    }
}
