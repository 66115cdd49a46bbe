//! The answer to a run's question, in two or three sentences that are computed from its figures.
//!
//! Who leads and by how much, who cannot be told apart, what the figures stand on. Nothing is said that the tables do not hold. Left out on purpose: why; that
//! is what findings say.

use throng_record::Limit;
use throng_record::plan::Experiment;

use crate::backlog::{self, failures};
use crate::crowd;
use crate::echo::by_setting;
use crate::fanout;
use crate::format::{self, exact, list, plural, time_ns};
use crate::hold;
use crate::leading::Leading;
use crate::median::{Estimate, Spread};
use crate::overview::rate_unit;
use crate::phases::PhaseKind;
use crate::ratio::Compared;
use crate::row::Row;
use crate::summary::{Standing, Summary};
use crate::table::absent;

/// Settings of a sweep of which a sentence each is said: the first, the middle and the last.
const SETTINGS: usize = 3;
/// Times the leader's latency from which the last one's is worth a word.
const CLOSE: f64 = 1.05;
/// Names in a list before it is cut.
const NAMES: usize = 2;

/// The sentences; none where nothing was measured.
pub(crate) fn sentences(summary: &Summary<'_>) -> Vec<String> {
    let settings = by_setting(summary);
    match summary.plan.experiment {
        Experiment::Echo | Experiment::Churn => {
            let chosen = chosen(&settings);
            let said = chosen.filter_map(|(heading, rows)| of_group(summary, heading, rows));
            said.chain(not_ranked(summary))
                .chain(of_chance(summary))
                .collect()
        }
        Experiment::Backlog => of_backlog(&backlog::tables(summary)),
        Experiment::Accept => settings
            .last()
            .and_then(|(_, rows)| of_accept(rows))
            .into_iter()
            .collect(),
        Experiment::Fanout => chosen(&settings)
            .filter_map(|(heading, rows)| of_fanout(heading, rows))
            .collect(),
        Experiment::Hold => {
            // Of each target its most connections, which follow the fewer.
            let rows = hold::by_target(summary);
            let of_targets = rows.chunk_by(|one, next| one.target == next.target);
            let most = of_targets.filter_map(|rows| of_hold(rows.last()?));
            most.take(SETTINGS).collect()
        }
    }
}

