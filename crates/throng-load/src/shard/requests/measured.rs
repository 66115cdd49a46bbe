//! What one shard measured of its requests: the exchange as of kept connections, and the connections.

use throng_record::{QueueFullWaits, histogram};

use super::{Request, RequestLog, ShardExchange};

/// What one shard measured of its requests.
pub(crate) struct ShardRequests {
    pub(crate) exchange: ShardExchange,
    pub(crate) connections: ShardConnections,
}

/// What one shard measured of their connections.
pub(crate) struct ShardConnections {
    pub(crate) begun: u64,
    pub(crate) warmup_begun: u64,
    pub(crate) connected: u64,
    pub(crate) warmup_connected: u64,
    pub(crate) connect_latency: hdrhistogram::Histogram<u64>,
    pub(crate) first_byte_latency: hdrhistogram::Histogram<u64>,
    pub(crate) reply_latency: hdrhistogram::Histogram<u64>,
    pub(crate) request_latency: hdrhistogram::Histogram<u64>,
    pub(crate) syn_retransmissions: u64,
    pub(crate) data_retransmissions: u64,
    pub(crate) queue_full: QueueFullWaits,
    pub(crate) without_tcp_info: u64,
    /// The first connect call and the end of the last request, where there was any.
    pub(crate) span_ns: Option<(u64, u64)>,
    pub(crate) log: RequestLog,
}

impl ShardConnections {
    pub(super) fn new(log: RequestLog) -> Self {
        Self {
            begun: 0,
            warmup_begun: 0,
            connected: 0,
            warmup_connected: 0,
            connect_latency: histogram::empty(),
            first_byte_latency: histogram::empty(),
            reply_latency: histogram::empty(),
            request_latency: histogram::empty(),
            syn_retransmissions: 0,
            data_retransmissions: 0,
            queue_full: QueueFullWaits::default(),
            without_tcp_info: 0,
            span_ns: None,
            log,
        }
    }

    /// A connect call after the warm-up.
    pub(super) fn began(&mut self, now_ns: u64) {
        self.begun += 1;
        self.span_ns.get_or_insert((now_ns, now_ns));
    }

    /// The end of a request after the warm-up.
    pub(super) fn ended(&mut self, now_ns: u64, request: Request) {
        self.syn_retransmissions += u64::from(request.syn_retransmissions);
        self.data_retransmissions += u64::from(request.data_retransmissions);
        self.log.offer(request);
        if let Some((_, ended_at_ns)) = &mut self.span_ns {
            *ended_at_ns = now_ns.max(*ended_at_ns);
        }
    }
}
