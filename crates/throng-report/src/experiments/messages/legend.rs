//! How to read the columns of messages.

use throng_record::Limit;

use super::notes::is_of_requests;
use crate::legend::{NOT_KEPT, spreads};
use crate::outcome::limit_word;
use crate::ratio::Compared;
use crate::row::{PartKind, Row};
use crate::standing::Standing;
use crate::summary::Summary;

/// How to read the columns.
pub(crate) fn lines(summary: &Summary<'_>) -> Vec<String> {
    let rows = || summary.rows.iter();
    let is_churn = is_of_requests(summary);
    let mut lines = vec![spreads(&summary.rows, |key| key == "messages_per_second")];
    let baseline = summary.baseline;
    if summary.plan.targets.len() > 1 {
        lines.push(match summary.compared() {
            Compared::MessagesPerSecond | Compared::CapacityPerSecond => format!(
                "vs baseline: throughput ÷ that of {baseline} in the same repeat; median of these ratios.{}", no_difference(summary)
            ),
            Compared::LatencyP99 => format!(
                "p99 vs baseline: p99 ÷ that of {baseline} in the same repeat, less is better; median of these ratios.{} Rows are in order of p99, since the rate is given.", no_difference(summary)
            ),
        });
    }
    if rows().any(|row| row.value("latency_ns_p50").is_some()) {
        lines.push(match summary.compared() {
            Compared::LatencyP99 if is_churn => "p50, p99: of whole cycles, from the moment each was due to the last byte of its reply.",
            Compared::LatencyP99 => "p50 … max: latency of all messages, from the moment each was due to the last byte of its reply.",
            Compared::MessagesPerSecond if is_churn => "p50, p99: of whole cycles, from the connect call to the last byte of the reply.",
            Compared::MessagesPerSecond | Compared::CapacityPerSecond => "p50 … max: latency of all messages, from the send to the last byte of the reply.",
        }.to_owned());
    }
    if is_churn {
        lines.push("connect: from the connect call to the established connection. first byte: from there to the first byte of the reply. TIME_WAIT left: sockets of either side in that state when a trial ends. failed: cycles of all repeats together, by kind.".to_owned());
    }
    if summary.rows.iter().any(|row| row.published.is_some()) {
        lines.push("published: of that server as it was then, asked the same; the first run beside a measurement without warm-up, the median of the later ones beside one with. What is different there stands under the published figures.".to_owned());
    }
    lines.extend(marks(summary));
    lines.extend(partial(summary));
    lines.extend(limits(summary));
    lines.retain(|line| !line.is_empty());
    lines
}

fn no_difference(summary: &Summary<'_>) -> &'static str {
    let mut ratios = summary.rows.iter().filter_map(|row| row.ratio_to_baseline);
    if ratios.any(|ratio| ratio.shows_no_difference()) {
        " ≈: no difference seen, the interval holds 1."
    } else {
        ""
    }
}

fn marks(summary: &Summary<'_>) -> Vec<String> {
    let has_missed = |row: &Row| row.rate.is_some_and(|rate| !rate.is_kept);
    let mut qualified = summary
        .rows
        .iter()
        .filter(|row| row.standing == Standing::Qualified);
    let marked = match summary.compared() {
        Compared::MessagesPerSecond | Compared::CapacityPerSecond => qualified
            .next()
            .map(|_| "≥: at least this much, the generator could give no more; ranked apart."),
        Compared::LatencyP99 => qualified
            .find(|row| !has_missed(row))
            .map(|_| "*: stands with a reservation, see above; ranked apart."),
    };
    let missed = summary.rows.iter().any(has_missed).then_some(NOT_KEPT);
    let lines = marked.into_iter().chain(missed);
    lines.map(str::to_owned).collect()
}

fn partial(summary: &Summary<'_>) -> Option<String> {
    let mut rows = summary
        .rows
        .iter()
        .filter(|row| row.standing == Standing::Partial);
    let row = rows.next()?;
    let words = if row.part.is_some_and(|part| part.done == PartKind::Answered) {
        "answered k of N: the other requests failed as the kernel's account explains (see the findings and the record); percentiles of the answered alone would not be those of all, so nothing is ranked."
    } else {
        "serves k of N: by its design it serves k connections at once, and the others wait in its accept queue; nothing is wrong, and nothing to rank."
    };
    Some(words.to_owned())
}

/// Explains the limits that occur.
fn limits(summary: &Summary<'_>) -> Option<String> {
    let meanings = [
        (Limit::Server, "it used up its CPUs"),
        (Limit::Generator, "it used up its CPUs, the server did not"),
        (Limit::Both, "server and generator used up theirs"),
        (Limit::Rate, "the open loop's rate, and the server kept up"),
        (Limit::Waiting, "neither side was busy"),
        (
            Limit::OtherPrograms,
            "neither side was busy, and other programs used the CPUs that one of them waited for",
        ),
        (
            Limit::ReadLate,
            "the CPU time of one side was read too late",
        ),
        (
            Limit::Unknown,
            "the server's CPU time is not visible from here",
        ),
    ];
    let occurring: Vec<String> = meanings
        .into_iter()
        .filter(|(limit, _)| summary.rows.iter().any(|row| row.limit == Some(*limit)))
        .map(|(limit, meaning)| format!("{} = {meaning}", limit_word(limit)))
        .collect();
    (!occurring.is_empty()).then(|| format!("limit: {}.", occurring.join("; ")))
}