/// The first, the middle and the last.
fn chosen<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let last = all.len().saturating_sub(1);
    let mut wanted = [0, last / 2, last].to_vec();
    wanted.dedup();
    wanted.into_iter().filter_map(|index| all.get(index))
}

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
            Compared::MessagesPerSecond => bound > lead,
            // Late sends make a latency look longer than it is; what missed its rate is not better.
            Compared::LatencyP99 => row.rate.is_none_or(|rate| rate.is_kept),
        })
    };
    let rows: Vec<&Row> = bounds.filter(may_be_better).collect();
    match (rows.as_slice(), summary.compared()) {
        ([], _) => String::new(),
        (rows, Compared::MessagesPerSecond) => format!(
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
    Some(Leading::of(summary.plan).to_sort_by(row)?.abs())
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
            Compared::MessagesPerSecond => {
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
        Compared::MessagesPerSecond => {
            format!("{} {}", format::count(value), rate_unit(summary))
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

/// The cell that a queue cost most, and who does best with as many clients.
fn of_backlog(tables: &[backlog::Table<'_>]) -> Vec<String> {
    let cells = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, *row)));
    let known: Vec<(&backlog::Table<'_>, &Row, f64)> = cells
        .filter_map(|(table, row)| Some((table, row, row.value("amplification")?)))
        .collect();
    let by_amplification = |one: &&(_, _, f64), other: &&(_, _, f64)| one.2.total_cmp(&other.2);
    let Some(worst) = known.iter().max_by(by_amplification) else {
        return Vec::new();
    };
    let as_many = || {
        let others = known.iter();
        others.filter(|(table, row, _)| {
            row.connections == worst.1.connections && table.heading() != worst.0.heading()
        })
    };
    let of_same = as_many().filter(|(table, ..)| table.target == worst.0.target);
    let best = of_same.min_by(by_amplification);
    let best = best.or_else(|| as_many().min_by(by_amplification));
    let took = |(_, row, times): &(_, &Row, f64)| {
        let total = row.value("duration_ns").map_or_else(absent, time_ns);
        let failed = match failures(row).total() {
            0 => String::new(),
            failed => format!(", and {} failed", plural(failed, "request")),
        };
        format!(
            "takes {total}, {}× the least possible{failed}",
            format::ratio(*times)
        )
    };
    let clients = plural(worst.1.connections.into(), "client");
    let worst_of_all = format!("With {clients}, {} {}.", worst.0.heading(), took(worst));
    let best = best.map(|best| format!("With as many, {} {}.", best.0.heading(), took(best)));
    std::iter::once(worst_of_all).chain(best).collect()
}

fn of_accept(rows: &[Row]) -> Option<String> {
    let cost = |row: &Row| {
        let idle = row.value("accept_idle_last")? as u32;
        Some((idle, row.value("accept_cost_ns_last")?))
    };
    let mut rows: Vec<(&Row, u32, f64)> = rows
        .iter()
        .filter_map(|row| cost(row).map(|(idle, cost_ns)| (row, idle, cost_ns)))
        .collect();
    let most = rows.iter().map(|(_, idle, _)| *idle).max()?;
    // One that ends early is not compared with those that go on.
    rows.retain(|(_, idle, _)| u64::from(*idle) * 10 >= u64::from(most) * 9);
    rows.sort_by(|one, other| one.2.total_cmp(&other.2));
    let (cheapest, _, least_ns) = rows.first()?;
    let (dearest, _, most_ns) = rows.last()?;
    let idle = exact(most.into());
    Some(match rows.len() {
        1 => format!(
            "With {idle} idle connections one accept costs {} {}.",
            cheapest.target,
            time_ns(*least_ns)
        ),
        _ => format!(
            "With {idle} idle connections one accept costs {} {} and {} {}, {} times as much.",
            cheapest.target,
            time_ns(*least_ns),
            dearest.target,
            time_ns(*most_ns),
            format::ratio(most_ns / least_ns)
        ),
    })
}

/// The phase of the question: how long until one line has come out of every connection.
fn of_fanout(heading: &str, rows: &[Row]) -> Option<String> {
    let ranked = rows.iter().filter(|row| row.standing == Standing::Ranked);
    let mut known: Vec<(&str, f64)> = ranked
        .filter_map(|row| Some((row.target.as_str(), fanout::length(row, PhaseKind::Get)?)))
        .collect();
    known.sort_by(|one, other| one.1.total_cmp(&other.1));
    let others = match rows.len() - known.len() {
        0 => String::new(),
        some => format!(" ({} not compared)", exact(some as u64)),
    };
    let (first, first_ns) = *known.first()?;
    let slowest = match known.as_slice() {
        [_, .., (last, last_ns)] => format!(", {last} in {}", time_ns(*last_ns)),
        _ => String::new(),
    };
    Some(format!(
        "{heading}: {first} delivers one line to all in {}{slowest}{others}.",
        time_ns(first_ns)
    ))
}

fn of_hold(row: &Row) -> Option<String> {
    if matches!(row.standing, Standing::Invalid | Standing::Failed) {
        return None;
    }
    let opened = match crowd::connected(row)? {
        all if all == row.connections => exact(all.into()),
        some => format::of(some, row.connections),
    };
    let bytes = hold::each(row);
    let bytes: Vec<String> = bytes
        .map(|(of, bytes)| format!("{} in the {of}", format::bytes(bytes)))
        .collect();
    let each = match bytes.as_slice() {
        [] => String::new(),
        bytes => format!(". Each takes {}", list(bytes)),
    };
    Some(format!(
        "{} opened {opened} connections in {}{each}.",
        row.target,
        time_ns(row.value("opened_ns")?)
    ))
}
