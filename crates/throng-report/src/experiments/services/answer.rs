//! The answer: how long a client takes where it takes least and most, what keeping connections is worth, and what the GIL is.

use std::collections::BTreeSet;

use super::tables::{DONE, by_target, failed_services, told};
use throng_record::SweptValue;

use crate::format::{self, time_ns};
use crate::median::Estimate;
use crate::row::Row;
use crate::standing::Standing;
use crate::summary::Summary;
use crate::unit::Unit;

/// A build of Python without a GIL has its server's name and this.
const FREE_THREADED: &str = "-free-threaded";
/// Rows with failures that a screen has room for.
const FAILED_MAX: usize = 2;

pub(super) fn sentences(summary: &Summary<'_>) -> Vec<String> {
    let told = told(summary);
    let mut rows = by_target(summary);
    for row in &mut rows {
        row.swept.retain(|swept| told.contains(&swept.key));
    }
    let known: Vec<(&Row, Estimate)> = rows
        .iter()
        .filter(|row| matches!(row.standing, Standing::Ranked | Standing::Qualified))
        .filter_map(|row| Some((row, row.estimate(DONE)?)))
        .collect();
    let failed = rows.iter().filter_map(of_failed).take(FAILED_MAX);
    failed
        .chain(extremes(&known))
        .chain(of_reuse(&known))
        .chain(of_builds(&known))
        .chain(of_single_trials(&known))
        .collect()
}

/// Of single trials nothing is known but themselves.
fn of_single_trials(known: &[(&Row, Estimate)]) -> Option<String> {
    let is_single = |(_, found): &&(&Row, Estimate)| found.values == 1;
    (known.len() > 1 && known.iter().any(|one| is_single(&one))).then(|| {
        "One trial stands behind such a time: what of a difference is chance is not known."
            .to_owned()
    })
}

/// Which services failed, of a row in which some did.
fn of_failed(row: &Row) -> Option<String> {
    let failed = failed_services(row);
    let first = failed.first()?;
    let more = match failed.len() {
        1 => String::new(),
        several => format!(" (and {} more)", several - 1),
    };
    Some(format!(
        "Of {} service {} of {} failed{more}: {}. Its figures are those of the others.",
        named(row),
        first.service,
        first.of,
        first.first_failure
    ))
}

/// Where a client is done first, and where last.
fn extremes(known: &[(&Row, Estimate)]) -> Option<String> {
    let by_time = |one: &&(&Row, Estimate), other: &&(&Row, Estimate)| {
        one.1.median.total_cmp(&other.1.median)
    };
    let (first, least) = known.iter().min_by(by_time)?;
    let (last, most) = known.iter().max_by(by_time)?;
    Some(match known.len() {
        1 => format!(
            "A client of {} is done after {}{}.",
            first.target,
            time_ns(least.median),
            format::spread(least, time_ns)
        ),
        _ => format!(
            "A client is done after {} with {} and after {} with {}{}.",
            time_ns(least.median),
            named(first),
            time_ns(most.median),
            named(last),
            times_or_chance(least, most)
        ),
    })
}

/// What making a connection for each request costs, where it costs most.
fn of_reuse(known: &[(&Row, Estimate)]) -> Option<String> {
    let pairs = pairs(known, |row| {
        let others = others(row, "reuse");
        let is_kept = row.swept_value("reuse") == Some("true");
        (is_kept, (row.target.clone(), others))
    });
    let (kept, each, row) = dearest(pairs)?;
    let share = row
        .value("connecting_share")
        .filter(|&share| share >= 0.01)
        .map_or_else(String::new, |share| {
            format!("; {} of it is connecting", Unit::Share.words()(share))
        });
    Some(format!(
        "With a connection for each request {} takes {} instead of {}{}{share}.",
        row.target,
        time_ns(each.median),
        time_ns(kept.median),
        times_or_chance(&kept, &each)
    ))
}

/// What the build without a GIL changes, where it changes most.
fn of_builds(known: &[(&Row, Estimate)]) -> Option<String> {
    let name = |row: &Row| row.target.replacen(FREE_THREADED, "", 1);
    let pairs = pairs(known, |row| {
        let is_with_gil = !row.target.contains(FREE_THREADED);
        (is_with_gil, (name(row), others(row, "")))
    });
    let (with, without, row) = pairs.into_iter().max_by(|one, other| {
        let change =
            |with: &Estimate, without: &Estimate| (without.median / with.median).ln().abs();
        change(&one.0, &one.1).total_cmp(&change(&other.0, &other.1))
    })?;
    let (least, most) = if with.median < without.median {
        (&with, &without)
    } else {
        (&without, &with)
    };
    let mut base = row.clone();
    base.target = name(row);
    Some(format!(
        "Without the GIL {} takes {} instead of {}{}.",
        named(&base),
        time_ns(without.median),
        time_ns(with.median),
        times_or_chance(least, most)
    ))
}

type Pair<'a> = (Estimate, Estimate, &'a Row);

/// Rows of which one is of the first kind and one of the second, otherwise alike; with the second.
fn pairs<'a, K: PartialEq>(
    known: &[(&'a Row, Estimate)],
    kind: impl Fn(&Row) -> (bool, K),
) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    for (first, of_first) in known {
        let (is_first, key) = kind(first);
        if !is_first {
            continue;
        }
        for (second, of_second) in known {
            let (is_first, other) = kind(second);
            if !is_first && other == key {
                pairs.push((*of_first, *of_second, *second));
            }
        }
    }
    pairs
}

fn dearest(pairs: Vec<Pair<'_>>) -> Option<Pair<'_>> {
    let times = |pair: &Pair<'_>| pair.1.median / pair.0.median;
    pairs
        .into_iter()
        .max_by(|one, other| times(one).total_cmp(&times(other)))
}

/// What is swept beside this key.
fn others(row: &Row, key: &str) -> BTreeSet<(String, String)> {
    let others = row.swept.iter().filter(|swept| swept.key != key);
    others
        .map(|swept| (swept.key.clone(), swept.value.clone()))
        .collect()
}

/// `python/system-4 (listeners 10, choice random)`.
fn named(row: &Row) -> String {
    let swept = row.swept.iter().map(SweptValue::to_string);
    let swept: Vec<String> = swept.collect();
    match swept.is_empty() {
        true => row.target.clone(),
        false => format!("{} ({})", row.target, swept.join(", ")),
    }
}

/// `, 2.7 times as long`, unless what is known of both overlaps.
fn times_or_chance(least: &Estimate, most: &Estimate) -> String {
    let times = format!(
        ", {} times as long",
        format::ratio(most.median / least.median)
    );
    match least.overlaps(most) {
        true => ", which may be chance".to_owned(),
        false => times,
    }
}
