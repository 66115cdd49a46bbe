//! How much is asked of a server, for how long, and how often.

use throng_record::plan::Experiment::{Accept, Backlog, Churn, Echo, Fanout, Hold, Phases};

use super::foreign::Instead::{Both, Either, LeaveOut, Take, Write};
use super::foreign::{
    CLIENTS, CONNECTIONS, DURATION, HELD, MESSAGES, NO_MESSAGES, NO_SERVER, ONE_LINE, ONE_PROCESS,
    RATE, RATE_OF_LINES, REPEATS, SERVICE_TIME,
};
use super::{Key, Usual, flag, key, switch};

const AT_ONCE: &str =
    "its requests are answered at once: what a connection costs is what it measures";
const CONNECTS: &str = "its connections are opened before anything is measured";
const CONNECTS_TIMED: &str = "the connects are timed as they are, and nobody else looks on";
const COUNTED: &str = "it ends when every client has made its requests";
const COUNTED_OFF: &str = "it ends when all connections have been accepted";
const ENDED: &str = "its clients send until the measurement ends";
const GONE: &str = "none of its connections is kept";
const KEPT: &str = "its connections are opened once and kept";
const NO_DELAY: &str = "its servers answer at once";
const ONE_AT_A_TIME: &str =
    "each client has one connection at a time, and connects as soon as it is answered";

const HOLD: &str = "hold = \"1s\"";
const PINGS: &str = "pings = 100";
const OF_CLIENTS: [&str; 2] = ["requests = 5", "requests-total = 160"];

