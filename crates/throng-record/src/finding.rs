//! Findings: what happened, with the evidence as fields. Their causes and remedies are told by the reports, and at length by a page each
//! in `docs/findings/`.

use serde::{Deserialize, Serialize};

/// Something that explains a trial's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// SYNs were dropped since the accept queue was full.
    AcceptQueueOverflow {
        /// `ListenOverflows`: connections and final ACKs that found the queue full.
        overflows: u64,
        /// `ListenDrops`, which counts those and drops for other reasons.
        drops: u64,
        /// Connects that took longer by retransmitting their SYN.
        connects_delayed: u64,
        /// SYNs sent again by kept connections, by their `TCP_INFO`; absent where each message had a connection of its own, which tells it
        /// itself.
        syn_retransmissions: Option<u64>,
        /// The slowest completed connect.
        connect_ns_max: u64,
        /// The backlog in force; absent where it could not be seen.
        backlog: Option<u32>,
        /// The greatest depth seen.
        depth_max: Option<u32>,
        /// The smallest backlog that would have held every connection that waited at once in this trial; absent where too little is known of it.
        backlog_sufficient: Option<u32>,
    },
    /// The kernel gave the listener a shorter queue than was asked for.
    BacklogClamped {
        /// What the server was asked for.
        asked: u32,
        /// What is in force.
        in_force: u32,
        /// `net.core.somaxconn`; absent where it could not be read.
        somaxconn: Option<u32>,
    },
    /// Clients were connected while the server did not have their connections.
    FinalAckDropped {
        /// Connections that only their own data's retransmission completed, or that never were.
        connections: u64,
        /// Retransmissions of data by all clients; absent of kept connections, which are not asked for it.
        data_retransmissions: Option<u64>,
        /// Retransmissions of SYN-ACKs; absent where the handshakes were not observed.
        syn_ack_retransmissions: Option<u64>,
        /// The longest time from the completed connect to the last retransmission; of kept connections, the reply timeout.
        waited_ns_max: u64,
    },
    /// The request queue was full too, and the kernel kept no state of new connections.
    SynCookies {
        /// `SyncookiesSent`.
        sent: u64,
        /// `SyncookiesRecv`: segments that came back with a valid cookie and found no connection yet. An ACK that finds the accept queue full counts, and
        /// each retransmission of the data behind it.
        received: u64,
        /// `SyncookiesFailed`.
        failed: u64,
        /// `TCPReqQFullDoCookies`.
        request_queue_full: u64,
    },
    /// Connects were answered by RST.
    ConnectionsRefused {
        /// How many.
        refused: u64,
        /// Connects begun, warm-up included.
        begun: u64,
        /// Of these, connected.
        connected: u64,
        /// Whether the server is known to have ended during the trial.
        server_died: bool,
        /// Whether a listener was there when the trial began; absent where it could not be looked up.
        was_listening: Option<bool>,
    },
    /// Accepted requests waited for each other in a server that was not busy.
    HeadOfLineBlocking {
        /// Requests whose wait was mostly inside the server.
        requests: u64,
        /// Requests in all.
        of_requests: u64,
        /// The service time asked for.
        service_time_ns: u64,
        /// The median time from the completed connect to the first byte.
        first_byte_ns_median: u64,
        /// The server's CPU time ÷ the cores that it can use at once, 0 to 1.
        server_busy: f64,
    },
    /// Connections waited in the accept queue for a server that was not busy.
    TooFewAcceptors {
        /// Requests whose wait was mostly in the accept queue.
        requests: u64,
        /// Requests in all.
        of_requests: u64,
        /// Connections that the server serves at once, if it said so.
        serves_at_once: Option<u32>,
        /// The most clients that asked at once.
        clients: u32,
        /// The mean depth of the accept queue.
        depth_mean: f64,
        /// The server's CPU time ÷ the cores that it can use at once, 0 to 1.
        server_busy: f64,
    },
    /// Replies in pieces waited for the peer's delayed ACK.
    DelayedAck {
        /// Share of the replies whose last piece came about 40 ms after the first, 0 to 1.
        share_of_replies: f64,
        /// The median time between the two, of those.
        gap_ns_median: u64,
        /// `DelayedACKs` of the network during the trial.
        delayed_acks: u64,
        /// Replies.
        replies: u64,
    },
    /// The whole server stopped answering for a stretch, and went on.
    Stalls {
        /// How often.
        stalls: u32,
        /// The median length. What the generator missed is subtracted, here and below.
        stall_ns_median: u64,
        /// The longest.
        stall_ns_max: u64,
        /// From the begin of one to that of the next, of those at least half as long as the longest; absent where that is not always the same, to 5 %, and of
        /// fewer than three.
        period_ns: Option<u64>,
        /// All together ÷ the window.
        share_of_window: f64,
        /// Connections that waited at the end of one, at most.
        waiting_max: u32,
        /// Half of the replies took no longer than this.
        latency_ns_median: u64,
    },
    /// A few connections were answered never or seldom, while the others were.
    StarvedConnections {
        /// Connections in all.
        connections: u32,
        /// Closed loop: connections that had at most a fifth of the median replies; absent where these tell of none.
        seldom_served: Option<u32>,
        /// Replies to the connection that had fewest; likewise.
        replies_min: Option<u32>,
        /// Half of the connections had no more than this; likewise.
        replies_median: Option<u32>,
        /// Connections that waited, at the end of the window, for longer than any reply took; absent where the longest wait was less than five times as
        /// long.
        waiting: Option<u32>,
        /// The longest wait; likewise.
        waited_ns_max: Option<u64>,
        /// The slowest reply of the window.
        reply_ns_max: u64,
    },
    /// The generator, not the server, bounded the throughput.
    GeneratorBound {
        /// The generator's CPU time ÷ its cores, 0 to 1.
        generator_busy: f64,
        /// The server's, 0 to 1.
        server_busy: f64,
    },
    /// Of several listeners on one port some had a queue while others were idle.
    UnbalancedListeners {
        /// How many share the port.
        listeners: u32,
        /// The greatest depth of the one with the longest queue.
        busiest_depth_max: u32,
        /// Its mean depth.
        busiest_depth_mean: f64,
        /// The greatest depth of the one with the shortest queue.
        idlest_depth_max: u32,
        /// Its mean depth.
        idlest_depth_mean: f64,
    },
    /// Half of a source address's ports were taken, and the kernel searched for each further one.
    HalfThePortsGone {
        /// Ports in `net.ipv4.ip_local_port_range`.
        ports: u32,
        /// Connections from the address that had most.
        connections: u32,
        /// Connects per second until half of the ports were taken.
        rate_before_per_second: f64,
        /// Connects per second after that.
        rate_after_per_second: f64,
    },
    /// No port was left for a further connection to the same destination.
    PortsExhausted {
        /// Ports in `net.ipv4.ip_local_port_range`.
        ports: u32,
        /// Source addresses in use.
        source_addresses: u32,
        /// Connections that were open when the first one failed; 0 where each message had a connection of its own, whose ports stay
        /// taken in `TIME_WAIT` when it has ended.
        open: u32,
        /// Connects that failed so.
        failed: u64,
    },
    /// A table of descriptors was full.
    DescriptorsExhausted {
        /// Whose.
        side: Side,
        /// The limit on one table, `RLIMIT_NOFILE`; absent where it could not be read.
        limit: Option<u64>,
        /// Connections that were opened; of a server, those that it served.
        open: u32,
        /// Connects that failed so or were therefore not begun; of a server, connections that it did not serve. Together with `open` those asked
        /// for, unless some failed in other ways.
        failed: u64,
        /// Descriptors of the server's process ÷ connections that it served, where it is one process that is not built in; absent otherwise.
        descriptors_per_connection: Option<f64>,
    },
    /// The server could start no more threads or processes.
    ThreadsExhausted {
        /// The limit that was reached: `kernel.pid_max`, `kernel.threads-max`, `vm.max_map_count`, `pids.max` or `RLIMIT_NPROC`.
        limit_name: String,
        /// Its value.
        limit: u64,
        /// Most threads and processes of the server seen at once.
        threads: u32,
        /// Connections that were served.
        served: u32,
        /// Connections in all.
        of_connections: u32,
    },
    /// A wait costs more the more connections sit idle.
    CostGrowsWithIdle {
        /// What was timed: `accept` or `data`.
        measured: String,
        /// Nanoseconds that each idle connection adds.
        ns_per_connection: f64,
        /// Lower end of its 95 % interval.
        ns_per_connection_low: f64,
        /// Upper end.
        ns_per_connection_high: f64,
        /// Idle connections at the end.
        idle: u32,
        /// The cost there.
        cost_ns_last: u64,
        /// The cost with the fewest.
        cost_ns_first: u64,
    },
    /// Connects took whole seconds, since their SYNs got no answer and were sent again, and no overflow of the accept queue explains it.
    SynRetransmissionSteps {
        /// Connections whose SYN was sent again.
        connections: u32,
        /// SYNs sent again.
        retransmissions: u64,
        /// The slowest completed connect.
        connect_ns_max: u64,
        /// `ListenOverflows` of the network, too few to explain the retransmissions; absent where it is not the server's.
        overflows: Option<u64>,
        /// The backlog in force; absent where it could not be looked up.
        backlog: Option<u32>,
    },
    /// A server used one core and no more, while others that it was allowed stood idle and clients waited.
    OneCoreOfMany {
        /// The server's CPU time ÷ the window.
        cores_used: f64,
        /// CPUs that it was allowed.
        cores_allowed: u32,
        /// Of these, what nobody used: their idle time ÷ the window, less what the kernel's ticks may err by.
        cores_idle: f64,
        /// What the server's busiest thread used of a core; absent where it could not be read.
        busiest_thread_cores: Option<f64>,
        /// Most threads of the server seen at once, over all its processes.
        threads_max: u32,
        /// Connections that asked at once.
        connections: u32,
        /// Why no more, as far as it is known.
        held_by: OneCoreCause,
    },
    /// Some connections were served far more often than others.
    UnfairService {
        /// Connections.
        connections: u32,
        /// Replies of the window to the connection that had fewest.
        replies_min: u32,
        /// One connection in ten had no more than this.
        replies_p10: u32,
        /// Half of them had no more than this.
        replies_median: u32,
        /// Nine in ten had no more than this.
        replies_p90: u32,
        /// Replies to the connection that had most.
        replies_max: u32,
        /// Jain's fairness index, 1 ÷ connections to 1.
        fairness_jain: f64,
    },
}

