//! Messages: how many, how fast, at which latency, and how evenly over the connections.

use throng_record::{ConnectionsPhase, ExchangePhase, RepliesPerConnection};

use crate::figure::{Figure, OneTrial, Quantile};
use crate::rate;
use crate::unit::Unit;

fn phase<'a>(one: &OneTrial<'a>) -> Option<&'a ExchangePhase> {
    one.trial.phases.exchange()
}

/// An open loop's: it has a schedule to be late against.
fn scheduled<'a>(one: &OneTrial<'a>) -> Option<&'a ExchangePhase> {
    phase(one).filter(|phase| phase.scheduling_error.is_some())
}

fn per_connection(one: &OneTrial<'_>) -> Option<RepliesPerConnection> {
    phase(one)?.steady.as_ref()?.replies_per_connection
}

/// Those that waited are counted from the warm-up on, whether or not their connect succeeded.
fn waited(one: &OneTrial<'_>) -> Option<(u64, u64)> {
    let phase = scheduled(one)?;
    let connections = one.trial.phases.connections();
    let begun = connections.map_or(phase.sent, ConnectionsPhase::begun_in_all);
    Some((phase.waited_for_connection, begun))
}

/// On kept connections.
pub(super) fn figures() -> Vec<Figure> {
    let mut figures = of_messages();
    figures.extend([
        Figure::count(
            "connections_served",
            "connections\nserved",
            "Connections that got a reply; of a row the fewest of its trials.",
            |one| Some(phase(one)?.connections_served.into()),
        )
        .least(),
        Figure::count(
            "connections_starved",
            "starved",
            "Connections whose message had, when the window ended, waited longer than any reply took.",
            |one| Some(phase(one)?.steady.as_ref()?.connections_starved.into()),
        )
        .less(),
        Figure::count(
            "reconnects",
            "reconnects",
            "Kept connections that the server ended in order and that were opened again, warm-up included.",
            |one| Some(phase(one)?.pages.as_ref()?.reconnects as f64),
        )
        .less(),
        Figure::count(
            "requests_sent_again",
            "sent\nagain",
            "Requests for pages whose connection ended before a byte of the reply had come, sent again on the next.",
            |one| Some(phase(one)?.pages.as_ref()?.sent_again as f64),
        )
        .less(),
    ]);
    figures.extend((0..5).map(responses));
    figures.extend([
        Figure::number(
            "fairness_jain",
            "fairness",
            Unit::Share,
            "Jain's index of the replies per connection: 1 where all got as many, 1 ÷ connections where one got all.",
            |one| Some(per_connection(one)?.fairness_jain),
        ),
        Figure::count(
            "replies_per_connection_p10",
            "replies each\np10",
            "Replies that one connection in ten did not get more than.",
            |one| Some(per_connection(one)?.p10.into()),
        ),
        Figure::count(
            "replies_per_connection_p90",
            "replies each\np90",
            "Replies that nine connections in ten did not get more than.",
            |one| Some(per_connection(one)?.p90.into()),
        ),
    ]);
    figures
}

/// Of one class of statuses.
fn responses(class: usize) -> Figure {
    let digit = class + 1;
    Figure::count(
        format!("responses_{digit}xx"),
        format!("{digit}xx"),
        format!("Responses to requests for pages with a status of {digit}xx, in the measured window; of a row all of them."),
        move |one| Some(phase(one)?.pages.as_ref()?.statuses[class] as f64),
    )
    .sum()
}

/// Whether connections are kept or not.
pub(super) fn of_messages() -> Vec<Figure> {
    [throughput(), open_loop(), latency()].concat()
}

fn throughput() -> Vec<Figure> {
    vec![
        Figure::number(
            "messages_per_second",
            "messages/s",
            Unit::PerSecond,
            "Replies in the measured window ÷ its length.",
            |one| Some(phase(one)?.replies_per_second),
        ),
        Figure::number(
            "window_ns",
            "window",
            Unit::Nanoseconds,
            "Length of the measured window.",
            |one| Some(phase(one)?.duration_ns as f64),
        )
        .neither(),
        Figure::count(
            "messages_sent",
            "sent",
            "Messages sent in the measured window.",
            |one| Some(phase(one)?.sent as f64),
        ),
        Figure::count(
            "messages_replied",
            "replied",
            "Replies received in the measured window.",
            |one| Some(phase(one)?.replies as f64),
        ),
        Figure::count(
            "warmup_messages",
            "warm-up",
            "Replies before the measured window.",
            |one| Some(phase(one)?.warmup_replies as f64),
        ),
    ]
}

/// What was asked at a rate, and how much of it came.
fn open_loop() -> Vec<Figure> {
    vec![
        Figure::number(
            "rate_kept_share",
            "rate\nkept",
            Unit::Share,
            "Replies per second ÷ the rate that was asked for; of a row the least of its trials.",
            |one| {
                phase(one)?;
                rate::kept_share(one.trial)
            },
        )
        .least(),
        Figure::count(
            "messages_waited_for_connection",
            "waited",
            "Messages of an open loop that were due while every connection, or client, was busy.",
            |one| Some(scheduled(one)?.waited_for_connection as f64),
        )
        .less(),
        Figure::share(
            "waited_for_connection_share",
            "waited",
            "Part of an open loop's messages that were due while every connection, or client, was busy.",
            waited,
        ),
        Figure::count(
            "messages_due_unsent",
            "never\nsent",
            "Messages of an open loop that were due by the window's end and were never sent.",
            |one| Some(scheduled(one)?.due_unsent as f64),
        )
        .less(),
    ]
}

fn latency() -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(Figure::latencies(
        "latency",
        "",
        "From the send of a message to the last byte of its reply, in an open loop from the time at which it was due, where each has a connection of its own from the connect call",
        &[
            Quantile::Mean,
            Quantile::P50,
            Quantile::P90,
            Quantile::P99,
            Quantile::P999,
            Quantile::P9999,
            Quantile::Max,
        ],
        |trial| Some(&trial.phases.exchange()?.latency),
    ));
    figures.extend(Figure::latencies(
        "scheduling_error",
        "sent late",
        "How late the generator itself sent in an open loop",
        &[Quantile::P99],
        |trial| trial.phases.exchange()?.scheduling_error.as_ref(),
    ));
    figures
}