pub(super) const KEYS: &[Key] = &[
    flag("connections", "N,…", "Connections")
        .short('c')
        .help_in(&[(Accept, "Idle connections at the end; each number of a list is a measurement of its own")])
        .usually("100")
        // As published, but for those that are held.
        .usually_in(&[
            (&[Accept, Hold], Usual::Value("10000")),
            (&[Fanout], Usual::Value("1000")),
        ])
        .foreign_to(&[(&[Backlog, Churn], "each request has a connection of its own", Write(CLIENTS))]),
    flag("clients", "N,…", "Clients, each with one connection at a time")
        // 32 × 5 requests are the published 160.
        .usually("32")
        .usually_in(&[(&[Churn], Usual::Value("100"))])
        .foreign_to(&[
            (&[Echo, Fanout, Hold, Phases], KEPT, Write(CONNECTIONS)),
            (&[Accept], ONE_PROCESS, Write(CONNECTIONS)),
        ]),
    flag("workload", "WORKLOAD,…", "What clients request and built-in servers answer; http with http:// targets")
        .words(&["oneshot", "http", "echo"])
        .usually("oneshot")
        .usually_in(&[(&[Churn], Usual::Value("echo"))])
        .foreign_to(&[
            (&[Echo], "its servers send back what they get", Take(Backlog)),
            (&[Accept], NO_SERVER, Take(Backlog)),
            (&[Fanout], "its servers broadcast", LeaveOut),
            (&[Hold, Phases], "its servers send back what they get", LeaveOut),
        ]),
    flag("requests", "N,…", "Requests of each client, one after another, each on a new connection")
        .usually("5")
        .foreign_to(&[
            (&[Echo, Phases], "its connections send until the measurement ends", Either([MESSAGES, DURATION])),
            (&[Churn], ENDED, Either([MESSAGES, DURATION])),
            (&[Accept], NO_MESSAGES, Write(CONNECTIONS)),
            (&[Fanout], ONE_LINE, Both([RATE_OF_LINES, DURATION])),
            (&[Hold], HELD, Write(PINGS)),
        ]),
    flag("requests-total", "N,…", "Requests of all clients together, shared evenly; in place of --requests")
        .foreign_to(&[
            (&[Echo, Phases], "its connections send until the measurement ends", Write(MESSAGES)),
            (&[Churn], ENDED, Write(MESSAGES)),
            (&[Accept], NO_MESSAGES, Write(CONNECTIONS)),
            (&[Fanout], ONE_LINE, Both([RATE_OF_LINES, DURATION])),
            (&[Hold], HELD, Write(PINGS)),
        ]),
    flag("service-time", "TIME,…", "Service time of a request: built-in servers are told it, of others it is assumed")
        .takes_hyphen()
        // As published.
        .usually("40ms")
        .foreign_to(&[
            (&[Echo], "an echo is sent back at once", Take(Backlog)),
            (&[Churn], AT_ONCE, Take(Backlog)),
            (&[Accept], NO_SERVER, Take(Backlog)),
            (&[Fanout, Hold, Phases], NO_DELAY, Take(Backlog)),
        ]),
    key("delay-inline", "Whether event loops block for the service time, so that all their other connections wait")
        .switches(&[switch("delay-inline", "true", "Event loops block for the service time, so that all their other connections wait")])
        .usually("false")
        .foreign_to(&[
            (&[Echo], "an echo is sent back at once, so there is no delay", Take(Backlog)),
            (&[Churn], AT_ONCE, Take(Backlog)),
            (&[Accept], NO_SERVER, Take(Backlog)),
            (&[Fanout, Hold, Phases], NO_DELAY, Take(Backlog)),
        ]),
    flag("messages", "N,…", "Stop after exactly this many messages, all connections together")
        .foreign_to(&[
            (&[Backlog], COUNTED, Either(OF_CLIENTS)),
            (&[Accept], NO_MESSAGES, Write(CONNECTIONS)),
            (&[Fanout], ONE_LINE, Both([RATE_OF_LINES, DURATION])),
            (&[Hold], HELD, Write(PINGS)),
        ]),
    flag("duration", "TIME,…", "Stop after this long")
        .short('d')
        .help_in(&[(Fanout, "How long lines are sent at --rate")])
        .usually("2s")
        .foreign_to(&[
            (&[Backlog], COUNTED, Either(OF_CLIENTS)),
            (&[Accept], COUNTED_OFF, Write(CONNECTIONS)),
            (&[Hold], HELD, Write(HOLD)),
        ]),
    flag("warmup", "TIME|COUNT,…", "Warm-up before the measurement: 300ms or '1000 messages'")
        .usually("300ms")
        .foreign_to(&[
            (&[Backlog], "the first burst of connects is what it measures", LeaveOut),
            (&[Accept], "the first accept is the one with no idle connection", LeaveOut),
            (&[Fanout, Hold], "what it measures is the first time", LeaveOut),
        ]),
    flag("confidence", "WIDTH,…", "Stop when the 95 % confidence interval's half-width ÷ mean is at most this, such as 0.01")
        .foreign_to(&[
            (&[Backlog], COUNTED, Write(REPEATS)),
            (&[Churn], ENDED, Both([DURATION, REPEATS])),
            (&[Accept], COUNTED_OFF, Write(REPEATS)),
            (&[Fanout], ONE_LINE, Write(REPEATS)),
            (&[Hold], HELD, Write(REPEATS)),
        ]),
    flag("max-duration", "TIME,…", "Longest measurement with --confidence")
        .usually("30s")
        .foreign_to(&[
            (&[Backlog], COUNTED, Either(OF_CLIENTS)),
            (&[Churn], ENDED, Write(DURATION)),
            (&[Accept], COUNTED_OFF, Write(CONNECTIONS)),
            (&[Fanout], ONE_LINE, Both([RATE_OF_LINES, DURATION])),
            (&[Hold], HELD, Write(HOLD)),
        ]),
    flag("closing", "CLOSING,…", "How the generator closes: FIN, which leaves TIME_WAIT on the side that closes first, or RST, which leaves none")
        .words(&["fin", "reset"])
        .usually("fin")
        .foreign_to(&[
            (&[Backlog], "its servers close first, and what it measures is how connections begin", Take(Churn)),
            (&[Echo, Accept, Fanout, Hold, Phases], "its connections are kept to the end", Take(Churn)),
        ]),
    key("observe", "Whether the accept queue (a thousand times a second) and the handshakes are observed")
        .switches(&[
            switch("observe", "true", "Observe the accept queue and the handshakes; churn does not by default, because it costs CPU time"),
            switch("no-observe", "false", "Do not observe the accept queue and the handshakes; most slow requests then have no known cause"),
        ])
        .usually("true")
        .usually_in(&[(&[Churn], Usual::Value("false"))])
        .foreign_to(&[
            (&[Echo], CONNECTS, Take(Backlog)),
            (&[Accept], NO_SERVER, Take(Backlog)),
            (&[Fanout, Hold, Phases], CONNECTS_TIMED, LeaveOut),
        ]),
    key("published", "Whether poll is called as the published program does")
        .switches(&[switch("published", "true", "Call poll as the published program does, with room for all connections from the first call on")])
        .usually("false")
        .foreign_to(&[(&[Echo, Backlog, Churn, Fanout, Hold, Phases], "it measures servers, which call poll as servers do", Take(Accept))]),
    flag("hold", "TIME,…", "How long all connections stay open before the pings")
        .usually("2s")
        .foreign_to(&[
            (&[Echo], "its connections are at work until the end", Take(Hold)),
            (&[Backlog, Churn], GONE, Take(Hold)),
            (&[Accept], COUNTED_OFF, Take(Hold)),
            (&[Fanout], "it goes on as soon as all are connected", Take(Hold)),
        ]),
    flag("pings", "N|all,…", "Connections to ping, spread evenly, or all")
        .by_rule("1000 at most")
        .foreign_to(&[
            (&[Echo], "each of its connections sends", Take(Hold)),
            (&[Backlog, Churn], GONE, Take(Hold)),
            (&[Accept], NO_MESSAGES, Take(Hold)),
            (&[Fanout], ONE_LINE, Take(Hold)),
        ]),
    flag("connect-concurrency", "N,…", "Connects in flight for each shard; 1: one after another over all shards")
        // As published.
        .usually("1")
        .usually_in(&[(&[Hold, Phases], Usual::Words("64, fewer with many shards"))])
        .foreign_to(&[
            (&[Echo], CONNECTS, Take(Fanout)),
            (&[Backlog, Churn], ONE_AT_A_TIME, Write(CLIENTS)),
            (&[Accept], ONE_PROCESS, LeaveOut),
        ]),
    flag("connect-rate", "PER-SECOND,…", "Connects begun per second")
        .by_rule("as fast as possible")
        .foreign_to(&[
            (&[Echo], CONNECTS, Take(Fanout)),
            (&[Backlog], ONE_AT_A_TIME, Both([CLIENTS, SERVICE_TIME])),
            (&[Churn], ONE_AT_A_TIME, Write(RATE)),
            (&[Accept], ONE_PROCESS, LeaveOut),
        ]),
    flag("repeats", "N", "Repeats of each target and setting")
        // The fewest of which the median has a 95 % interval.
        .usually("6")
        .usually_in(&[
            // What retransmission timers do with the same load differs by seconds, which two runs may hide and a range of three
            // shows; six of the cells that take minutes are too long to wait for unasked. The published fan-outs are single
            // runs; a range of three shows what one of them is worth.
            (&[Backlog, Fanout], Usual::Value("3")),
            // Memory hardly varies, and a million connections take a minute.
            (&[Hold], Usual::Value("1")),
        ]),
    flag("baseline", "TARGET", "Target to compare the others with")
        .by_rule("the first"),
    flag("seed", "N", "Seed of the order of trials, of payloads and arrivals")
        .usually("1"),
];
