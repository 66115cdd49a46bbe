//! How much is asked of a server, for how long, and how often.

use throng_record::plan::Experiment::{Accept, Backlog, Churn, Fanout, Hold};

use super::instead::Instead::{Either, LeaveOut, Take, Write};
use super::instead::{CONNECTIONS, DURATION, MESSAGES};
use super::{Key, flag, key, switch};

const CONNECTS: &str = "its connections are opened before anything is measured";
const CONNECTS_TIMED: &str = "the connects are timed as they are, and nobody else looks on";
const ENDED: &str = "its connections send until the measurement ends";
const NO_DELAY: &str = "its servers answer at once";

pub(super) const KEYS: &[Key] = &[
    flag("connections", "N,…", "Connections")
        .short('c')
        .usually("100"),
    flag("clients", "N,…", "Clients, each with one connection at a time")
        // 32 × 5 requests are the published 160.
        .usually("32")
        .of_some("its connections are opened once and kept", Write(CONNECTIONS)),
    flag("workload", "WORKLOAD,…", "What clients request and built-in servers answer; http with http:// targets")
        .words(&["oneshot", "http", "framed", "echo"])
        .usually("oneshot")
        .of_some("its servers send back what they get", LeaveOut),
    flag("requests", "N,…", "Requests of each client, one after another, each on a new connection")
        .usually("5")
        .of_some(ENDED, Either([MESSAGES, DURATION])),
    flag("requests-total", "N,…", "Requests of all clients together, shared evenly; in place of --requests")
        .of_some(ENDED, Write(MESSAGES)),
    flag("service-time", "TIME,…", "Service time of a request: built-in servers are told it, of others it is assumed")
        .takes_hyphen()
        // As published.
        .usually("40ms")
        .of_some(NO_DELAY, Take(Backlog)),
    key("delay-inline", "Whether event loops block for the service time, so that all their other connections wait")
        .switches(&[switch("delay-inline", "true", "Event loops block for the service time, so that all their other connections wait")])
        .usually("false")
        .of_some(NO_DELAY, Take(Backlog)),
    flag("messages", "N,…", "Stop after exactly this many messages, all connections together"),
    flag("duration", "TIME,…", "Stop after this long")
        .short('d')
        .usually("2s"),
    flag("warmup", "TIME|COUNT,…", "Warm-up before the measurement: 300ms or '1000 messages'")
        .usually("300ms"),
    flag("confidence", "WIDTH,…", "Stop when the 95 % confidence interval's half-width ÷ mean is at most this, such as 0.01"),
    flag("max-duration", "TIME,…", "Longest measurement with --confidence")
        .usually("30s"),
    flag("closing", "CLOSING,…", "How the generator closes: FIN, which leaves TIME_WAIT on the side that closes first, or RST, which leaves none")
        .words(&["fin", "reset"])
        .usually("fin")
        .of_some("its connections are kept to the end", Take(Churn)),
    key("observe", "Whether the accept queue (a thousand times a second) and the handshakes are observed")
        .switches(&[
            switch("observe", "true", "Observe the accept queue and the handshakes; churn does not by default, because it costs CPU time"),
            switch("no-observe", "false", "Do not observe the accept queue and the handshakes; most slow requests then have no known cause"),
        ])
        .usually("true")
        .of_some(CONNECTS_TIMED, LeaveOut),
    key("published", "Whether poll is called as the published program does")
        .switches(&[switch("published", "true", "Call poll as the published program does, with room for all connections from the first call on")])
        .usually("false")
        .of_some("it measures servers, which call poll as servers do", Take(Accept)),
    flag("hold", "TIME,…", "How long all connections stay open before the pings")
        .usually("2s")
        .of_some("its connections are at work until the end", Take(Hold)),
    flag("pings", "N|all,…", "Connections to ping, spread evenly, or all")
        .by_rule("1000 at most")
        .of_some("each of its connections sends", Take(Hold)),
    flag("connect-concurrency", "N,…", "Connects in flight for each shard; 1: one after another over all shards")
        .by_rule("64, fewer with many shards")
        .of_some(CONNECTS, Take(Fanout)),
    flag("connect-rate", "PER-SECOND,…", "Connects begun per second")
        .by_rule("as fast as possible")
        .of_some(CONNECTS, Take(Fanout)),
    flag("repeats", "N", "Repeats of each target and setting")
        // The fewest of which the median has a 95 % interval.
        .usually("6"),
    flag("baseline", "TARGET", "Target to compare the others with")
        .by_rule("the first"),
    flag("seed", "N", "Seed of the order of trials, of payloads and arrivals")
        .usually("1"),
];
