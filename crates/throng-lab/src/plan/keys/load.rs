//! How much is asked of a server, for how long, and how often.

use throng_record::plan::Experiment::{Accept, Backlog, Churn, Echo, Fanout, Hold};

use super::foreign::Instead::{Both, Either, LeaveOut, Take, Write};
use super::foreign::{
    CLIENTS, CONNECTIONS, DURATION, HELD, MESSAGES, NO_MESSAGES, NO_SERVER, ONE_LINE, ONE_PROCESS,
    RATE, RATE_OF_LINES, REPEATS, SERVICE_TIME,
};
use super::{BLANK, Key, Switch, Usual};

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
    Key {
        name: "connections",
        short: Some('c'),
        value_name: "N,…",
        help: "Connections",
        help_in: &[(
            Accept,
            "Idle connections at the end; each number of a list is a measurement of its own",
        )],
        usual: Usual::Value("100"),
        // As published, but for those that are held.
        usual_in: &[
            (&[Accept, Hold], Usual::Value("10000")),
            (&[Fanout], Usual::Value("1000")),
        ],
        foreign: &[(
            &[Backlog, Churn],
            "each request has a connection of its own",
            Write(CLIENTS),
        )],
        ..BLANK
    },
    Key {
        name: "clients",
        value_name: "N,…",
        help: "Clients, each with one connection at a time",
        // 32 × 5 requests are the published 160.
        usual: Usual::Value("32"),
        usual_in: &[(&[Churn], Usual::Value("100"))],
        foreign: &[
            (&[Echo, Fanout, Hold], KEPT, Write(CONNECTIONS)),
            (&[Accept], ONE_PROCESS, Write(CONNECTIONS)),
        ],
        ..BLANK
    },
    Key {
        name: "workload",
        value_name: "WORKLOAD,…",
        words: &["oneshot", "http", "echo"],
        help: "What clients request and built-in servers answer; http with http:// targets",
        usual: Usual::Value("oneshot"),
        usual_in: &[(&[Churn], Usual::Value("echo"))],
        foreign: &[
            (
                &[Echo],
                "its servers send back what they get",
                Take(Backlog),
            ),
            (&[Accept], NO_SERVER, Take(Backlog)),
            (&[Fanout], "its servers broadcast", LeaveOut),
            (&[Hold], "its servers send back what they get", LeaveOut),
        ],
        ..BLANK
    },
    Key {
        name: "requests",
        value_name: "N,…",
        help: "Requests of each client, one after another, each on a new connection",
        usual: Usual::Value("5"),
        foreign: &[
            (
                &[Echo],
                "its connections send until the measurement ends",
                Either([MESSAGES, DURATION]),
            ),
            (&[Churn], ENDED, Either([MESSAGES, DURATION])),
            (&[Accept], NO_MESSAGES, Write(CONNECTIONS)),
            (&[Fanout], ONE_LINE, Both([RATE_OF_LINES, DURATION])),
            (&[Hold], HELD, Write(PINGS)),
        ],
        ..BLANK
    },
    Key {
        name: "requests-total",
        value_name: "N,…",
        help: "Requests of all clients together, shared evenly; in place of --requests",
        foreign: &[
            (
                &[Echo],
                "its connections send until the measurement ends",
                Write(MESSAGES),
            ),
            (&[Churn], ENDED, Write(MESSAGES)),
            (&[Accept], NO_MESSAGES, Write(CONNECTIONS)),
            (&[Fanout], ONE_LINE, Both([RATE_OF_LINES, DURATION])),
            (&[Hold], HELD, Write(PINGS)),
        ],
        ..BLANK
    },
    Key {
        name: "service-time",
        value_name: "TIME,…",
        takes_hyphen: true,
        help: "Service time of a request: built-in servers are told it, of others it is assumed",
        // As published.
        usual: Usual::Value("40ms"),
        foreign: &[
            (&[Echo], "an echo is sent back at once", Take(Backlog)),
            (&[Churn], AT_ONCE, Take(Backlog)),
            (&[Accept], NO_SERVER, Take(Backlog)),
            (&[Fanout, Hold], NO_DELAY, Take(Backlog)),
        ],
        ..BLANK
    },
    Key {
        name: "delay-inline",
        help: "Whether event loops block for the service time, so that all their other connections wait",
        switches: &[Switch {
            flag: "delay-inline",
            value: "true",
            help: "Event loops block for the service time, so that all their other connections wait",
        }],
        usual: Usual::Value("false"),
        foreign: &[
            (
                &[Echo],
                "an echo is sent back at once, so there is no delay",
                Take(Backlog),
            ),
            (&[Churn], AT_ONCE, Take(Backlog)),
            (&[Accept], NO_SERVER, Take(Backlog)),
            (&[Fanout, Hold], NO_DELAY, Take(Backlog)),
        ],
        ..BLANK
    },
    Key {
        name: "messages",
        value_name: "N,…",
        help: "Stop after exactly this many messages, all connections together",
        foreign: &[
            (&[Backlog], COUNTED, Either(OF_CLIENTS)),
            (&[Accept], NO_MESSAGES, Write(CONNECTIONS)),
            (&[Fanout], ONE_LINE, Both([RATE_OF_LINES, DURATION])),
            (&[Hold], HELD, Write(PINGS)),
        ],
        ..BLANK
    },
    Key {
        name: "duration",
        short: Some('d'),
        value_name: "TIME,…",
        help: "Stop after this long",
        help_in: &[(Fanout, "How long lines are sent at --rate")],
        usual: Usual::Value("2s"),
        foreign: &[
            (&[Backlog], COUNTED, Either(OF_CLIENTS)),
            (&[Accept], COUNTED_OFF, Write(CONNECTIONS)),
            (&[Hold], HELD, Write(HOLD)),
        ],
        ..BLANK
    },
    Key {
        name: "warmup",
        value_name: "TIME|COUNT,…",
        help: "Warm-up before the measurement: 300ms or '1000 messages'",
        usual: Usual::Value("300ms"),
        foreign: &[
            (
                &[Backlog],
                "the first burst of connects is what it measures",
                LeaveOut,
            ),
            (
                &[Accept],
                "the first accept is the one with no idle connection",
                LeaveOut,
            ),
            (
                &[Fanout, Hold],
                "what it measures is the first time",
                LeaveOut,
            ),
        ],
        ..BLANK
    },
    Key {
        name: "confidence",
        value_name: "WIDTH,…",
        help: "Stop when the 95 % confidence interval's half-width ÷ mean is at most this, such as 0.01",
        foreign: &[
            (&[Backlog], COUNTED, Write(REPEATS)),
            (&[Churn], ENDED, Both([DURATION, REPEATS])),
            (&[Accept], COUNTED_OFF, Write(REPEATS)),
            (&[Fanout], ONE_LINE, Write(REPEATS)),
            (&[Hold], HELD, Write(REPEATS)),
        ],
        ..BLANK
    },
    Key {
        name: "max-duration",
        value_name: "TIME,…",
        help: "Longest measurement with --confidence",
        usual: Usual::Value("30s"),
        foreign: &[
            (&[Backlog], COUNTED, Either(OF_CLIENTS)),
            (&[Churn], ENDED, Write(DURATION)),
            (&[Accept], COUNTED_OFF, Write(CONNECTIONS)),
            (&[Fanout], ONE_LINE, Both([RATE_OF_LINES, DURATION])),
            (&[Hold], HELD, Write(HOLD)),
        ],
        ..BLANK
    },
    Key {
        name: "closing",
        value_name: "CLOSING,…",
        words: &["fin", "reset"],
        help: "How the generator closes: FIN, which leaves TIME_WAIT on the side that closes first, or RST, which leaves none",
        usual: Usual::Value("fin"),
        foreign: &[
            (
                &[Backlog],
                "its servers close first, and what it measures is how connections begin",
                Take(Churn),
            ),
            (
                &[Echo, Accept, Fanout, Hold],
                "its connections are kept to the end",
                Take(Churn),
            ),
        ],
        ..BLANK
    },
    Key {
        name: "observe",
        help: "Whether the accept queue (a thousand times a second) and the handshakes are observed",
        switches: &[
            Switch {
                flag: "observe",
                value: "true",
                help: "Observe the accept queue and the handshakes; churn does not by default, because it costs CPU time",
            },
            Switch {
                flag: "no-observe",
                value: "false",
                help: "Do not observe the accept queue and the handshakes; most slow requests then have no known cause",
            },
        ],
        usual: Usual::Value("true"),
        usual_in: &[(&[Churn], Usual::Value("false"))],
        foreign: &[
            (&[Echo], CONNECTS, Take(Backlog)),
            (&[Accept], NO_SERVER, Take(Backlog)),
            (&[Fanout, Hold], CONNECTS_TIMED, LeaveOut),
        ],
        ..BLANK
    },
    Key {
        name: "published",
        help: "Whether poll is called as the published program does",
        switches: &[Switch {
            flag: "published",
            value: "true",
            help: "Call poll as the published program does, with room for all connections from the first call on",
        }],
        usual: Usual::Value("false"),
        foreign: &[(
            &[Echo, Backlog, Churn, Fanout, Hold],
            "it measures servers, which call poll as servers do",
            Take(Accept),
        )],
        ..BLANK
    },
    Key {
        name: "hold",
        value_name: "TIME,…",
        help: "How long all connections stay open before the pings",
        usual: Usual::Value("2s"),
        foreign: &[
            (
                &[Echo],
                "its connections are at work until the end",
                Take(Hold),
            ),
            (&[Backlog, Churn], GONE, Take(Hold)),
            (&[Accept], COUNTED_OFF, Take(Hold)),
            (
                &[Fanout],
                "it goes on as soon as all are connected",
                Take(Hold),
            ),
        ],
        ..BLANK
    },
    Key {
        name: "pings",
        value_name: "N|all,…",
        help: "Connections to ping, spread evenly, or all",
        usual: Usual::Words("1000 at most"),
        foreign: &[
            (&[Echo], "each of its connections sends", Take(Hold)),
            (&[Backlog, Churn], GONE, Take(Hold)),
            (&[Accept], NO_MESSAGES, Take(Hold)),
            (&[Fanout], ONE_LINE, Take(Hold)),
        ],
        ..BLANK
    },
    Key {
        name: "connect-concurrency",
        value_name: "N,…",
        help: "Connects in flight for each shard; 1: one after another over all shards",
        // As published.
        usual: Usual::Value("1"),
        usual_in: &[(&[Hold], Usual::Words("64, fewer with many shards"))],
        foreign: &[
            (&[Echo], CONNECTS, Take(Fanout)),
            (&[Backlog, Churn], ONE_AT_A_TIME, Write(CLIENTS)),
            (&[Accept], ONE_PROCESS, LeaveOut),
        ],
        ..BLANK
    },
    Key {
        name: "connect-rate",
        value_name: "PER-SECOND,…",
        help: "Connects begun per second",
        usual: Usual::Words("as fast as possible"),
        foreign: &[
            (&[Echo], CONNECTS, Take(Fanout)),
            (&[Backlog], ONE_AT_A_TIME, Both([CLIENTS, SERVICE_TIME])),
            (&[Churn], ONE_AT_A_TIME, Write(RATE)),
            (&[Accept], ONE_PROCESS, LeaveOut),
        ],
        ..BLANK
    },
    Key {
        name: "repeats",
        value_name: "N",
        help: "Repeats of each target and setting",
        // The fewest of which the median has a 95 % interval.
        usual: Usual::Value("6"),
        usual_in: &[
            // What retransmission timers do with the same load differs by seconds, which two runs may hide and a range of three
            // shows; six of the cells that take minutes are too long to wait for unasked. The published fan-outs are single
            // runs; a range of three shows what one of them is worth.
            (&[Backlog, Fanout], Usual::Value("3")),
            // Memory hardly varies, and a million connections take a minute.
            (&[Hold], Usual::Value("1")),
        ],
        ..BLANK
    },
    Key {
        name: "baseline",
        value_name: "TARGET",
        help: "Target to compare the others with",
        usual: Usual::Words("the first"),
        ..BLANK
    },
    Key {
        name: "seed",
        value_name: "N",
        help: "Seed of the order of trials, of payloads and arrivals",
        usual: Usual::Value("1"),
        ..BLANK
    },
];
