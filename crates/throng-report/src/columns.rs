//! What every table is made from: the columns of its rows. Here are those of the echo and of the churn experiment.

use throng_record::plan::Experiment;
use throng_record::{CheckKind, Limit};

use crate::checks;
use crate::format::{self, ABSENT};
use crate::rate::{self, share_and_p99};
use crate::ratio::{Bound, Compared, Ratio};
use crate::summary::{Cycles, Latency, Row, Standing, Summary};

/// A column of some table: all that a renderer needs to know of it.
pub(crate) trait Tabular: Copy {
    /// What a line of the table shows.
    type Row;
    /// What a heading or a cell depends on beside its row.
    type Context: Copy;

    /// The heading, in one or two lines.
    fn heading(self, context: Self::Context) -> &'static str;
    /// Whether the cells are figures, which line up on the right.
    fn is_figure(self) -> bool;
    /// The cell of a row, in one or two lines.
    fn cell(self, row: &Self::Row, context: Self::Context) -> String;
    /// Whether it says what is wrong with a row: parts of a table without such a column leave out rows without figures.
    fn says_why(self) -> bool;
    /// What the figures of a row are worth.
    fn standing(row: &Self::Row) -> Standing;
    /// Whether a row has figures.
    fn has_figures(row: &Self::Row) -> bool;
}

/// A column of these tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Target,
    Throughput,
    /// The same where every message has a connection of its own.
    Cycles,
    Ratio,
    Published,
    P50,
    P90,
    P99,
    P999,
    Max,
    ConnectP50,
    ConnectP99,
    FirstByteP50,
    FirstByteP99,
    Failed,
    TimeWait,
    ServerCpu,
    /// The same where every message has a connection of its own.
    ServerCpuOfCycle,
    ServerMemory,
    Limit,
}

impl Column {
    /// Every column of the echo experiment, in the order of the report.
    pub(crate) const ALL: [Self; 12] = [
        Self::Target,
        Self::Throughput,
        Self::Ratio,
        Self::Published,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::Max,
        Self::ServerCpu,
        Self::ServerMemory,
        Self::Limit,
    ];
}

/// The columns of the churn experiment's tables.
pub(crate) const OF_CYCLES: [Column; 13] = {
    use Column::{
        ConnectP50, ConnectP99, Cycles, Failed, FirstByteP50, FirstByteP99, Limit, P50, P99, Ratio,
        ServerCpuOfCycle, Target, TimeWait,
    };
    [
        Target,
        Cycles,
        Ratio,
        P50,
        P99,
        ConnectP50,
        ConnectP99,
        FirstByteP50,
        FirstByteP99,
        ServerCpuOfCycle,
        Limit,
        TimeWait,
        Failed,
    ]
};

/// All columns of an experiment that has rows of this kind.
pub(crate) fn all(experiment: Experiment) -> &'static [Column] {
    match experiment {
        Experiment::Churn => &OF_CYCLES,
        Experiment::Echo
        | Experiment::Backlog
        | Experiment::Accept
        | Experiment::Fanout
        | Experiment::Hold => &Column::ALL,
    }
}

/// Of these the columns that have something to say: without a second target there is nothing to compare, and most figures have no
/// published one beside them.
pub(crate) fn shown(summary: &Summary<'_>, columns: &[Column]) -> Vec<Column> {
    let compared = summary.plan.targets.len() > 1;
    let published = summary.rows().any(|row| row.published.is_some());
    let is_shown = |column: &Column| match column {
        Column::Ratio => compared,
        Column::Published => published,
        _ => true,
    };
    columns.iter().copied().filter(is_shown).collect()
}

/// What the overview of a sweep shows of each row.
pub(crate) fn overview_title(summary: &Summary<'_>) -> &'static str {
    match summary.compared() {
        Compared::MessagesPerSecond => rate_unit(summary.plan.experiment),
        Compared::LatencyP99 => "share of the rate kept, and p99,",
    }
}

/// What the throughput of such a row counts.
pub(crate) fn rate_unit(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Churn => "cycles/s",
        Experiment::Echo
        | Experiment::Backlog
        | Experiment::Accept
        | Experiment::Fanout
        | Experiment::Hold => "messages/s",
    }
}

impl Tabular for Column {
    type Row = Row;
    type Context = Compared;