/// What keeps a server to one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OneCoreCause {
    /// CPython's global interpreter lock: of its threads one at a time runs Python. By the server's declared model and runtime.
    GlobalInterpreterLock,
    /// Ruby's global VM lock, in the same way.
    GlobalVmLock,
    /// One thread serves: by the server's model, by its number of workers, or since one was seen to do all the work.
    OneThread,
    /// Several threads or processes shared one core's worth of work.
    NotKnown,
}

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The load generator.
    Generator,
    /// The server.
    Server,
}

impl Finding {
    /// The word for it: the name of its page in `docs/findings/`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AcceptQueueOverflow { .. } => "accept-queue-overflow",
            Self::BacklogClamped { .. } => "backlog-clamped",
            Self::FinalAckDropped { .. } => "final-ack-dropped",
            Self::SynCookies { .. } => "syn-cookies",
            Self::ConnectionsRefused { .. } => "connections-refused",
            Self::HeadOfLineBlocking { .. } => "head-of-line-blocking",
            Self::TooFewAcceptors { .. } => "too-few-acceptors",
            Self::DelayedAck { .. } => "delayed-ack",
            Self::GeneratorBound { .. } => "generator-bound",
            Self::UnbalancedListeners { .. } => "unbalanced-listeners",
            Self::HalfThePortsGone { .. } => "half-the-ports-gone",
            Self::PortsExhausted { .. } => "ports-exhausted",
            Self::DescriptorsExhausted { .. } => "descriptors-exhausted",
            Self::ThreadsExhausted { .. } => "threads-exhausted",
            Self::CostGrowsWithIdle { .. } => "cost-grows-with-idle",
            Self::SynRetransmissionSteps { .. } => "syn-retransmission-steps",
            Self::OneCoreOfMany { .. } => "one-core-of-many",
            Self::Stalls { .. } => "stalls",
            Self::StarvedConnections { .. } => "starved-connections",
            Self::UnfairService { .. } => "unfair-service",
        }
    }
}
