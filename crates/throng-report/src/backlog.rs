//! What a run of the backlog experiment says: a table for each target and each of whatever is swept beside clients and requests, a row for
//! each number of clients × requests.
//!
//! **Which trials a row stands on** is decided as for every experiment (see [`crate::summary`]). Times are medians over these trials,
//! latencies those of all their connections merged. The kernel's counts are medians over the trials, since they belong to a run as a whole;
//! failed and slow requests are sums over the trials, since one in a thousand counts.
//!
//! **What was not seen is absent**, and never 0: counters of the listener's side where the listener is elsewhere, `SYN-ACK`s where no packet
//! socket saw them.

pub(crate) mod cell;
pub(crate) mod columns;
pub(crate) mod notes;
pub mod published;

use serde::Serialize;
use throng_record::plan::Experiment;
use throng_record::{Attribution, CheckKind, RunRecord, Setting, Stop, SweptValue, TargetRecord};

use published::Published;

use crate::format::{ABSENT, exact};
use crate::median::Estimate;
use crate::summary::{Latency, Standing, TrialCounts, target_name};

/// One target at one backlog, and at one value of whatever else is swept beside clients and requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table<'a> {
    /// Name of the target.
    pub target: &'a str,
    /// What tells it from the others: `iterative · backlog 5`.
    pub heading: String,
    /// The backlog asked of the server; absent where it takes none: a command of the user's, a server that runs already.
    pub backlog_asked: Option<u32>,
    /// Values of the swept keys but for clients and requests.
    pub swept: Vec<&'a SweptValue>,
    /// A row for each number of clients and requests, in the plan's order.
    pub rows: Vec<Cell>,
}

/// One target at one setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Index into the plan's settings.
    pub setting: u32,
    /// Clients, each with one request at a time.
    pub clients: u32,
    /// Requests of each client; absent where the plan ends its trials otherwise.
    pub requests_each: Option<u64>,
    /// What the figures are worth.
    pub standing: Standing,
    /// How many trials ended how.
    pub trials: TrialCounts,
    /// Checks that invalid trials failed, the most frequent first.
    pub failed_checks: Vec<CheckKind>,
    /// Where figures of a part stand: how many requests were answered in its trials, and of how many.
    pub answered_of: Option<(u64, u64)>,
    /// From the first connect to the end of the last request.
    pub duration_ns: Option<Estimate>,
    /// For a row without figures: median of its invalid trials, for diagnosis and never for comparison.
    pub invalid_duration_ns: Option<f64>,
    /// The least that it could have been.
    pub duration_least_ns: Option<u64>,
    /// The one ÷ the other; comparable only where no request failed, and absent below 1, where some did.
    pub amplification: Option<f64>,
    /// What was published of this cell.
    pub published: Option<Published>,
    /// From the `connect` call to the established connection.
    pub connect_latency: Option<Latency>,
    /// From there to the first byte of the reply.
    pub first_byte_latency: Option<Latency>,
    /// From there to its last byte.
    pub reply_latency: Option<Latency>,
    /// Requests begun in all trials of the row.
    pub requests: u64,
    /// Those that failed, by kind; of a row without figures those of all its trials.
    pub failures: Failures,
    /// Slow and failed ones by cause.
    pub attribution: Attribution,
    /// What the kernel counted; medians over the trials.
    pub kernel: KernelAccount,
    /// Histograms of the record that could not be read back, and are therefore missing from the figures above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// Requests that failed, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// The connect was answered by RST.
    pub refused: u64,
    /// Reset once connected.
    pub reset: u64,
    /// Closed by the server without a whole answer.
    pub closed: u64,
    /// No connection, or no answer, within its time.
    pub timed_out: u64,
    /// No local port was left for the connect.
    pub no_port: u64,
    /// Answered, and not rightly: wrong or excess bytes, another HTTP status.
    pub wrong: u64,
    /// Anything else.
    pub other: u64,
}

/// What the kernel and the observers counted in one trial; absent where it was not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct KernelAccount {
    /// `ListenOverflows`: SYNs and final ACKs that found the accept queue full.
    pub overflows: Option<f64>,
    /// `ListenDrops`: those, and drops for other reasons.
    pub drops: Option<f64>,
    /// `SyncookiesSent`.
    pub cookies_sent: Option<f64>,
    /// SYNs sent again, by the clients' `TCP_INFO`.
    pub syn_retransmissions: Option<f64>,
    /// SYN-ACKs sent again, as they were observed.
    pub syn_ack_retransmissions: Option<f64>,
    /// Segments of data sent again by clients, by their `TCP_INFO`.
    pub data_retransmissions: Option<f64>,
    /// The greatest length of the accept queue.
    pub accept_queue_max: Option<f64>,
    /// The backlog in force, as found.
    pub backlog_in_force: Option<u32>,
}