    fn heading(self, compared: Compared) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Throughput => "messages/s",
            Self::Cycles => "cycles/s",
            Self::Ratio => match compared {
                Compared::MessagesPerSecond => "vs baseline",
                Compared::LatencyP99 => "p99 vs baseline",
            },
            Self::Published => "published",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Max => "max",
            Self::ConnectP50 => "connect\np50",
            Self::ConnectP99 => "connect\np99",
            Self::FirstByteP50 => "first byte\np50",
            Self::FirstByteP99 => "first byte\np99",
            Self::Failed => "failed",
            Self::TimeWait => "TIME_WAIT\nleft",
            Self::ServerCpu => "server CPU\n/message",
            Self::ServerCpuOfCycle => "server CPU\n/cycle",
            Self::ServerMemory => "server memory\n/connection",
            Self::Limit => "limit",
        }
    }

    fn is_figure(self) -> bool {
        !matches!(
            self,
            Self::Target
                | Self::Throughput
                | Self::Cycles
                | Self::Ratio
                | Self::Failed
                | Self::Limit
        )
    }

    fn cell(self, row: &Row, compared: Compared) -> String {
        match self {
            Self::Target => row.target.clone(),
            Self::Throughput | Self::Cycles => throughput(row, compared),
            Self::Ratio if row.is_baseline => "baseline".to_owned(),
            Self::Ratio => row.ratio_to_baseline.as_ref().map_or_else(absent, ratio),
            Self::Published => row.published.map_or_else(absent, |found| {
                format::rate(found.published_messages_per_second)
            }),
            Self::P50 => latency(row, |found| found.latency_ns_p50),
            Self::P90 => latency(row, |found| found.latency_ns_p90),
            Self::P99 => latency(row, |found| found.latency_ns_p99),
            Self::P999 => latency(row, |found| found.latency_ns_p99_9),
            Self::Max => latency(row, |found| found.latency_ns_max),
            Self::ConnectP50 => of_cycles(row, |one| Some(one.connect_latency?.latency_ns_p50)),
            Self::ConnectP99 => of_cycles(row, |one| Some(one.connect_latency?.latency_ns_p99)),
            Self::FirstByteP50 => {
                of_cycles(row, |one| Some(one.first_byte_latency?.latency_ns_p50))
            }
            Self::FirstByteP99 => {
                of_cycles(row, |one| Some(one.first_byte_latency?.latency_ns_p99))
            }
            Self::Failed => row
                .cycles
                .as_ref()
                .map_or_else(absent, |cycles| cycles.failures.words()),
            Self::TimeWait => row.cycles.as_ref().map_or_else(absent, time_wait),
            Self::ServerCpu | Self::ServerCpuOfCycle => row
                .server_cpu_per_message_ns
                .map_or_else(absent, format::time_ns),
            Self::ServerMemory => row
                .server_memory_per_connection_bytes
                .map_or_else(absent, format::bytes),
            Self::Limit => row
                .limit
                .map_or_else(absent, |limit| limit_word(limit).to_owned()),
        }
    }

    /// What is wrong with a row stands with its throughput.
    fn says_why(self) -> bool {
        matches!(self, Self::Throughput | Self::Cycles)
    }

    fn standing(row: &Row) -> Standing {
        row.standing
    }

    fn has_figures(row: &Row) -> bool {
        row.messages_per_second.is_some()
    }
}

/// The mark of a bound. An open loop's throughput is no bound, being given: there a qualified row has a mark of its own.
fn mark(row: &Row, compared: Compared) -> &'static str {
    let is_disturbed = row.trials.disturbed > 0;
    match (row.standing, compared) {
        (Standing::Qualified, Compared::MessagesPerSecond) if is_disturbed => "~ ≥ ",
        (Standing::Qualified, Compared::MessagesPerSecond) => "≥ ",
        (Standing::Qualified, Compared::LatencyP99) if is_disturbed => "~ * ",
        (Standing::Qualified, Compared::LatencyP99) => "* ",
        (Standing::Invalid | Standing::Failed, _) => "✗ ",
        (Standing::Ranked, _) => row.trials.mark(),
        (Standing::Partial | Standing::Spared | Standing::NotMeasured, _) => "",
    }
}

