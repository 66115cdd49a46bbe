//! The columns of the backlog experiment's tables: times, the kernel's account, and what was slow.

use super::published::{Published, Reading};
use super::{Cell, Table};
use crate::columns::{Tabular, absent, figure_or_reason};
use crate::format::{self, exact};
use crate::summary::{Latency, Standing, Summary};

/// A column of the backlog experiment's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Clients,
    Total,
    Least,
    Amplification,
    Published,
    PublishedAmplification,
    Failed,
    ConnectP50,
    ConnectMax,
    FirstByteP50,
    FirstByteMax,
    Overflows,
    Drops,
    Cookies,
    Syns,
    SynAcks,
    Data,
    Depth,
    Requests,
    SlowConnects,
    BySyn,
    SlowFirstBytes,
    ByFinalAck,
    ByAcceptQueue,
    ByService,
    NotExplained,
}

/// How long it took, against the least possible and the published time.
pub(crate) const TIMES: &[Column] = {
    use Column::{Amplification, Clients, Failed, Least, Published, PublishedAmplification, Total};
    &[
        Clients,
        Total,
        Least,
        Amplification,
        Published,
        PublishedAmplification,
        Failed,
    ]
};

/// Latencies, and what the kernel counted.
pub(crate) const ACCOUNT: &[Column] = {
    use Column::{
        Clients, ConnectMax, ConnectP50, Cookies, Data, Depth, Drops, FirstByteMax, FirstByteP50,
        Overflows, SynAcks, Syns,
    };
    &[
        Clients,
        ConnectP50,
        ConnectMax,
        FirstByteP50,
        FirstByteMax,
        Overflows,
        Drops,
        Cookies,
        Syns,
        SynAcks,
        Data,
        Depth,
    ]
};

/// Slow requests by cause.
pub(crate) const SLOW: &[Column] = {
    use Column::{
        ByAcceptQueue, ByFinalAck, ByService, BySyn, Clients, NotExplained, Requests, SlowConnects,
        SlowFirstBytes,
    };
    &[
        Clients,
        Requests,
        SlowConnects,
        BySyn,
        SlowFirstBytes,
        ByFinalAck,
        ByAcceptQueue,
        ByService,
        NotExplained,
    ]
};

/// The parts of a table on a page that is wide enough for them: times and slow requests only as far as there is something to show.
pub(crate) fn parts(summary: &Summary<'_>, table: &Table<'_>) -> Vec<Vec<Column>> {
    let wanted = [TIMES, ACCOUNT, SLOW]
        .into_iter()
        .filter(|columns| has_something(table, columns));
    wanted.map(|columns| shown(summary, columns)).collect()
}

/// Whether a part says anything of this table: one of slow requests does not where none was slow.
pub(crate) fn has_something(table: &Table<'_>, columns: &[Column]) -> bool {
    let of_slow = |column: &Column| *column != Column::Clients && SLOW.contains(column);
    let has_figures = table.rows.iter().any(Column::has_figures);
    let is_of_slow = columns.iter().any(of_slow);
    let says_why = columns.iter().any(|column| column.says_why());
    says_why || (has_figures && (!is_of_slow || table.rows.iter().any(Cell::has_slow)))
}

/// Published columns only where something is published of some row.
pub(crate) fn shown(summary: &Summary<'_>, columns: &[Column]) -> Vec<Column> {
    let mut rows = summary.tables.iter().flat_map(|table| &table.rows);
    let has_published = rows.any(|row| row.published.is_some());
    let is_published =
        |column: &Column| matches!(column, Column::Published | Column::PublishedAmplification);
    let columns = columns.iter().copied();
    columns
        .filter(|column| has_published || !is_published(column))
        .collect()
}

impl Tabular for Column {
    type Row = Cell;
    type Context = ();

