//! What became of a row, in the words of its cells: its throughput with a mark, why it has none, and how it compares.

use throng_findings::checks;
use throng_record::{CheckKind, Limit};

use crate::format;
use crate::rate::share_and_p99;
use crate::ratio::{Bound, Compared, Ratio};
use crate::row::Row;
use crate::standing::Standing;
use crate::table::absent;

/// The mark of a bound. An open loop's throughput is no bound, being given: there a qualified row has a mark of its own.
fn mark(row: &Row, compared: Compared) -> &'static str {
    let is_disturbed = row.trials.disturbed > 0;
    match (row.standing, compared) {
        (Standing::Qualified, Compared::MessagesPerSecond | Compared::CapacityPerSecond) => {
            if is_disturbed {
                "~ ≥ "
            } else {
                "≥ "
            }
        }
        (Standing::Qualified, Compared::LatencyP99) if is_disturbed => "~ * ",
        (Standing::Qualified, Compared::LatencyP99) => "* ",
        (Standing::Invalid | Standing::Failed, _) => "✗ ",
        (Standing::Ranked, _) => row.trials.mark(),
        (Standing::Partial | Standing::Spared | Standing::NotMeasured, _) => "",
    }
}

/// The throughput with its spread, or what is wrong with the row.
pub(crate) fn throughput(row: &Row, compared: Compared) -> String {
    let mark = mark(row, compared);
    let figure = row.estimate("messages_per_second").map(|found| {
        if let Some(rate) = row.rate.filter(|rate| !rate.is_kept) {
            return rate.not_kept();
        }
        let spread = format::spread(&found, format::count);
        format!("{mark}{}{spread}", format::rate(found.median))
    });
    figure_or_reason(
        figure,
        row.standing,
        &row.failed_checks,
        row.part_in_words(),
    )
}

/// The rate that a search found, with its spread; that there is none, or what is wrong with the row.
pub(crate) fn capacity(row: &Row) -> String {
    let mark = mark(row, Compared::CapacityPerSecond);
    let found = row.estimate("capacity_per_second").map(|found| {
        let spread = format::spread(&found, format::count);
        format!("{mark}{}{spread}", format::rate(found.median))
    });
    figure_or_reason(
        found.or_else(|| Some("none".to_owned())),
        row.standing,
        &row.failed_checks,
        row.part_in_words(),
    )
}

/// The throughput in short, in an open loop how much of its rate was kept and at what latency, where a table has one column for each setting.
pub(crate) fn short_throughput(row: &Row, compared: Compared) -> String {
    let mark = mark(row, compared);
    if compared == Compared::CapacityPerSecond && !row.figures.is_empty() {
        return row.value(compared.key()).map_or_else(
            || "none".to_owned(),
            |found| format!("{mark}{}", format::rate(found)),
        );
    }
    match (row.value("messages_per_second"), row.standing) {
        (Some(found), _) => match (&row.rate, row.value("latency_ns_p99")) {
            // Of a rate that is kept, replies per second say nothing but the rate.
            (Some(rate), Some(p99_ns)) => share_and_p99(rate, p99_ns, mark),
            _ => format!("{mark}{}", format::rate(found)),
        },
        (None, Standing::Partial) => row.part.map_or_else(absent, |part| part.numbers()),
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
        0 => checks::kind(first).title.to_owned(),
        more => format!("{}, {more} more", checks::kind(first).title),
    }
}

/// The mark of a ratio that may as well be 1.
const NO_DIFFERENCE: &str = "≈ ";

/// Against the baseline.
pub(crate) fn against_baseline(row: &Row) -> String {
    match &row.ratio_to_baseline {
        _ if row.is_baseline => "baseline".to_owned(),
        None => absent(),
        Some(found) => ratio(found),
    }
}

fn ratio(ratio: &Ratio) -> String {
    let mark = match ratio.bound {
        _ if ratio.shows_no_difference() => NO_DIFFERENCE,
        Bound::Exact => "",
        Bound::AtLeast => "≥ ",
        Bound::AtMost => "≤ ",
    };
    let spread = format::spread(&ratio.estimate, format::ratio);
    format!("{mark}{}×{spread}", format::ratio(ratio.estimate.median))
}
