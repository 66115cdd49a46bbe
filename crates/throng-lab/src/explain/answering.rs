//! Why a first byte was late: three stretches one after the other, and what is left.
//!
//! 1. *Unknown to the server.* The final ACK was dropped (`tcp_check_req` in net/ipv4/tcp_minisocks.c, `tcp_get_cookie_sock` in
//!    net/ipv4/syncookies.c), so that the client's data was lost with it. Only when that data, sent again, finds room does the server
//!    have a connection: at the last retransmission, or never where the data was still unacknowledged at the end. A FIN that is sent again
//!    carries no data and does not count.
//! 2. *In the accept queue.* The queue is first in, first out: when as many had been seen to leave it as waited when this connection came,
//!    it had been accepted. Some of those came after it, and some leave unseen, hence "at most"; it was accepted at the latest one
//!    service time before its first byte; and where there is no listener any more, nobody waits to be accepted.
//! 3. *At the server*, the service and whatever else came before it.
//!
//! Where the queue was not observed, the second and third cannot be told apart: beyond the service time they are not explained, however short.
//! The same holds where the samples of the queue have a gap as long as most of the wait. An empty moment shorter than the sampling
//! interval goes unseen.
//!
//! Left out on purpose: a request that was lost on the way to a server whose counters are not visible looks like a dropped final ACK, and
//! is taken for one.

use throng_record::connections::SLOW_FIRST_BYTE_SPARE_NS;
use throng_record::{Cause, ErrorKind, RequestRecord};

use super::accounts::{Accounts, FlowSeen};

/// `tcpi_last_data_sent` is read in ticks, of 10 ms at most: so much later may the retransmission have been.
const TICK_NS: u64 = 10_000_000;
/// The longest stretch without a sample of the queue that is overlooked in any wait.
const GAP_NS_MAX: u64 = 50_000_000;

/// One connected request's time from the completed connect to the first byte, or to the failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answering {
    /// All of it.
    pub(super) waited_ns: u64,
    /// How long the server did not know it; absent where nothing says so.
    pub(super) final_ack_ns: Option<u64>,
    /// At most so long in the accept queue.
    pub(super) accept_queue_ns: u64,
    /// The queue's depth when that began.
    pub(super) depth: u32,
    /// At the server.
    pub(super) service_ns: u64,
    /// Of this, the service that it was asked for.
    pub(super) service_asked_ns: u64,
    /// Nowhere that could be seen.
    pub(super) not_explained_ns: u64,
}

/// Where most of a wait was spent, the service asked for apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mostly {
    FinalAck,
    AcceptQueue,
    Service,
    NotExplained,
}

impl Answering {
    /// Splits the wait of a request that was connected at this moment of `CLOCK_MONOTONIC`; `None` where it was not connected.
    pub(super) fn of(
        request: &RequestRecord,
        connected_at_ns: u64,
        seen: &Accounts<'_>,
    ) -> Option<Self> {
        let failed_after_ns = request.duration_ns.saturating_sub(request.connect_ns?);
        let waited_ns = request.first_byte_ns.unwrap_or(failed_after_ns);
        let service_asked_ns = match (request.first_byte_ns, seen.service_time_ns) {
            (Some(_), Some(service_time_ns)) => service_time_ns.min(waited_ns),
            _ => 0,
        };
        let mut answering = Self {
            waited_ns,
            service_asked_ns,
            ..Self::default()
        };
        let unknown_ns = unknown_to_server_ns(request, waited_ns, seen);
        match unknown_ns {
            Some(unknown_ns) if seen.overflows == Some(0) => {
                answering.not_explained_ns = unknown_ns;
            }
            unknown_ns => answering.final_ack_ns = unknown_ns,
        }
        let known_after_ns = unknown_ns.unwrap_or(0);
        let rest_ns = waited_ns - known_after_ns;
        let before_service_ns = rest_ns.saturating_sub(service_asked_ns);
        let uncertain_ns = if unknown_ns.is_some() { TICK_NS } else { 0 };
        let known_at_ns = connected_at_ns.saturating_add(known_after_ns);
        answering.wait_for_accept(known_at_ns, uncertain_ns, before_service_ns, seen);
        let told_ns = answering.accept_queue_ns
            + answering.not_explained_ns
            + answering.final_ack_ns.unwrap_or(0);
        answering.service_ns = waited_ns - told_ns;
        Some(answering)
    }