/// The throughput in short, in an open loop how much of its rate was kept and at what latency, where a table has one column for each setting.
pub(crate) fn short_throughput(row: &Row, compared: Compared) -> String {
    let mark = mark(row, compared);
    match (&row.messages_per_second, row.standing) {
        (Some(found), _) => match (&row.rate, &row.latency) {
            // Of a rate that is kept, replies per second say nothing but the rate.
            (Some(rate), Some(latency)) => share_and_p99(rate, latency.latency_ns_p99, mark),
            _ => format!("{mark}{}", format::rate(found.median)),
        },
        (None, Standing::Partial) => part(row).map_or_else(absent, |(_, part)| part),
        (None, Standing::Invalid) => format!("{mark}invalid"),
        (None, Standing::Failed) => format!("{mark}failed"),
        (None, Standing::Spared) => "not tried".to_owned(),
        (None, _) => absent(),
    }
}

/// What bounded the throughput, as the tables name it.
pub(crate) fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::Server => "server",
        Limit::Generator => "generator",
        Limit::Both => "both",
        Limit::Rate => "rate",
        Limit::Waiting => "waiting",
        Limit::OtherPrograms => "others",
        Limit::ReadLate => "read late",
        Limit::Unknown => "unknown",
    }
}

pub(crate) fn absent() -> String {
    ABSENT.to_owned()
}

fn throughput(row: &Row, compared: Compared) -> String {
    let mark = mark(row, compared);
    let figure = row.messages_per_second.as_ref().map(|found| {
        if let Some(rate) = row.rate.filter(|rate| !rate.is_kept) {
            return rate.not_kept();
        }
        let spread = format::spread(found, format::count);
        format!("{mark}{}{spread}", format::rate(found.median))
    });
    let part = part(row).map(|(verb, part)| format!("{verb} {part}"));
    figure_or_reason(figure, row.standing, &row.failed_checks, part)
}

/// Of a row whose figures would be those of a part: `serves`, `120 of 1,000`.
fn part(row: &Row) -> Option<(&'static str, String)> {
    let answered = row.answered_of.map(|(answered, all)| {
        let of_all = format!("{} of {}", format::exact(answered), format::exact(all));
        ("answered", of_all)
    });
    let served = row.serves_of;
    answered.or_else(|| served.map(|(served, all)| ("serves", format::of(served, all))))
}

/// The figure of a row that has one, or why it has none.
pub(crate) fn figure_or_reason(
    figure: Option<String>,
    standing: Standing,
    failed_checks: &[CheckKind],
    part: Option<String>,
) -> String {
    match standing {
        Standing::Ranked | Standing::Qualified => figure.unwrap_or_else(absent),
        Standing::Partial => part.unwrap_or_else(absent),
        Standing::Invalid => format!("✗ invalid: {}", reasons(failed_checks)),
        Standing::Failed => "✗ failed".to_owned(),
        Standing::Spared => "not tried".to_owned(),
        Standing::NotMeasured => "not measured".to_owned(),
    }
}

/// The most frequent reason in full, the others as a number: the remarks under the table name them all.
fn reasons(failed_checks: &[CheckKind]) -> String {
    let Some((&first, others)) = failed_checks.split_first() else {
        return "no reason recorded".to_owned();
    };
    match others.len() {
        0 => checks::words(first).to_owned(),
        more => format!("{}, {more} more", checks::words(first)),
    }
}

/// The mark of a ratio that may as well be 1.
pub(crate) const NO_DIFFERENCE: &str = "≈ ";

fn ratio(ratio: &Ratio) -> String {
    let mark = match ratio.bound {
        Bound::Exact => "",
        Bound::AtLeast => "≥ ",
        Bound::AtMost => "≤ ",
    };
    let mark = if ratio.shows_no_difference() {
        NO_DIFFERENCE
    } else {
        mark
    };
    let spread = format::spread(&ratio.estimate, format::ratio);
    format!("{mark}{}×{spread}", format::ratio(ratio.estimate.median))
}

/// With a word where there was no room for more.
fn time_wait(cycles: &Cycles) -> String {
    let full = cycles.time_wait_overflows.is_some_and(|lost| lost > 0.0);
    cycles.time_wait_sockets.map_or_else(absent, |sockets| {
        let word = if full { "\nfull" } else { "" };
        format!("{}{word}", format::exact(sockets.round() as u64))
    })
}

fn of_cycles(row: &Row, pick: impl Fn(&Cycles) -> Option<u64>) -> String {
    let found = row.cycles.as_ref().and_then(pick);
    found.map_or_else(absent, |found| format::time_ns(found as f64))
}

fn latency(row: &Row, pick: impl Fn(&Latency) -> u64) -> String {
    let found = row.latency.as_ref();
    found.map_or_else(absent, |found| {
        rate::latency(pick(found), row.rate.as_ref())
    })
}
