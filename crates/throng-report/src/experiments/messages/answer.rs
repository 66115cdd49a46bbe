//! The answer where rows are compared by their messages: who leads, who is not told apart, who is last.

use throng_record::Limit;

use crate::answer::chosen;
use crate::format::{self, list, time_ns};
use crate::median::{Estimate, Spread};
use crate::ranking::to_sort_by;
use crate::ratio::Compared;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;

/// Of each of a few settings who leads, then who has no rank.
pub(crate) fn sentences(summary: &Summary<'_>) -> Vec<String> {
    let settings = summary.by_setting();
    let said = chosen(&settings).filter_map(|(heading, rows)| of_group(summary, heading, rows));
    said.chain(not_ranked(summary))
        .chain(of_chance(summary))
        .collect()
}

/// Times the leader's latency from which the last one's is worth a word.
const CLOSE: f64 = 1.05;
/// Names in a list before it is cut.
const NAMES: usize = 2;

/// The place that a sentence is about, where there is more than one.
fn at(summary: &Summary<'_>, heading: &str) -> String {
    match summary.plan.settings.len() {
        1 => String::new(),
        _ => format!("{heading}: "),
    }
}

/// `select, poll and 5 more`.
fn names<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let mut names: Vec<String> = rows.map(|row| row.target.clone()).collect();
    if names.len() > NAMES + 1 {
        let more = names.len() - NAMES;
        names.truncate(NAMES);
        names.push(format!("{more} more"));
    }
    list(&names)
}

/// Bounds alone are not put in an order.
fn of_bounds(rows: Vec<&Row>) -> Option<String> {
    let share = |row: &&Row| {
        row.rate
            .filter(|rate| !rate.is_kept)
            .map(|rate| rate.kept_share)
    };
    let missed = rows
        .iter()
        .copied()
        .filter_map(|row| Some((row, share(&row)?)));
    let closest = missed.max_by(|one, other| one.1.total_cmp(&other.1));
    Some(match (closest, rows.as_slice()) {
        (_, []) => return None,
        (Some((row, share)), [_]) => {
            format!("{} kept {:.1} % of the rate.", row.target, share * 100.0)
        }
        (Some((row, share)), _) => {
            let share = share * 100.0;
            format!(
                "nobody kept the rate; {} came closest with {share:.1} % of it.",
                row.target
            )
        }
        (None, rows) => {
            format!(
                "{} could do more than the generator asked.",
                names(rows.iter().copied())
            )
        }
    })
}

/// Rows that are ranked apart and may be better than whoever leads the ranked ones: what follows is then said of the others alone.
fn beyond<'a>(
    summary: &Summary<'_>,
    leader: &Row,
    bounds: impl Iterator<Item = &'a Row>,
) -> String {
    let lead = leading(summary, leader).unwrap_or_default();
    let may_be_better = |row: &&Row| {
        leading(summary, row).is_some_and(|bound| match summary.compared() {
            Compared::MessagesPerSecond | Compared::CapacityPerSecond => bound > lead,
            // Late sends make a latency look longer than it is; what missed its rate is not better.
            Compared::LatencyP99 => row.rate.is_none_or(|rate| rate.is_kept),
        })
    };
    let rows: Vec<&Row> = bounds.filter(may_be_better).collect();
    match (rows.as_slice(), summary.compared()) {
        ([], _) => String::new(),
        (rows, Compared::MessagesPerSecond | Compared::CapacityPerSecond) => format!(
            "{} gave as much as the generator could ask for ({} or more); of the others ",
            names(rows.iter().copied()),
            rows.iter()
                .find_map(|row| figure(summary, row))
                .unwrap_or_default()
        ),
        (rows, Compared::LatencyP99) => format!(
            "{} had a generator that sent late, and a p99 that is a bound; of the others ",
            names(rows.iter().copied())
        ),
    }
}

/// The only ranked row: how fast, at which latency, and what held it.
fn alone(summary: &Summary<'_>, row: &Row, figure: &str) -> String {
    let limit = match row.limit {
        Some(Limit::Server) => ", and the server was the limit",
        Some(Limit::Generator) => ", and the generator was the limit",
        _ => "",
    };
    // Where the latency is the figure, it is said already.
    let p99 = match (summary.compared(), row.value("latency_ns_p99")) {
        (Compared::MessagesPerSecond, Some(found)) => {
            format!(", with a p99 of {}", time_ns(found))
        }
        _ => String::new(),
    };
    format!("{} reached {figure}{p99}{limit}", row.target)
}

