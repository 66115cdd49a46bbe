//! Messages that each have a connection of their own: those connections, how long all took against the least possible, and why the slow ones were slow.

use throng_record::{Attribution, ConnectionsPhase, Outcome};

use super::{connect, exchange};
use crate::figure::{Figure, OneTrial, Quantile};
use crate::unit::Unit;

fn phase<'a>(one: &OneTrial<'a>) -> Option<&'a ConnectionsPhase> {
    one.trial.phases.connections()
}

/// What a trial that did not come to its end has not: it would be that of fewer requests.
fn whole<'a>(one: &OneTrial<'a>) -> Option<&'a ConnectionsPhase> {
    phase(one).filter(|_| one.trial.outcome == Outcome::Completed)
}

/// Sums that lack connections would pass for whole ones.
fn with_tcp_info<'a>(one: &OneTrial<'a>) -> Option<&'a ConnectionsPhase> {
    phase(one).filter(|phase| phase.without_tcp_info == 0)
}

fn least_ns(phase: &ConnectionsPhase) -> Option<f64> {
    let least_ns = phase.duration_least_ns.filter(|&least_ns| least_ns > 0)?;
    Some(least_ns as f64)
}

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = exchange::of_messages();
    figures.extend(of_all());
    figures.extend(of_connections());
    figures.extend(connect::latency());
    let latencies: [(_, _, _, crate::figure::Latencies); 2] = [
        (
            "first_byte_latency",
            "first byte",
            "From the established connection to the first byte of the reply",
            |trial| Some(&trial.phases.connections()?.first_byte_latency),
        ),
        (
            "reply_latency",
            "reply",
            "From the established connection to the last byte of the reply",
            |trial| Some(&trial.phases.connections()?.reply_latency),
        ),
    ];
    for (prefix, heading, sentence, of) in latencies {
        figures.extend(Figure::latencies(
            prefix,
            heading,
            sentence,
            &Quantile::THREE,
            of,
        ));
    }
    figures.extend(of_slow());
    figures
}

fn of_all() -> [Figure; 3] {
    [
        Figure::number(
            "duration_ns",
            "total time",
            Unit::Nanoseconds,
            "From the first connect to the end of the last request, failed ones included.",
            |one| Some(whole(one)?.duration_ns as f64),
        ),
        Figure::number(
            "duration_least_ns",
            "least\npossible",
            Unit::Nanoseconds,
            "The service time of all requests, shared by as many as are served at once.",
            |one| least_ns(whole(one)?),
        )
        .neither(),
        Figure::number(
            "amplification",
            "amplified",
            Unit::Times,
            "The total time ÷ the least possible; absent below 1, where requests failed before they were served.",
            |one| {
                let phase = whole(one)?;
                let times = phase.duration_ns as f64 / least_ns(phase)?;
                Some(times).filter(|&times| times >= 1.0)
            },
        ),
    ]
}

fn of_connections() -> [Figure; 7] {
    [
        Figure::count(
            "connects_begun",
            "requests",
            "Connections that were begun; of a row those of all its trials.",
            |one| Some(phase(one)?.begun as f64),
        )
        .sum(),
        Figure::count(
            "connected",
            "connections\nopened",
            "Connections that opened; of a row the fewest of its trials.",
            |one| Some(phase(one)?.connected as f64),
        )
        .least(),
        Figure::count(
            "answered",
            "answered",
            "Requests that were answered; of a row those of all its trials.",
            |one| Some(phase(one)?.answered as f64),
        )
        .sum(),
        Figure::count(
            "syn_retransmissions",
            "SYNs\nagain",
            "SYNs sent again, by the clients' TCP_INFO.",
            |one| Some(with_tcp_info(one)?.syn_retransmissions as f64),
        )
        .less(),
        connect::queue_full(),
        connect::queue_full_wait(),
        Figure::count(
            "data_retransmissions",
            "data\nagain",
            "Segments of data sent again by clients, by their TCP_INFO.",
            |one| Some(with_tcp_info(one)?.data_retransmissions as f64),
        )
        .less(),
    ]
}

fn slow(one: &OneTrial<'_>) -> Option<Attribution> {
    Some(phase(one)?.attribution)
}

fn of_slow() -> [Figure; 7] {
    [
        Figure::failures(
            "connects_slow",
            "slow\nconnects",
            "Connects that took more than 500 ms.",
            |one| Some(slow(one)?.connects_slow as f64),
        ),
        Figure::failures(
            "connects_slow_by_syn_retransmission",
            "by SYN\nretries",
            "Slow connects that waited mostly for a SYN to be sent again.",
            |one| Some(slow(one)?.connects_by_syn_retransmission as f64),
        ),
        Figure::failures(
            "first_bytes_slow",
            "slow first\nbytes",
            "First bytes that came more than 200 ms after the service time.",
            |one| Some(slow(one)?.first_bytes_slow as f64),
        ),
        Figure::failures(
            "first_bytes_slow_by_final_ack",
            "by dropped\nfinal ACK",
            "Slow first bytes whose connection the server did not have, its final ACK having been dropped.",
            |one| Some(slow(one)?.first_bytes_by_final_ack as f64),
        ),
        Figure::failures(
            "first_bytes_slow_by_accept_queue",
            "by accept\nqueue",
            "Slow first bytes whose connection waited mostly in the accept queue.",
            |one| Some(slow(one)?.first_bytes_by_accept_queue as f64),
        ),
        Figure::failures(
            "first_bytes_slow_by_service",
            "by\nservice",
            "Slow first bytes that the server took most of the time for.",
            |one| Some(slow(one)?.first_bytes_by_service as f64),
        ),
        Figure::failures(
            "not_explained",
            "not\nexplained",
            "Slow connects and first bytes that nothing observed explains.",
            |one| Some(slow(one)?.not_explained as f64),
        ),
    ]
}
