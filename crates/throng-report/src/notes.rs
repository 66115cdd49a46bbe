//! What stands below the tables: how to read them, and what to keep in mind. Each note appears only where it applies.
//!
//! A user/system split of the CPU time is counted in ticks, and told only where there is so much of it that a tick is nothing.

use throng_record::Limit;
use throng_record::plan::Experiment;

use crate::accept;
use crate::backlog;
use crate::crowd;
use crate::disturbed;
use crate::echo::by_setting;
use crate::fanout;
use crate::findings::Found;
use crate::format::{self, exact, plural};
use crate::hold;
use crate::languages;
use crate::leading::Leading;
use crate::median::{Spread, VALUES_FOR_INTERVAL};
use crate::outcome::limit_word;
use crate::ratio::Compared;
use crate::row::{PartKind, Row};
use crate::slowest::SlowRequest;
use crate::summary::{Standing, Summary, Unseen};

/// Everything below the tables, each section with its title; those with nothing to say are left out.
pub(crate) fn sections(summary: &Summary<'_>) -> Vec<(&'static str, Vec<String>)> {
    let found = summary.findings.iter().map(Found::sentences);
    let slowest = summary.slowest.iter().map(SlowRequest::line);
    let published = match summary.plan.experiment {
        Experiment::Echo => languages::sources(summary),
        Experiment::Backlog => backlog::notes::sources(summary),
        Experiment::Accept => accept::notes::sources(summary),
        Experiment::Fanout => fanout::notes::sources(summary),
        Experiment::Hold | Experiment::Churn => vec![],
    };
    let is = |experiment| summary.plan.experiment == experiment;
    let is_crowd = is(Experiment::Fanout) || is(Experiment::Hold);
    let stopped = match is(Experiment::Accept) {
        true => accept::notes::stopped(summary),
        false => crowd::notes::stopped(summary),
    };
    let schedule = [schedule(summary), fanout::notes::schedule(summary)];
    let mut sections = vec![
        ("Findings", found.collect()),
        (
            "Slowest requests, and where their time went",
            slowest.collect(),
        ),
        ("Stopped early", stopped),
        (
            "Errors, by connection",
            match is_crowd {
                true => crowd::notes::errors_by_connection(summary),
                false => vec![],
            },
        ),
        ("Who hears late", fanout::order::lines(summary)),
        (
            "The kernel's share of the server's CPU time",
            in_kernel(summary),
        ),
        ("Kernel memory", hold::notes::of_kernel(summary)),
        ("Left out", left_out(summary)),
        ("Not seen", unseen(summary)),
        ("Checks", checks(summary)),
        ("Schedule", schedule.concat()),
        ("Published figures", published),
        ("How to read this", how_to_read(summary)),
    ];
    sections.retain(|(_, notes)| !notes.is_empty());
    sections
}

fn how_to_read(summary: &Summary<'_>) -> Vec<String> {
    let mut lines = match summary.plan.experiment {
        Experiment::Echo | Experiment::Churn => legend(summary),
        Experiment::Backlog => backlog::notes::legend(summary),
        Experiment::Accept => accept::notes::legend(summary),
        Experiment::Fanout => fanout::notes::legend(summary),
        Experiment::Hold => hold::notes::legend(summary),
    };
    let is_disturbed = summary.disturbed.is_some();
    lines.extend(is_disturbed.then(|| disturbed::LEGEND.to_owned()));
    lines
}

/// Where the server's CPU time went: a line for each setting. What the kernel takes, no other language would save.
fn in_kernel(summary: &Summary<'_>) -> Vec<String> {
    let line = |(heading, rows): (String, Vec<Row>)| {
        let shares = by_target(&rows, |row| {
            let share = row.value("server_system_share")?;
            Some(format!("{:.0} %", share * 100.0))
        });
        (!shares.is_empty()).then(|| format!("{heading}: {shares}."))
    };
    of_messages(summary).into_iter().filter_map(line).collect()
}

/// What was asked for and cannot run on the machine.
fn left_out(summary: &Summary<'_>) -> Vec<String> {
    let left_out = summary.plan.left_out.iter();
    left_out
        .map(|one| format!("{}: {}", one.name, one.why))
        .collect()
}

/// Each reason once, and in how many trials it held.
fn unseen(summary: &Summary<'_>) -> Vec<String> {
    let line = |unseen: &Unseen<'_>| {
        let trials = plural(unseen.trials.into(), "trial");
        format!("{} ({trials})", unseen.reason)
    };
    summary.unseen.iter().map(line).collect()
}

