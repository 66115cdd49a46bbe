//! Findings: what happened, with the evidence as fields. Their causes and remedies are told by the reports, and at length by a page each
//! in `docs/findings/`.

mod services;

use serde::{Deserialize, Serialize};

pub use services::{ConnectingCosts, FullUnixQueue, ScanWithoutRest, UnevenAmong, UnevenServices};

/// Something that explains a trial's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "finding", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is documented by its evidence")]
pub enum Finding {
    AcceptQueueOverflow(AcceptQueueOverflow),
    BacklogClamped(BacklogClamped),
    FinalAckDropped(FinalAckDropped),
    SynCookies(SynCookies),
    ConnectionsRefused(ConnectionsRefused),
    HeadOfLineBlocking(HeadOfLineBlocking),
    TooFewAcceptors(TooFewAcceptors),
    DelayedAck(DelayedAck),
    Stalls(Stalls),
    StarvedConnections(StarvedConnections),
    GeneratorBound(GeneratorBound),
    UnbalancedListeners(UnbalancedListeners),
    HalfThePortsGone(HalfThePortsGone),
    PortsExhausted(PortsExhausted),
    DescriptorsExhausted(DescriptorsExhausted),
    ThreadsExhausted(ThreadsExhausted),
    CostGrowsWithIdle(CostGrowsWithIdle),
    SynRetransmissionSteps(SynRetransmissionSteps),
    OneCoreOfMany(OneCoreOfMany),
    UnfairService(UnfairService),
    FullUnixQueue(FullUnixQueue),
    ConnectingCosts(ConnectingCosts),
    ScanWithoutRest(ScanWithoutRest),
    UnevenServices(UnevenServices),
}

/// SYNs were dropped since the accept queue was full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct AcceptQueueOverflow {
    /// `ListenOverflows`: connections and final ACKs that found the queue full.
    pub overflows: u64,
    /// `ListenDrops`, which counts those and drops for other reasons.
    pub drops: u64,
    /// Connects that took longer by retransmitting their SYN.
    pub connects_delayed: u64,
    /// SYNs sent again by kept connections, by their `TCP_INFO`; absent where each message had a connection of its own, which tells it
    /// itself.
    pub syn_retransmissions: Option<u64>,
    /// The slowest completed connect.
    pub connect_ns_max: u64,
    /// The backlog in force; absent where it could not be seen.
    pub backlog: Option<u32>,
    /// The greatest depth seen.
    pub depth_max: Option<u32>,
    /// The smallest backlog that would have held every connection that waited at once in this trial; absent where too little is known of it.
    pub backlog_sufficient: Option<u32>,
}

/// The kernel gave the listener a shorter queue than was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct BacklogClamped {
    /// What the server was asked for.
    pub asked: u32,
    /// What is in force.
    pub in_force: u32,
    /// `net.core.somaxconn`; absent where it could not be read.
    pub somaxconn: Option<u32>,
}

/// Clients were connected while the server did not have their connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct FinalAckDropped {
    /// Connections that only their own data's retransmission completed, or that never were.
    pub connections: u64,
    /// Retransmissions of data by all clients; absent of kept connections, which are not asked for it.
    pub data_retransmissions: Option<u64>,
    /// Retransmissions of SYN-ACKs; absent where the handshakes were not observed.
    pub syn_ack_retransmissions: Option<u64>,
    /// The longest time from the completed connect to the last retransmission; of kept connections, the reply timeout.
    pub waited_ns_max: u64,
}

/// The request queue was full too, and the kernel kept no state of new connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct SynCookies {
    /// `SyncookiesSent`.
    pub sent: u64,
    /// `SyncookiesRecv`: segments that came back with a valid cookie and found no connection yet. An ACK that finds the accept queue full counts, and
    /// each retransmission of the data behind it.
    pub received: u64,
    /// `SyncookiesFailed`.
    pub failed: u64,
    /// `TCPReqQFullDoCookies`.
    pub request_queue_full: u64,
}