    fn wait_for_accept(
        &mut self,
        from_ns: u64,
        uncertain_ns: u64,
        wait_ns_max: u64,
        seen: &Accounts<'_>,
    ) {
        let Some(queue) = seen.queue else {
            self.not_explained_ns += wait_ns_max;
            return;
        };
        let known_ns = from_ns.saturating_add(uncertain_ns);
        let latest_ns = from_ns.saturating_add(wait_ns_max);
        let left_ns = queue.left_by(known_ns).unwrap_or(u64::MAX);
        let until_ns = left_ns.min(latest_ns);
        let waited_ns = until_ns.saturating_sub(from_ns);
        // What is shorter than the samples are apart cannot be told from nothing.
        if waited_ns <= queue.interval_ns().saturating_add(uncertain_ns) {
            return;
        }
        let gap_ns = queue.longest_gap_ns(from_ns, until_ns);
        if gap_ns > GAP_NS_MAX && gap_ns.saturating_mul(2) > waited_ns {
            self.not_explained_ns += waited_ns;
        } else if let Some(depth) = queue.depth_from(known_ns).filter(|&depth| depth > 0) {
            self.accept_queue_ns = waited_ns;
            self.depth = depth;
        }
    }

    /// What took most of the excess; of equals the earlier.
    pub(super) fn mostly(&self) -> Mostly {
        let parts = [
            (Mostly::NotExplained, self.not_explained_ns),
            (
                Mostly::Service,
                self.service_ns.saturating_sub(self.service_asked_ns),
            ),
            (Mostly::AcceptQueue, self.accept_queue_ns),
            (Mostly::FinalAck, self.final_ack_ns.unwrap_or(0)),
        ];
        let longest = parts.into_iter().max_by_key(|&(_, waited_ns)| waited_ns);
        match longest {
            Some((mostly, 1..)) => mostly,
            _ if self.final_ack_ns.is_some() => Mostly::FinalAck,
            _ => Mostly::NotExplained,
        }
    }

    /// Whether the kernel's account explains a failure before the first byte: the server's program did not have the connection. Its final ACK was
    /// dropped, or, where the reply timed out, it was left in the accept queue. A reset needs more than a wait there.
    pub(super) fn explains(&self, error: ErrorKind) -> bool {
        match self.mostly() {
            Mostly::FinalAck => true,
            Mostly::AcceptQueue => error == ErrorKind::ReplyTimedOut,
            Mostly::Service | Mostly::NotExplained => false,
        }
    }

    /// The stretches in the order of time.
    pub(super) fn causes(
        &self,
        request: &RequestRecord,
        connected_at_ns: u64,
        flow: Option<&FlowSeen>,
    ) -> Vec<Cause> {
        let mut causes = Vec::new();
        if let Some(waited_ns) = self.final_ack_ns {
            causes.push(Cause::FinalAckDropped {
                data_retransmissions: request.data_retransmissions,
                syn_ack_retransmissions: flow
                    .map(|flow| sent_after(&flow.syn_acks_ns, connected_at_ns)),
                waited_ns,
            });
        }
        if self.accept_queue_ns > 0 {
            causes.push(Cause::AcceptQueue {
                waited_ns: self.accept_queue_ns,
                depth: self.depth,
            });
        }
        if self.not_explained_ns > 0 {
            causes.push(Cause::NotExplained {
                waited_ns: self.not_explained_ns,
            });
        }
        if self.service_ns > 0 {
            causes.push(Cause::Service {
                waited_ns: self.service_ns,
            });
        }
        causes
    }
}

/// How long the server's kernel had no connection for this request; `None` where nothing says that it had none.
fn unknown_to_server_ns(
    request: &RequestRecord,
    waited_ns: u64,
    seen: &Accounts<'_>,
) -> Option<u64> {
    let is_slow = waited_ns > SLOW_FIRST_BYTE_SPARE_NS;
    if request.first_byte_ns.is_none() {
        let never_known = match request.error {
            Some(ErrorKind::ReplyTimedOut) => !request.is_acknowledged,
            // At once: the RST answers the final ACK, or the data right behind it. Later: the server's kernel has given the request up.
            Some(ErrorKind::Reset) if is_slow => {
                !request.is_acknowledged && request.data_retransmissions > 0
            }
            Some(ErrorKind::Reset) => !request.is_acknowledged && seen.aborts_on_overflow,
            _ => false,
        };
        if never_known {
            return Some(waited_ns);
        }
    }
    (is_slow && request.data_retransmissions > 0)
        .then(|| request.last_data_sent_ns.unwrap_or(0).min(waited_ns))
        .filter(|&last_ns| last_ns > 0)
}

/// A client that is connected sends no SYN: each SYN-ACK from then on is one that was sent again, the first after a second.
fn sent_after(times_ns: &[u64], connected_at_ns: u64) -> u32 {
    const CLOCKS_DIFFER_NS: u64 = 50_000_000;
    let first_ns = connected_at_ns.saturating_add(CLOCKS_DIFFER_NS);
    times_ns.iter().filter(|&&at_ns| at_ns > first_ns).count() as u32
}

#[cfg(test)]
mod tests;