    fn heading(self, (): ()) -> &'static str {
        match self {
            Self::Clients => "clients\n× requests",
            Self::Total => "total time",
            Self::Least => "least\npossible",
            Self::Amplification => "amplified",
            Self::Published => "published\ntime",
            Self::PublishedAmplification => "published\namplified",
            Self::Failed => "failed",
            Self::ConnectP50 => "connect\np50",
            Self::ConnectMax => "connect\nmax",
            Self::FirstByteP50 => "first byte\np50",
            Self::FirstByteMax => "first byte\nmax",
            Self::Overflows => "over-\nflows",
            Self::Drops => "drops",
            Self::Cookies => "cookies\nsent",
            Self::Syns => "SYNs\nagain",
            Self::SynAcks => "SYN-ACKs\nagain",
            Self::Data => "data\nagain",
            Self::Depth => "queue\nmax",
            Self::Requests => "requests",
            Self::SlowConnects => "slow\nconnects",
            Self::BySyn => "by SYN\nretries",
            Self::SlowFirstBytes => "slow first\nbytes",
            Self::ByFinalAck => "by dropped\nfinal ACK",
            Self::ByAcceptQueue => "by accept\nqueue",
            Self::ByService => "by\nservice",
            Self::NotExplained => "not\nexplained",
        }
    }

    fn is_figure(self) -> bool {
        !matches!(self, Self::Total | Self::Failed)
    }

    fn cell(self, row: &Cell, (): ()) -> String {
        let count = |value: u64| figure(row, exact(value));
        match self {
            Self::Clients => row.clients_by_requests(),
            Self::Total => total(row),
            Self::Least => row
                .duration_least_ns
                .map_or_else(absent, |least| format::time_ns(least as f64)),
            Self::Amplification => row.amplification.map_or_else(absent, |by| {
                format!("{}{}×", compared(row), format::ratio(by))
            }),
            Self::Published => row.published.as_ref().map_or_else(absent, published),
            Self::PublishedAmplification => row
                .published
                .as_ref()
                .map_or_else(absent, published_amplification),
            Self::Failed if row.failures.total() > 0 => row.failures.words(),
            Self::Failed => figure(row, row.failures.words()),
            Self::ConnectP50 => latency(row, row.connect_latency, |found| found.latency_ns_p50),
            Self::ConnectMax => latency(row, row.connect_latency, |found| found.latency_ns_max),
            Self::FirstByteP50 => {
                latency(row, row.first_byte_latency, |found| found.latency_ns_p50)
            }
            Self::FirstByteMax => {
                latency(row, row.first_byte_latency, |found| found.latency_ns_max)
            }
            Self::Overflows => counted(row.kernel.overflows),
            Self::Drops => counted(row.kernel.drops),
            Self::Cookies => counted(row.kernel.cookies_sent),
            Self::Syns => counted(row.kernel.syn_retransmissions),
            Self::SynAcks => counted(row.kernel.syn_ack_retransmissions),
            Self::Data => counted(row.kernel.data_retransmissions),
            Self::Depth => counted(row.kernel.accept_queue_max),
            Self::Requests => count(row.requests),
            Self::SlowConnects => count(row.attribution.connects_slow),
            Self::BySyn => count(row.attribution.connects_by_syn_retransmission),
            Self::SlowFirstBytes => count(row.attribution.first_bytes_slow),
            Self::ByFinalAck => count(row.attribution.first_bytes_by_final_ack),
            Self::ByAcceptQueue => count(row.attribution.first_bytes_by_accept_queue),
            Self::ByService => count(row.attribution.first_bytes_by_service),
            Self::NotExplained => count(row.attribution.not_explained),
        }
    }

    /// What is wrong with a row stands with its total time.
    fn says_why(self) -> bool {
        self == Self::Total
    }

    fn standing(row: &Cell) -> Standing {
        row.standing
    }

    fn has_figures(row: &Cell) -> bool {
        row.duration_ns.is_some()
    }
}

/// A figure of the trials that the row stands on: without any it is none, and not 0.
fn figure(row: &Cell, text: String) -> String {
    if Column::has_figures(row) {
        text
    } else {
        absent()
    }
}

/// A trial that the generator held up took longer than the server needed.
fn bound(row: &Cell) -> &'static str {
    match row.standing {
        Standing::Qualified => "≤ ",
        Standing::Partial => "† ",
        Standing::Ranked => row.trials.mark(),
        _ => "",
    }
}

/// With failed requests in it, the total is not of the work that the least possible is of.
fn compared(row: &Cell) -> &'static str {
    match row.failures.total() {
        0 => bound(row),
        _ => "‡ ",
    }
}

fn total(row: &Cell) -> String {
    let time = row.duration_ns.as_ref().map(|found| {
        let spread = format::spread(found, format::time_ns);
        format!("{}{}{spread}", bound(row), format::time_ns(found.median))
    });
    figure_or_reason(time.clone(), row.standing, &row.failed_checks, time)
}

/// A median of counts: whole but where it lies between two.
fn counted(value: Option<f64>) -> String {
    value.map_or_else(absent, |value| {
        if value.fract() == 0.0 {
            exact(value as u64)
        } else {
            format!("{value:.1}")
        }
    })
}

/// Of those that came. What never came took longer than any of them, so that with failures in it the figure is a lower bound.
fn latency(row: &Cell, found: Option<Latency>, pick: impl Fn(&Latency) -> u64) -> String {
    let mark = if row.failures.total() > 0 { "≥ " } else { "" };
    found.map_or_else(absent, |found| {
        format!("{mark}{}", format::time_ns(pick(&found) as f64))
    })
}

/// `114 s, 8 closed`; `450 ms or 1.49 s`; `1.53 s – 7.70 s`.
pub(crate) fn published(published: &Published) -> String {
    let row = published.row;
    let times = row.times_ms.iter();
    let times: Vec<f64> = times.map(|&time| time as f64 * 1e6).collect();
    let mut text = several(&times, row.reading, format::time_ns);
    for (number, word) in [(row.closed, "closed"), (row.refused, "refused")] {
        if let Some(number) = number {
            text += &format!(", {number} {word}");
        }
    }
    text
}

fn published_amplification(published: &Published) -> String {
    let by = several(
        &published.amplifications,
        published.row.reading,
        format::ratio,
    );
    format!("{by}×")
}

fn several(values: &[f64], reading: Reading, words: impl Fn(f64) -> String) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match reading {
        Reading::Single => words(least),
        Reading::Either => format!("{} or {}", words(least), words(most)),
        Reading::Range | Reading::Runs => format!("{} – {}", words(least), words(most)),
    }
}