/// The figure that rows are ordered by.
fn leading(summary: &Summary<'_>, row: &Row) -> Option<f64> {
    Some(to_sort_by(summary.leading, row)?.abs())
}

fn of_group(summary: &Summary<'_>, heading: &str, rows: &[Row]) -> Option<String> {
    let at = at(summary, heading);
    let of_standing = |standing| {
        rows.iter()
            .filter(move |row: &&Row| row.standing == standing)
    };
    let ranked: Vec<&Row> = of_standing(Standing::Ranked).collect();
    let Some((&leader, others)) = ranked.split_first() else {
        return of_bounds(of_standing(Standing::Qualified).collect()).map(|said| at + &said);
    };
    let at = format!(
        "{at}{}",
        beyond(summary, leader, of_standing(Standing::Qualified))
    );
    let lead = figure(summary, leader)?;
    if others.is_empty() {
        return Some(format!("{at}{}.", alone(summary, leader, &lead)));
    }
    let (tied, behind): (Vec<&Row>, Vec<&Row>) = others
        .iter()
        .copied()
        .partition(|row| row.rank == leader.rank);
    let ahead = match tied.as_slice() {
        [] => format!("{} leads with {lead}", leader.target),
        _ if behind.is_empty() => format!(
            "{} leads with {lead}, not told apart from any other",
            leader.target
        ),
        tied => format!(
            "{} leads with {lead}, not told apart from {}",
            leader.target,
            names(tied.iter().copied())
        ),
    };
    let last = behind.last().and_then(|last| {
        let share = leading(summary, last)? / leading(summary, leader)?;
        let target = &last.target;
        Some(match summary.compared() {
            Compared::MessagesPerSecond | Compared::CapacityPerSecond => {
                format!("; {target} is last with {:.0} % of that", share * 100.0)
            }
            Compared::LatencyP99 if share < CLOSE => "; no other is far from that".to_owned(),
            Compared::LatencyP99 => {
                format!(
                    "; {target} is last with {} times that",
                    format::ratio(share)
                )
            }
        })
    });
    Some(format!("{at}{ahead}{}.", last.unwrap_or_default()))
}

/// Of single trials nobody knows the spread.
fn of_chance(summary: &Summary<'_>) -> Option<String> {
    let rates = summary.rows.iter();
    let rates = rates.filter_map(|row| row.estimate("messages_per_second"));
    let rates: Vec<Estimate> = rates.collect();
    let is_comparison = summary.plan.targets.len() > 1 && !rates.is_empty();
    let are_single = rates.iter().all(|rate| rate.spread == Spread::Single);
    (is_comparison && are_single)
        .then(|| "Each figure is one trial: small differences may be chance.".to_owned())
}

fn figure(summary: &Summary<'_>, row: &Row) -> Option<String> {
    let value = leading(summary, row)?;
    Some(match summary.compared() {
        Compared::MessagesPerSecond | Compared::CapacityPerSecond => {
            format!("{} {}", format::count(value), summary.unit)
        }
        Compared::LatencyP99 => format!("a p99 of {}", time_ns(value)),
    })
}

/// Rows without a rank, by why: what serves few is no worse than what is wrong, and is said apart.
fn not_ranked(summary: &Summary<'_>) -> Option<String> {
    let of = |wanted: &[Standing]| {
        let mut targets: Vec<&Row> = Vec::new();
        for row in summary
            .rows
            .iter()
            .filter(|row| wanted.contains(&row.standing))
        {
            if !targets.iter().any(|known| known.target == row.target) {
                targets.push(row);
            }
        }
        targets
    };
    let groups = [
        (
            "only a part was served or answered",
            of(&[Standing::Partial]),
        ),
        ("failed a check", of(&[Standing::Invalid])),
        ("could not run", of(&[Standing::Failed])),
    ];
    let some = groups.into_iter().filter(|(_, rows)| !rows.is_empty());
    let parts: Vec<String> = some
        .map(|(why, rows)| format!("{} ({why})", names(rows.into_iter())))
        .collect();
    (!parts.is_empty()).then(|| format!("Not ranked somewhere: {}.", parts.join("; ")))
}