/// What the checks say of this run, the weightiest first.
fn checks(summary: &Summary<'_>) -> Vec<String> {
    let mut notes: Vec<String> = summary
        .remarks
        .iter()
        .map(|remark| remark.sentence())
        .collect();
    let disturbed = summary.disturbed.as_ref();
    notes.extend(disturbed.map(|some| some.sentence(summary.trials_made)));
    for (at, rows) in of_messages(summary) {
        for row in &rows {
            notes.extend(
                row.unreadable.iter().map(|why| {
                    format!("{} at {at}: not readable in the record: {why}", row.target)
                }),
            );
            if let Some(rate) = row.of_invalid_trials {
                notes.push(format!(
                    "{} at {at} has no valid trial; its invalid ones measured {} (median), which is not ranked.",
                    row.target,
                    format::rate(rate)
                ));
            }
        }
        notes.extend(starved(&rows).map(|text| format!("{text} at {at}.")));
        notes.extend(time_wait_full(&rows).map(|text| format!("{text} at {at}.")));
        notes.extend(fewer_trials(&rows).map(|text| format!("{text} at {at}.")));
        notes.extend(no_baseline(summary, &rows).map(|text| format!("{text} at {at}.")));
    }
    notes.extend(match summary.plan.experiment {
        Experiment::Echo | Experiment::Churn => vec![],
        Experiment::Backlog => backlog::notes::of_rows(summary),
        Experiment::Accept => accept::notes::of_rows(summary),
        Experiment::Fanout => crowd::notes::of_rows(summary),
        Experiment::Hold => [
            crowd::notes::of_rows(summary),
            hold::notes::of_rows(summary),
        ]
        .concat(),
    });
    let partial: u32 = summary.rows.iter().map(|row| row.trials.partial).sum();
    let judged = summary.trials_made - partial;
    notes.extend(held_to_one_cpu(summary));
    if summary.remarks.is_empty() && disturbed.is_none() && judged > 0 {
        notes.insert(
            0,
            match judged {
                1 if partial == 0 => "The trial passed every check.".to_owned(),
                made if partial == 0 => {
                    format!("All {} trials passed every check.", exact(made.into()))
                }
                made => format!(
                    "{} of {} trials passed every check; in the other {} {}.",
                    exact(made.into()),
                    exact(summary.trials_made.into()),
                    exact(partial.into()),
                    match summary.plan.experiment {
                        Experiment::Accept => "fewer connections were accepted than asked for",
                        Experiment::Echo | Experiment::Backlog | Experiment::Churn =>
                            "the server serves fewer connections at once",
                        Experiment::Fanout | Experiment::Hold => {
                            "fewer connections were opened or served than asked for"
                        }
                    }
                ),
            },
        );
    }
    notes
}

/// Open loop: how well the generator kept its schedule, a line for each setting. In every open-loop report.
fn schedule(summary: &Summary<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, rows) in of_messages(summary) {
        let errors = by_target(&rows, |row| {
            Some(format::time_ns(row.value("scheduling_error_ns_p99")?))
        });
        if !errors.is_empty() {
            lines.push(format!("Scheduling error p99 at {at}: {errors}."));
        }
        let waits = by_target(&rows, |row| {
            let share = row.value("waited_for_connection_share");
            let share = share.filter(|&share| share > 0.0)?;
            Some(format!("{} %", format::ratio(share * 100.0)))
        });
        if !waits.is_empty() {
            let (busy, due) = match summary.plan.experiment {
                Experiment::Churn => ("client", "cycles"),
                Experiment::Echo
                | Experiment::Backlog
                | Experiment::Accept
                | Experiment::Fanout
                | Experiment::Hold => ("connection", "messages"),
            };
            lines.push(format!(
                "Due while every {busy} was busy, at {at}: {waits} of the {due}. Their wait is in their latency."
            ));
        }
    }
    lines
}