/// Connects were answered by RST.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct ConnectionsRefused {
    /// How many.
    pub refused: u64,
    /// Connects begun, warm-up included.
    pub begun: u64,
    /// Of these, connected.
    pub connected: u64,
    /// Whether the server is known to have ended during the trial.
    pub server_died: bool,
    /// Whether a listener was there when the trial began; absent where it could not be looked up.
    pub was_listening: Option<bool>,
}

/// Accepted requests waited for each other in a server that was not busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct HeadOfLineBlocking {
    /// Requests whose wait was mostly inside the server.
    pub requests: u64,
    /// Requests in all.
    pub of_requests: u64,
    /// The service time asked for.
    pub service_time_ns: u64,
    /// The median time from the completed connect to the first byte.
    pub first_byte_ns_median: u64,
    /// The server's CPU time ÷ the cores that it can use at once, 0 to 1.
    pub server_busy: f64,
}

/// Connections waited in the accept queue for a server that was not busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct TooFewAcceptors {
    /// Requests whose wait was mostly in the accept queue.
    pub requests: u64,
    /// Requests in all.
    pub of_requests: u64,
    /// Connections that the server serves at once, if it said so.
    pub serves_at_once: Option<u32>,
    /// The most clients that asked at once.
    pub clients: u32,
    /// The mean depth of the accept queue.
    pub depth_mean: f64,
    /// The server's CPU time ÷ the cores that it can use at once, 0 to 1.
    pub server_busy: f64,
}

/// Replies in pieces waited for the peer's delayed ACK.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct DelayedAck {
    /// Share of the replies whose last piece came about 40 ms after the first, 0 to 1.
    pub share_of_replies: f64,
    /// The median time between the two, of those.
    pub gap_ns_median: u64,
    /// `DelayedACKs` of the network during the trial.
    pub delayed_acks: u64,
    /// Replies.
    pub replies: u64,
}

/// The whole server stopped answering for a stretch, and went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Stalls {
    /// How often.
    pub stalls: u32,
    /// The median length. What the generator missed is subtracted, here and below.
    pub stall_ns_median: u64,
    /// The longest.
    pub stall_ns_max: u64,
    /// From the begin of one to that of the next, of those at least half as long as the longest; absent where that is not always the same, to 5 %, and of
    /// fewer than three.
    pub period_ns: Option<u64>,
    /// All together ÷ the window.
    pub share_of_window: f64,
    /// Connections that waited at the end of one, at most.
    pub waiting_max: u32,
    /// Half of the replies took no longer than this.
    pub latency_ns_median: u64,
}

/// A few connections were answered never or seldom, while the others were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct StarvedConnections {
    /// Connections in all.
    pub connections: u32,
    /// Closed loop: connections that had at most a fifth of the median replies; absent where these tell of none.
    pub seldom_served: Option<u32>,
    /// Replies to the connection that had fewest; likewise.
    pub replies_min: Option<u32>,
    /// Half of the connections had no more than this; likewise.
    pub replies_median: Option<u32>,
    /// Connections that waited, at the end of the window, for longer than any reply took; absent where the longest wait was less than five times as
    /// long.
    pub waiting: Option<u32>,
    /// The longest wait; likewise.
    pub waited_ns_max: Option<u64>,
    /// The slowest reply of the window.
    pub reply_ns_max: u64,
}

/// The generator, not the server, bounded the throughput.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct GeneratorBound {
    /// The generator's CPU time ÷ its cores, 0 to 1.
    pub generator_busy: f64,
    /// The server's, 0 to 1.
    pub server_busy: f64,
}

/// Of several listeners on one port some had a queue while others were idle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct UnbalancedListeners {
    /// How many share the port.
    pub listeners: u32,
    /// The greatest depth of the one with the longest queue.
    pub busiest_depth_max: u32,
    /// Its mean depth.
    pub busiest_depth_mean: f64,
    /// The greatest depth of the one with the shortest queue.
    pub idlest_depth_max: u32,
    /// Its mean depth.
    pub idlest_depth_mean: f64,
}

/// Half of a source address's ports were taken, and the kernel searched for each further one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct HalfThePortsGone {
    /// Ports in `net.ipv4.ip_local_port_range`.
    pub ports: u32,
    /// Connections from the address that had most.
    pub connections: u32,
    /// Connects per second until half of the ports were taken.
    pub rate_before_per_second: f64,
    /// Connects per second after that.
    pub rate_after_per_second: f64,
}