impl Failures {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.named().iter().map(|(number, _)| number).sum()
    }

    /// Those that no column of the records' figures is for.
    pub(crate) const fn without_column(&self) -> u64 {
        self.no_port + self.wrong + self.other
    }

    /// `8 closed, 2 refused`; 0 where none did.
    pub(crate) fn words(&self) -> String {
        let some: Vec<String> = self
            .named()
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| format!("{} {word}", exact(number)))
            .collect();
        if some.is_empty() {
            "0".to_owned()
        } else {
            some.join(", ")
        }
    }

    /// Each kind with its word, the order of the tables.
    pub(crate) fn named(&self) -> [(u64, &'static str); 7] {
        [
            (self.refused, "refused"),
            (self.reset, "reset"),
            (self.closed, "closed"),
            (self.timed_out, "timed out"),
            (self.no_port, "without a port"),
            (self.wrong, "answered wrongly"),
            (self.other, "other"),
        ]
    }
}

impl Cell {
    /// Whether anything failed or was slow.
    pub(crate) fn has_slow(&self) -> bool {
        let has_failed = self.duration_ns.is_some() && self.failures.total() > 0;
        has_failed || self.attribution != Attribution::default()
    }

    /// `32 × 5`.
    pub(crate) fn clients_by_requests(&self) -> String {
        clients_by_requests(self.clients, self.requests_each)
    }
}

pub(crate) fn clients_by_requests(clients: u32, requests_each: Option<u64>) -> String {
    let each = requests_each.map_or_else(|| ABSENT.to_owned(), |each| each.to_string());
    format!("{clients} × {each}")
}

/// The tables of a run; none of another experiment.
pub(crate) fn tables(record: &RunRecord) -> Vec<Table<'_>> {
    if record.plan.experiment != Experiment::Backlog {
        return Vec::new();
    }
    let targets = (0..).zip(&record.plan.targets);
    targets
        .flat_map(|(index, _)| tables_of(record, index))
        .collect()
}

fn tables_of(record: &RunRecord, target: u32) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let takes_backlog = record
        .plan
        .targets
        .get(target as usize)
        .is_some_and(TargetRecord::takes_backlog);
    for (index, setting) in (0..).zip(&record.plan.settings) {
        let swept: Vec<&SweptValue> = setting
            .swept
            .iter()
            .filter(|swept| !is_of_rows(&swept.key))
            .collect();
        let row = cell::of(record, target, index);
        // Clients and requests need not be the keys that vary fastest.
        if let Some(table) = tables.iter_mut().find(|table| table.swept == swept) {
            table.rows.push(row);
        } else {
            tables.push(Table {
                target: target_name(&record.plan, target),
                heading: String::new(),
                backlog_asked: takes_backlog.then_some(setting.backlog),
                swept,
                rows: vec![row],
            });
        }
    }
    for table in &mut tables {
        table.heading = heading(table);
    }
    tables
}

/// Whether the key is told by the rows, and not by the tables.
pub(crate) fn is_of_rows(key: &str) -> bool {
    matches!(key, "clients" | "connections") || is_requests(key)
}

/// Whether the key says how many requests there are.
pub(crate) fn is_requests(key: &str) -> bool {
    matches!(key, "requests" | "requests-total")
}

/// Requests of each client.
pub(crate) fn requests_each(setting: &Setting) -> Option<u64> {
    match setting.phases.exchange()?.stop {
        Stop::MessagesEach(each) => Some(each),
        Stop::Messages(_) | Stop::DurationNs(_) | Stop::Confidence { .. } => None,
    }
}

impl Table<'_> {
    /// The backlog as found; of rows that differ, the first that is not as asked.
    pub(crate) fn backlog_in_force(&self) -> Option<u32> {
        let all = || {
            self.rows
                .iter()
                .filter_map(|row| row.kernel.backlog_in_force)
        };
        let differs = |found: &u32| self.backlog_asked.is_some_and(|asked| asked != *found);
        all().find(differs).or_else(|| all().next())
    }
}

/// The target and its backlog come first, whether swept or not; of a server that takes none, the backlog as found.
fn heading(table: &Table<'_>) -> String {
    let backlog = match (table.backlog_asked, table.backlog_in_force()) {
        (None, None) => None,
        (None, Some(found)) => Some(format!("backlog {found} as found")),
        (Some(asked), Some(found)) if asked != found => {
            Some(format!("backlog {asked} asked, {found} in force"))
        }
        (Some(asked), _) => Some(format!("backlog {asked}")),
    };
    let others = table.swept.iter().filter(|swept| swept.key != "backlog");
    std::iter::once(table.target.to_owned())
        .chain(backlog)
        .chain(others.map(|swept| format!("{} {}", swept.key, swept.value)))
        .collect::<Vec<_>>()
        .join(" · ")
}