/// How to read the columns.
fn legend(summary: &Summary<'_>) -> Vec<String> {
    let rows = || summary.rows.iter();
    let is_churn = summary.plan.experiment == Experiment::Churn;
    let mut lines = vec![spreads(&summary.rows, |key| key == "messages_per_second")];
    let baseline = summary.baseline;
    if summary.plan.targets.len() > 1 {
        lines.push(match summary.compared() {
            Compared::MessagesPerSecond => format!(
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
            Compared::MessagesPerSecond => "p50 … max: latency of all messages, from the send to the last byte of the reply.",
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

/// What stands behind a median, by the figures that are shown with their spread.
pub(crate) fn spreads(rows: &[Row], is_shown: impl Fn(&str) -> bool) -> String {
    let figures = rows.iter().flat_map(|row| &row.figures);
    let shown: Vec<Spread> = figures
        .filter(|(key, _)| is_shown(key.as_str()))
        .filter_map(|(_, found)| found.spread)
        .collect();
    let has = |wanted: fn(&Spread) -> bool| shown.iter().any(wanted);
    let interval = "[low, high]: 95 % confidence interval of the median over repeats.";
    let range = format!(
        "(low – high): range of the repeats, not an interval: that needs {VALUES_FOR_INTERVAL} valid ones."
    );
    match (
        has(|spread| matches!(spread, Spread::Interval95 { .. })),
        has(|spread| matches!(spread, Spread::Range { .. })),
    ) {
        (true, true) => format!("{interval} {range}"),
        (true, false) => interval.to_owned(),
        (false, true) => range,
        (false, false) if has(|_| true) => format!(
            "One trial behind each figure: nothing is known of its spread. {VALUES_FOR_INTERVAL} repeats give an interval."
        ),
        (false, false) => String::new(),
    }
}

fn marks(summary: &Summary<'_>) -> Vec<String> {
    let has_missed = |row: &Row| row.rate.is_some_and(|rate| !rate.is_kept);
    let mut qualified = summary
        .rows
        .iter()
        .filter(|row| row.standing == Standing::Qualified);
    let marked = match summary.compared() {
        Compared::MessagesPerSecond => qualified
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

/// What the marks of a rate that was not kept mean.
pub(crate) const NOT_KEPT: &str = "rate not kept: less than 95 % of it was answered, beyond what was in flight; ranked apart. ≥: its latencies are at least so much, since the requests that were due and never sent have waited too.";

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

/// Models with a loop for each CPU that got one CPU: their figures say nothing of what they were made for.
fn held_to_one_cpu(summary: &Summary<'_>) -> Option<String> {
    if summary.held_to_one_cpu.is_empty() {
        return None;
    }
    let names: Vec<String> = summary
        .held_to_one_cpu
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    Some(format!(
        "Held to one CPU, and so to one loop: {}. Given more CPUs they have more: on a machine with four, --cpus 0-2:3.",
        format::list(&names)
    ))
}

/// Rows whose percentiles look better than they are: the messages that waited longest are not among those answered. A few connections may be unlucky, and a
/// machine that stood still at the end of the window starves all of them; between the two it is the server's way.
fn starved(rows: &[Row]) -> Option<String> {
    const SHARE_MIN: f64 = 0.01;
    const NUMBER_MIN: f64 = 10.0;
    let some = by_target(rows, |row| {
        let starved = row.value("connections_starved")?;
        let connections = f64::from(row.connections);
        let is_the_servers_way = starved > NUMBER_MIN.max(connections * SHARE_MIN);
        (is_the_servers_way && starved < connections).then(|| exact(starved.round() as u64))
    });
    (!some.is_empty()).then(|| {
        format!(
            "Connections still waiting when the window ended, for longer than any reply took (the percentiles leave them out): {some}"
        )
    })
}

/// Rows whose figures stand on fewer trials than the plan asks for.
fn fewer_trials(rows: &[Row]) -> Option<String> {
    let planned = rows.first()?.trials.planned;
    let fewer = by_target(rows, |row| {
        let values = row.estimate("messages_per_second")?.values;
        (values < planned).then(|| values.to_string())
    });
    (!fewer.is_empty())
        .then(|| format!("Figures that stand on fewer than {planned} trials: {fewer}"))
}

/// Rows whose later connections closed in another way than the first ones.
fn time_wait_full(rows: &[Row]) -> Option<String> {
    let full = by_target(rows, |row| {
        let lost = row.value("time_wait_overflows")?;
        (lost > 0.0).then(|| exact(lost.round() as u64))
    });
    (!full.is_empty()).then(|| {
        format!(
            "TIME_WAIT was full (net.ipv4.tcp_max_tw_buckets), and connections closed without it, which costs less (--kernel tcp_max_tw_buckets=2000000 makes room, --closing reset leaves none): {full}"
        )
    })
}

fn no_baseline(summary: &Summary<'_>, rows: &[Row]) -> Option<String> {
    let others = rows
        .iter()
        .any(|row| !row.is_baseline && row.value("messages_per_second").is_some());
    let ratios = rows.iter().any(|row| row.ratio_to_baseline.is_some());
    let stands = rows
        .iter()
        .any(|row| row.is_baseline && row.value("messages_per_second").is_some());
    (others && !ratios).then(|| {
        let baseline = summary.baseline;
        if stands {
            format!("No comparison with {baseline}: no repeat in which both trials stand")
        } else {
            format!("No comparison with {baseline}: it has no valid trial")
        }
    })
}

/// The rows of each setting, of an experiment whose rows are compared by their messages.
fn of_messages(summary: &Summary<'_>) -> Vec<(String, Vec<Row>)> {
    match Leading::of(summary.plan).compared() {
        Some(_) => by_setting(summary),
        None => vec![],
    }
}

/// `poll 8.20 µs, epoll-edge 7.90 µs`.
fn by_target(rows: &[Row], figure: impl Fn(&Row) -> Option<String>) -> String {
    let items: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{} {}", row.target, figure(row)?)))
        .collect();
    items.join(", ")
}