/// No port was left for a further connection to the same destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct PortsExhausted {
    /// Ports in `net.ipv4.ip_local_port_range`.
    pub ports: u32,
    /// Source addresses in use.
    pub source_addresses: u32,
    /// Connections that were open when the first one failed; 0 where each message had a connection of its own, whose ports stay
    /// taken in `TIME_WAIT` when it has ended.
    pub open: u32,
    /// Connects that failed so.
    pub failed: u64,
}

/// A table of descriptors was full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct DescriptorsExhausted {
    /// Whose.
    pub side: Side,
    /// The limit on one table, `RLIMIT_NOFILE`; absent where it could not be read.
    pub limit: Option<u64>,
    /// Connections that were opened; of a server, those that it served.
    pub open: u32,
    /// Connects that failed so or were therefore not begun; of a server, connections that it did not serve. Together with `open` those asked
    /// for, unless some failed in other ways.
    pub failed: u64,
    /// Descriptors of the server's process ÷ connections that it served, where it is one process that is not built in; absent otherwise.
    pub descriptors_per_connection: Option<f64>,
}

/// The server could start no more threads or processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct ThreadsExhausted {
    /// The limit that was reached: `kernel.pid_max`, `kernel.threads-max`, `vm.max_map_count`, `pids.max` or `RLIMIT_NPROC`.
    pub limit_name: String,
    /// Its value.
    pub limit: u64,
    /// Most threads and processes of the server seen at once.
    pub threads: u32,
    /// Connections that were served.
    pub served: u32,
    /// Connections in all.
    pub of_connections: u32,
}

/// A wait costs more the more connections sit idle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct CostGrowsWithIdle {
    /// What was timed: `accept` or `data`.
    pub measured: String,
    /// Nanoseconds that each idle connection adds.
    pub ns_per_connection: f64,
    /// Lower end of its 95 % interval.
    pub ns_per_connection_low: f64,
    /// Upper end.
    pub ns_per_connection_high: f64,
    /// Idle connections at the end.
    pub idle: u32,
    /// The cost there.
    pub cost_ns_last: u64,
    /// The cost with the fewest.
    pub cost_ns_first: u64,
}

/// Connects took whole seconds, since their SYNs got no answer and were sent again, and no overflow of the accept queue explains it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct SynRetransmissionSteps {
    /// Connections whose SYN was sent again.
    pub connections: u32,
    /// SYNs sent again.
    pub retransmissions: u64,
    /// The slowest completed connect.
    pub connect_ns_max: u64,
    /// `ListenOverflows` of the network, too few to explain the retransmissions; absent where it is not the server's.
    pub overflows: Option<u64>,
    /// The backlog in force; absent where it could not be looked up.
    pub backlog: Option<u32>,
}

/// A server used one core and no more, while others that it was allowed stood idle and clients waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct OneCoreOfMany {
    /// The server's CPU time ÷ the window.
    pub cores_used: f64,
    /// CPUs that it was allowed.
    pub cores_allowed: u32,
    /// Of these, what nobody used: their idle time ÷ the window, less what the kernel's ticks may err by.
    pub cores_idle: f64,
    /// What the server's busiest thread used of a core; absent where it could not be read.
    pub busiest_thread_cores: Option<f64>,
    /// Most threads of the server seen at once, over all its processes.
    pub threads_max: u32,
    /// Connections that asked at once.
    pub connections: u32,
    /// Why no more, as far as it is known.
    pub held_by: OneCoreCause,
}

/// Some connections were served far more often than others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct UnfairService {
    /// Connections.
    pub connections: u32,
    /// Replies of the window to the connection that had fewest.
    pub replies_min: u32,
    /// One connection in ten had no more than this.
    pub replies_p10: u32,
    /// Half of them had no more than this.
    pub replies_median: u32,
    /// Nine in ten had no more than this.
    pub replies_p90: u32,
    /// Replies to the connection that had most.
    pub replies_max: u32,
    /// Jain's fairness index, 1 ÷ connections to 1.
    pub fairness_jain: f64,
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
