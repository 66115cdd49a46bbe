//! What is known of all requests of a trial, the quick ones too, counted before they are thinned out.

/// Of all requests that the generator told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The most requests that waited at once; absent where not every request is known.
    pub waiting_at_once_max: Option<u32>,
    /// Requests whose final ACK was dropped, as far as it made them slow or fail.
    pub final_acks_dropped: u64,
    /// The longest that one of them was unknown to the server.
    pub final_ack_waited_ns_max: u64,
    /// Requests whose first byte took more than twice the service time and 5 ms.
    pub delayed: u64,
    /// By how much these took longer than the service, together.
    pub delayed_ns: u64,
    /// Of these, mostly by the accept queue, as observed.
    pub delayed_by_accept_queue: u64,
    /// Of these, mostly by the server that had accepted them, as observed.
    pub delayed_by_service: u64,
    /// Requests whose reply timed out before its first byte.
    pub timed_out: Judged,
    /// Requests that were reset before the first byte of their reply.
    pub reset: Judged,
}

/// Failures of one kind that were looked into one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// All of them.
    pub seen: u64,
    /// Of these, explained by the kernel's account: the server's program never had the connection.
    pub explained: u64,
}

impl Judged {
    /// Adds one.
    pub fn count(&mut self, is_explained: bool) {
        self.seen += 1;
        self.explained += u64::from(is_explained);
    }
}

/// What scheduling alone may add to a first byte on a busy machine without meaning anything.
const DELAY_SPARE_NS: u64 = 5_000_000;

impl Account {
    /// Whether a first byte that took so long is a delayed one.
    #[must_use]
    pub fn is_delayed(waited_ns: u64, service_time_ns: u64) -> bool {
        waited_ns
            > service_time_ns
                .saturating_mul(2)
                .saturating_add(DELAY_SPARE_NS)
    }
}
