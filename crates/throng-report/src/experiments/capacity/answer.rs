//! The answer: the greatest rate at which the bounds hold, who takes most, and who meets them at none.

use throng_record::SearchEnd;

use super::{searched, spec};
use crate::answer::chosen;
use crate::format::{self, list, rate};
use crate::outcome::limit_word;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;

/// Names in a list before it is cut.
const NAMES: usize = 3;

/// Of each of a few settings who takes most.
pub(super) fn sentences(summary: &Summary<'_>) -> Vec<String> {
    let Some(spec) = spec(summary) else {
        return Vec::new();
    };
    let bounds = spec.bounds.join(" and ");
    let settings = summary.by_setting();
    let mut said: Vec<String> = chosen(&settings)
        .filter_map(|(heading, rows)| of_setting(summary, heading, rows, &bounds))
        .collect();
    said.extend(
        summary
            .rows
            .iter()
            .filter_map(|row| ended_badly(summary, row))
            .take(NAMES),
    );
    said
}

fn at(summary: &Summary<'_>, heading: &str) -> String {
    match summary.plan.settings.len() {
        1 => String::new(),
        _ => format!("{heading}: "),
    }
}

fn of_setting(summary: &Summary<'_>, heading: &str, rows: &[Row], bounds: &str) -> Option<String> {
    let found: Vec<(&Row, f64)> = rows
        .iter()
        .filter_map(|row| Some((row, row.value("capacity_per_second")?)))
        .collect();
    let (first, most) = found
        .iter()
        .copied()
        .reduce(|one, other| if other.1 > one.1 { other } else { one })?;
    let at = at(summary, heading);
    let least = match first.standing {
        Standing::Qualified => "at least ",
        _ => "",
    };
    let said = format!(
        "{at}{} takes {least}{} with {bounds}{}",
        first.target,
        rate(most),
        stopped(first)
    );
    if found.len() == 1 {
        return Some(format!("{said}."));
    }
    let (last, least) = found
        .iter()
        .copied()
        .reduce(|one, other| if other.1 < one.1 { other } else { one })?;
    let tied: Vec<String> = found
        .iter()
        .filter(|(row, _)| {
            row.target != first.target && row.rank.is_some() && row.rank == first.rank
        })
        .map(|(row, _)| row.target.clone())
        .collect();
    let tied = match tied.len() {
        0 => String::new(),
        1..=NAMES => format!(" (not told apart: {})", list(&tied)),
        more => format!(" (not told apart: {more} others)"),
    };
    Some(format!(
        "{said}{tied}; {} {}, {:.0} % of that.",
        last.target,
        rate(least),
        least / most * 100.0
    ))
}

/// Why a rate a little above does not meet the bounds.
fn stopped(row: &Row) -> String {
    let brackets = searched(row).map_or(&[][..], |found| &found.search.brackets);
    let Some(bracket) = brackets
        .iter()
        .rev()
        .find(|one| one.missed_per_second.is_some())
    else {
        return String::new();
    };
    let missed = bracket.missed_per_second.map_or_else(String::new, rate);
    let limit = match bracket.limit {
        _ if bracket.is_generators => "; the generator was late itself there".to_owned(),
        Some(limit) if matches!(limit_word(limit), "server" | "both") => {
            "; the server was at its CPUs' limit".to_owned()
        }
        _ => String::new(),
    };
    format!("; at {missed} {}{limit}", bracket.missed_because)
}

/// Of searches that found nothing, or ended early.
fn ended_badly(summary: &Summary<'_>, row: &Row) -> Option<String> {
    let found = searched(row)?;
    let whose = format!("{}{}", at(summary, &row.heading), row.target);
    Some(match &found.search.ended {
        SearchEnd::NoRateMeets {
            lowest_per_second,
            because,
        } => format!(
            "{whose} meets the bounds at no rate: even at {} {because}.",
            rate(*lowest_per_second)
        ),
        SearchEnd::Collapsed {
            held_per_second,
            now_per_second,
            because,
        } => format!(
            "{whose} does not recover from overload: the bounds held at {}, and after more was asked of it {because} at {}. Start it anew; throng launches a server anew for each probe, where it is launched by throng.",
            rate(*held_per_second),
            rate(*now_per_second)
        ),
        SearchEnd::Failed { message } => format!(
            "{whose} could not be searched: {}.",
            message.trim_end_matches('.')
        ),
        SearchEnd::TimeLimit => {
            let width = row.estimate("capacity_per_second")?.spread.ends();
            let width = width.map(|(low, high)| format::ratio((high - low) / low * 100.0));
            let width = width.map_or_else(
                || "after one repeat, so that nothing is known of its spread".to_owned(),
                |width| format!("with an interval of {width} %"),
            );
            format!("{whose}: its time was over (--time-limit) {width}.")
        }
        SearchEnd::Width | SearchEnd::Interrupted => return None,
    })
}
