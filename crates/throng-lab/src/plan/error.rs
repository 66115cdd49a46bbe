//! Everything that can be wrong with a plan: what, why, and what to write instead.

use throng_sys::address;

use super::written::{both_forms, both_forms_of, quoted_or_both_forms};

/// A plan that cannot be carried out as written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message is its documentation")]
pub enum PlanError {
    #[error(
        "there is no target: nothing to measure; name a model, tcp://HOST:PORT, {others} or --command '… {{port}} …'"
    )]
    NoTarget { others: &'static str },
    #[error(
        "there is no target: nothing to time; name {known}, or leave targets out, which is all of them"
    )]
    NoMultiplexer { known: String },
    #[error(
        "`{target}` is no multiplexer: the accept experiment has no server, it times how one process waits for its own connections; {instead}"
    )]
    NotAMultiplexer { target: String, instead: String },
    #[error(
        "two targets are called `{0}`, and the report could not tell them apart; leave one out, or give a command a name of its own: {{ command = \"…\", name = \"…\" }}"
    )]
    DuplicateTarget(String),
    #[error(
        "{model} {why}; leave {written} out, or measure it apart from those that can",
        written = quoted_or_both_forms(.key)
    )]
    ModelCannot {
        model: String,
        key: &'static str,
        why: &'static str,
    },
    #[error(
        "there is no model `{model}`{nearest} Built in are {known}; a server that already runs is written tcp://HOST:PORT"
    )]
    UnknownModel {
        model: String,
        nearest: String,
        known: String,
    },
    #[error("{server} {why}; leave it out, or measure it apart from those that can")]
    ServerCannot { server: String, why: String },
    #[error(
        "{running} services run at the addresses given, and {asked} are asked for; leave --services out (in a plan: services), or name as many addresses"
    )]
    RunningServices { running: u32, asked: u32 },
    #[error("{what}: {number} are more than the {most} that there can be; ask for fewer")]
    TooManyServices {
        what: &'static str,
        number: u64,
        most: u64,
    },
    #[error("target `{target}`: {why}")]
    OwnKey { target: String, why: String },
    #[error("there is no server `{server}` in the catalogue; {instead}")]
    UnknownServer { server: String, instead: String },
    #[error(
        "there is no server in the catalogue{because}; `throng servers` lists what there is",
        because = .0.as_ref().map(|why| format!(": {why}")).unwrap_or_default()
    )]
    EmptyCatalogue(Option<String>),
    #[error(
        "target `{target}`: the {experiment} experiment needs a server that {needed}, and HTTP does not; {instead}"
    )]
    HttpTarget {
        target: String,
        experiment: &'static str,
        needed: &'static str,
        instead: &'static str,
    },
    #[error(
        "target `{target}`: the {experiment} experiment has no time for TLS handshakes, and theirs would be taken for something else's; write tcp:// or http:// and a port where the server speaks plainly, or measure it with throng echo"
    )]
    NoTls {
        target: String,
        experiment: &'static str,
    },
    #[error(
        "`{0}` is of servers that speak TLS, and no target does; write tls://HOST:PORT or https://HOST:PORT/PATH, or leave {0} out"
    )]
    NoTlsTarget(&'static str),
    #[error(
        "target `{target}`: throng switches TLS on in its built-in servers only, {known}; start your own with TLS and name it tls://HOST:PORT, or leave it out"
    )]
    CannotSpeakTls { target: String, known: String },
    #[error(
        "cannot take certificates from {file} (--ca; in a plan: ca): {why}; give a file in PEM with the certificate of the authority that has signed the server's, or --insecure to take any (in a plan: insecure = true)"
    )]
    Ca { file: String, why: String },
    #[error(
        "target `{text}` is no address of a page: {why}; write http://HOST:PORT/PATH, for example http://127.0.0.1:8080/"
    )]
    HttpAddress { text: String, why: &'static str },
    #[error("target `{target}`: it has no option `{option}` of its own; there are {there_are}")]
    ModelOption {
        target: String,
        option: String,
        there_are: String,
    },
    #[error(
        "{model} cannot pass on what one connection says to all others, since {why}; leave it out, or name one of {known}"
    )]
    NoBroadcast {
        model: String,
        why: &'static str,
        known: String,
    },
    #[error(
        "{model} greets with `connected`, and with nothing else, so `greeting` cannot be another or none; leave --greeting and --no-greeting out, or name a server of yours"
    )]
    Greeting { model: String },
    #[error("target `{target}`: `{option}` {why}; write for example {option} {example}")]
    ModelOptionValue {
        target: String,
        option: String,
        why: String,
        example: String,
    },
    #[error(
        "{0}: a Unix socket has no handshake and no TIME_WAIT, so of what this experiment shows (what a new TCP connection costs, SYNs dropped and sent again) nothing happens there; measure it over TCP, or with throng echo"
    )]
    NoHandshake(String),
    #[error(
        "target `{0}` looks like a command line; give it with --command, or in a plan file as {{ command = \"…\" }}"
    )]
    CommandAsTarget(String),
    #[error(
        "target `{target}` is of a kind that throng does not know; write tcp://{rest}, and what is sent and answered: --send 'PING\\r\\n' --expect '+PONG\\r\\n'"
    )]
    UnknownScheme { target: String, rest: String },
    #[error("target `{0}` looks like an address without its kind; write tcp://{0} or unix:PATH")]
    AddressWithoutScheme(String),
    #[error("target {error}")]
    Address {
        text: String,
        error: address::ParseError,
    },
    #[error(
        "target `{0}` has port 0, where nothing can listen; give the port of the running server"
    )]
    PortZero(String),
    #[error("the command is empty; write for example --command './mine --port {{port}}'")]
    CommandEmpty,
    #[error("the command `{command}` has a quote that is not closed; quote it as for a shell")]
    CommandQuoting { command: String },
    #[error(
        "the command `{command}` has no {placeholder}, so the server cannot be told where to listen (family {family_name}); write {placeholder} or {{address}} where it belongs, for example './mine --listen {{address}}'"
    )]
    CommandWithoutPlaceholder {
        command: String,
        placeholder: &'static str,
        family_name: &'static str,
    },
    #[error(
        "baseline `{baseline}` is not among the targets, so there is nothing to compare with; name one of {targets}"
    )]
    UnknownBaseline { baseline: String, targets: String },
    #[error(
        "name `{0}`: it becomes part of a folder's name, so only letters, digits, `-`, `_` and `.` can be in it, the first a letter or digit; write for example my-plan"
    )]
    Name(String),

    #[error(
        "`{key}` is 0, so {why}; write {written}, for example",
        written = both_forms(.key, .example)
    )]
    Zero {
        key: &'static str,
        why: &'static str,
        example: &'static str,
    },
    #[error(
        "the plan asks for {cells} combinations ({targets} targets, {lists}), and one run keeps at most {most} apart; shorten a list, or part the plan"
    )]
    TooManyCells {
        cells: usize,
        targets: usize,
        lists: String,
        most: usize,
    },
    #[error("`{key}` is not for the {experiment} experiment: {why}; {instead}")]
    OtherExperiment {
        key: &'static str,
        experiment: &'static str,
        why: &'static str,
        instead: String,
    },
    #[error("the phases of the plan: {0}")]
    Phases(String),
    #[error(
        "{total} requests in all cannot be shared out evenly among {clients} clients; write --requests-total {nearest} (in a plan: requests-total = {nearest}), for example, or other numbers of clients"
    )]
    Indivisible {
        total: u64,
        clients: String,
        nearest: u64,
    },
    #[error(
        "`{key}` is asked of servers that throng launches{of_which}, and here there is none; leave {key} out"
    )]
    NothingToAsk {
        key: &'static str,
        of_which: &'static str,
    },
    #[error(
        "a message of {0} bytes is too large: at most 1048576 bytes (1 MiB) are sent at once; write --size 1048576 or less (in a plan: size = 1048576)"
    )]
    SizeTooLarge(u64),
    #[error(
        "`{key}` and {written} contradict each other: {why}; leave one of them out",
        written = quoted_or_both_forms(.other)
    )]
    Conflict {
        key: &'static str,
        other: &'static str,
        why: &'static str,
    },
    #[error(
        "`{key}` needs `{needed}`: {why}; add {written}, or leave {key} out",
        written = both_forms_of(.needed)
    )]
    Needs {
        key: &'static str,
        needed: &'static str,
        why: &'static str,
    },
    #[error(
        "`{key} = {rate}` is no rate: it is {of_what} per second over the whole fleet, a number above 0; write {written}, for example",
        written = both_forms(.key, .example)
    )]
    Rate {
        key: &'static str,
        rate: f64,
        of_what: &'static str,
        example: u32,
    },
    #[error(
        "{pings} pings for {connections} connections: each is pinged once at most; write --pings {connections} or less, or --pings all (in a plan: pings = {connections} or less, or pings = \"all\")"
    )]
    MorePingsThanConnections { pings: u32, connections: u32 },
    #[error(
        "`confidence = {0}` is no width of an interval: it is the half-width ÷ mean to reach, above 0 and below 1; write --confidence 0.01 for ± 1 % (in a plan: confidence = 0.01)"
    )]
    Confidence(f64),
    #[error(
        "there is no bound: nothing says when a rate is too high; write --bound 'p99 < 5ms' (in a plan: bound = \"p99 < 5ms\")"
    )]
    NoBound,
    #[error(
        "`within = {0}` is no width of an answer: it is the width of its interval ÷ itself to reach, from 0.1% to 50%; write --within 5% (in a plan: within = \"5%\")"
    )]
    Within(f64),
    #[error(
        "`curve = {points}` is no number of points of a curve: it takes 2 to {most}, and 0 is none; write --curve 8 (in a plan: curve = 8)"
    )]
    CurvePoints { points: u32, most: u32 },
    #[error("`{key} = {text}`: {why}")]
    Text {
        key: &'static str,
        text: String,
        why: String,
    },

    #[error(
        "{shards} shards for {connections} connections: a shard without a connection would have nothing to do; write --shards {connections} or less (in a plan: shards = {connections})"
    )]
    MoreShardsThanConnections { shards: u32, connections: u32 },
    #[error(
        "`source` gives addresses to connect from, and target `{target}` is a Unix socket, which has none; leave source out, or measure it over TCP"
    )]
    SourceWithUnix { target: String },
    #[error(
        "`source` holds {source_address}, of another family than target `{target}`, which cannot be reached from there; give addresses of its family"
    )]
    SourceFamily {
        source_address: std::net::IpAddr,
        target: String,
    },
    #[error(
        "cpus of the {side}: CPU {cpu} is not there for this process (it may use {allowed}); write CPUs out of those, or --cpus any (in a plan: cpus = \"any\")"
    )]
    CpuNotThere {
        side: String,
        cpu: u32,
        allowed: String,
    },
    #[error(
        "the io-uring back end cannot be used here: {0}; write --backend epoll or --backend auto (in a plan: backend = \"epoll\" or backend = \"auto\")"
    )]
    IoUring(String),
    #[error(
        "the load comes from other hosts, and {what} cannot be had from there: {why}; {instead}"
    )]
    FromElsewhere {
        what: String,
        why: String,
        instead: &'static str,
    },
    #[error(transparent)]
    Kernel(#[from] super::KernelNameError),
    #[error(
        "`[quick]` holds a `[quick]` of its own, and a plan is shortened only once; take the inner table out"
    )]
    NestedQuick,
}

/// A count that must be at least 1.
pub(super) fn not_zero(
    key: &'static str,
    value: Option<u32>,
    default: u32,
    why: &'static str,
    example: &'static str,
) -> Result<u32, PlanError> {
    match value.unwrap_or(default) {
        0 => Err(PlanError::Zero { key, why, example }),
        count => Ok(count),
    }
}

/// Above 0, and a number.
pub(super) fn is_rate(rate: f64) -> bool {
    rate.is_finite() && rate > 0.0
}
