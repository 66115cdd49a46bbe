//! What several generators measured of the parts of one job becomes one record, as if one generator had done all of it.
//!
//! Counts and histograms add. Lengths are from the first begin to the last end, timelines are laid over each other by when each began, and both go by
//! one clock, that of the host where the parts come together. What only the connections themselves could tell is bounded, and says so:
//! [`RepliesPerConnection`](crate::RepliesPerConnection) and [`StarvedConnections`](crate::StarvedConnections).

mod bounded;
mod silences;

use crate::histogram::{DecodeError, empty};
use crate::{
    ClosePhase, ConnectPhase, ConnectStop, ConnectionsPhase, ExchangePhase, Histogram, HoldPhase,
    LoadRecord, Measured, PhaseCost, PhaseName, PhaseRecord, Phases, PingPhase, RequestRecord,
    SideCost, SlowConnection, SteadyWindow, TasksRecord, Timeline, TlsPhase,
};

use bounded::{per_connection, starved};

/// Slow connections that are kept.
const SLOWEST: usize = 10;
/// Of shorter stretches without a reply nothing is told.
const SILENCE_LEAST_NS: u64 = 50_000_000;

/// What one generator measured.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its record, by the clock of its host.
    pub record: LoadRecord,
    /// What is added to a time by `CLOCK_MONOTONIC` there to have it by the clock here.
    pub clock_offset_ns: i64,
}

/// Why parts do not become a whole.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A histogram cannot be read.
    #[error("what a generator measured cannot be read: {0}")]
    Histogram(#[from] DecodeError),
    /// A phase that is done by one generator alone.
    #[error("a phase `{}` is of one generator alone", .0.name())]
    OfOne(PhaseName),
    /// The generators did not do parts of one job.
    #[error("a generator's phases are not those of the others: are all of the same version?")]
    Phases,
}

/// Parts of one job as one record. A phase that a part did not come to is that of the others.
///
/// # Errors
/// [`MergeError`] where they are no parts of one job.
pub fn merge(parts: Vec<Part>) -> Result<LoadRecord, MergeError> {
    let mut whole = LoadRecord::default();
    let kept: f64 = parts
        .iter()
        .map(|part| f64::from(part.record.phases.kept()))
        .sum();
    let mut of_parts = Vec::new();
    for part in parts {
        let LoadRecord {
            phases,
            interrupted,
            user_bytes_per_connection: bytes,
        } = part.record;
        whole.interrupted |= interrupted;
        if kept > 0.0 {
            whole.user_bytes_per_connection += bytes * f64::from(phases.kept()) / kept;
        }
        let phases = phases.0.into_iter();
        of_parts.push(
            phases
                .map(|phase| here(phase, part.clock_offset_ns))
                .collect(),
        );
    }
    whole.phases = Phases(phases(of_parts)?);
    Ok(whole)
}

/// Phase by phase, those of the part that came furthest.
fn phases(parts: Vec<Vec<PhaseRecord>>) -> Result<Vec<PhaseRecord>, MergeError> {
    let longest = parts.iter().max_by_key(|phases| phases.len());
    let names: Vec<PhaseName> = longest
        .into_iter()
        .flatten()
        .map(|phase| phase.measured.name())
        .collect();
    let mut left: Vec<_> = parts
        .into_iter()
        .map(|phases| phases.into_iter().peekable())
        .collect();
    let mut whole = Vec::new();
    for name in names {
        let own = left
            .iter_mut()
            .filter_map(|phases| phases.next_if(|phase| phase.measured.name() == name));
        whole.push(phase(own.collect())?);
    }
    match left.iter_mut().all(|phases| phases.peek().is_none()) {
        true => Ok(whole),
        false => Err(MergeError::Phases),
    }
}

/// One phase of several generators.
fn phase(parts: Vec<PhaseRecord>) -> Result<PhaseRecord, MergeError> {
    let begun_at_ns = parts
        .iter()
        .filter_map(|part| part.begun_at_monotonic_ns)
        .min();
    let cost = cost(parts.iter().filter_map(|part| part.cost.as_ref()));
    let mut parts = parts.into_iter().map(|part| {
        let own = part.begun_at_monotonic_ns;
        let later_ns = own.zip(begun_at_ns).map_or(0, |(own, first)| own - first);
        (part.measured, later_ns)
    });
    let (mut whole, later_ns) = parts.next().ok_or(MergeError::Phases)?;
    begin_earlier(&mut whole, later_ns);
    for (measured, later_ns) in parts {
        add(&mut whole, measured, later_ns)?;
    }
    if let Some(exchange) = exchange_of(&mut whole) {
        exchange
            .silences
            .retain(|silence| silence.duration_ns >= SILENCE_LEAST_NS);
    }
    Ok(PhaseRecord {
        measured: whole,
        begun_at_monotonic_ns: begun_at_ns,
        cost,
    })
}

/// What a phase cost all generators.
fn cost<'a>(parts: impl Iterator<Item = &'a PhaseCost>) -> Option<PhaseCost> {
    let sum = |one: SideCost, other: SideCost| SideCost {
        cpu_ns: one.cpu_ns + other.cpu_ns,
        user_ns: one.user_ns + other.user_ns,
        system_ns: one.system_ns + other.system_ns,
        threads: one.threads + other.threads,
        rss_bytes: one.rss_bytes + other.rss_bytes,
    };
    parts.cloned().reduce(|whole, part| PhaseCost {
        window_ns: whole.window_ns.max(part.window_ns),
        generator: whole
            .generator
            .zip(part.generator)
            .map(|(one, other)| sum(one, other)),
        server: None,
    })
}

fn exchange_of(measured: &mut Measured) -> Option<&mut ExchangePhase> {
    match measured {
        Measured::Exchange(exchange) | Measured::Request { exchange, .. } => Some(exchange),
        _ => None,
    }
}

/// A phase by the clock here.
fn here(mut phase: PhaseRecord, offset_ns: i64) -> PhaseRecord {
    let moved = |at_ns: &mut u64| *at_ns = at_ns.saturating_add_signed(offset_ns);
    phase.begun_at_monotonic_ns.as_mut().map(moved);
    if let Some(exchange) = exchange_of(&mut phase.measured) {
        moved(&mut exchange.started_at_monotonic_ns);
        moved(&mut exchange.quiet_at_monotonic_ns);
    }
    if let Measured::Request { connections, .. } = &mut phase.measured {
        moved(&mut connections.started_at_monotonic_ns);
    }
    phase
}

/// Lengths of the first part from the begin of the earliest.
fn begin_earlier(whole: &mut Measured, later_ns: u64) {
    match whole {
        Measured::Connect(phase) => {
            phase.duration_ns += later_ns;
            phase.opened_ns = ended(phase.opened_ns, later_ns);
            phase.timeline = later(std::mem::take(&mut phase.timeline), later_ns);
            if let Some(stop) = &mut phase.stop {
                stop.at_ns += later_ns;
            }
        }
        Measured::Tls(TlsPhase { duration_ns, .. })
        | Measured::Hold(HoldPhase { duration_ns, .. })
        | Measured::Close(ClosePhase { duration_ns, .. })
        | Measured::Ping(PingPhase { duration_ns, .. }) => *duration_ns += later_ns,
        _ => {}
    }
}

/// An end that is 0 where there was none.
fn ended(at_ns: u64, later_ns: u64) -> u64 {
    if at_ns == 0 { 0 } else { at_ns + later_ns }
}

fn later(timeline: Timeline, later_ns: u64) -> Timeline {
    let mut whole = Timeline::default();
    whole.merge_later(timeline, later_ns);
    whole
}

fn add(whole: &mut Measured, part: Measured, later_ns: u64) -> Result<(), MergeError> {
    match (whole, part) {
        (Measured::Connect(whole), Measured::Connect(part)) => connects(whole, part, later_ns),
        (Measured::Tls(whole), Measured::Tls(part)) => tls(whole, part, later_ns),
        (Measured::Exchange(whole), Measured::Exchange(part)) => exchanges(whole, part),
        (
            Measured::Request {
                exchange,
                connections: all,
            },
            Measured::Request {
                exchange: part,
                connections: own,
            },
        ) => {
            exchanges(exchange, part)?;
            requests(all, own)
        }
        (Measured::Hold(whole), Measured::Hold(part)) => {
            whole.duration_ns = whole.duration_ns.max(part.duration_ns + later_ns);
            whole.errors.merge(&part.errors);
            Ok(())
        }
        (Measured::Ping(whole), Measured::Ping(part)) => pings(whole, part, later_ns),
        (Measured::Close(whole), Measured::Close(part)) => {
            whole.closed_in_order += part.closed_in_order;
            whole.duration_ns = whole.duration_ns.max(part.duration_ns + later_ns);
            whole.errors.merge(&part.errors);
            Ok(())
        }
        (whole, _) => Err(MergeError::OfOne(whole.name())),
    }
}

fn connects(whole: &mut ConnectPhase, part: ConnectPhase, later_ns: u64) -> Result<(), MergeError> {
    whole.connected += part.connected;
    whole.duration_ns = whole.duration_ns.max(part.duration_ns + later_ns);
    whole.opened_ns = whole.opened_ns.max(ended(part.opened_ns, later_ns));
    histogram(&mut whole.latency, &part.latency)?;
    whole.errors.merge(&part.errors);
    whole.lost += part.lost;
    whole.timeline.merge_later(part.timeline, later_ns);
    whole.syn_retransmissions += part.syn_retransmissions;
    whole.retransmitted += part.retransmitted;
    whole.queue_full = [whole.queue_full, part.queue_full].into_iter().sum();
    slowest(&mut whole.slowest, part.slowest);
    let stop = part.stop.map(|stop| ConnectStop {
        at_ns: stop.at_ns + later_ns,
        ..stop
    });
    let stops = whole.stop.take().into_iter().chain(stop);
    whole.stop = stops.min_by_key(|stop| stop.at_ns);
    whole.not_begun += part.not_begun;
    Ok(())
}

fn tls(whole: &mut TlsPhase, part: TlsPhase, later_ns: u64) -> Result<(), MergeError> {
    whole.duration_ns = whole.duration_ns.max(part.duration_ns + later_ns);
    whole.errors.merge(&part.errors);
    let (all, own) = (&mut whole.handshakes, part.handshakes);
    all.completed += own.completed;
    all.resumed += own.resumed;
    for (agreed, number) in own.agreed {
        *all.agreed.entry(agreed).or_default() += number;
    }
    histogram(&mut all.latency, &own.latency)
}

fn slowest(whole: &mut Vec<SlowConnection>, part: Vec<SlowConnection>) {
    whole.extend(part);
    whole.sort_by_key(|slow| std::cmp::Reverse(slow.latency_ns));
    whole.truncate(SLOWEST);
}

fn pings(whole: &mut PingPhase, part: PingPhase, later_ns: u64) -> Result<(), MergeError> {
    whole.pinged += part.pinged;
    whole.answered += part.answered;
    whole.not_pinged += part.not_pinged;
    whole.duration_ns = whole.duration_ns.max(part.duration_ns + later_ns);
    histogram(&mut whole.latency, &part.latency)?;
    whole.errors.merge(&part.errors);
    whole.lost_errors.merge(&part.lost_errors);
    Ok(())
}

fn exchanges(whole: &mut ExchangePhase, part: ExchangePhase) -> Result<(), MergeError> {
    whole.warmup_replies += part.warmup_replies;
    whole.warmup_duration_ns = whole.warmup_duration_ns.max(part.warmup_duration_ns);
    histogram(&mut whole.warmup_latency, &part.warmup_latency)?;
    silences::merge(whole, &part);
    // What came in the windows, by the length of both together: windows that a count ends may differ by far.
    let of_window = |phase: &ExchangePhase| phase.replies_per_second * phase.duration_ns as f64;
    let in_windows = of_window(whole) + of_window(&part);
    let (own_ns, its_ns) = (whole.started_at_monotonic_ns, part.started_at_monotonic_ns);
    let first_ns = own_ns.min(its_ns);
    whole.timeline = later(std::mem::take(&mut whole.timeline), own_ns - first_ns);
    whole.timeline.merge_later(part.timeline, its_ns - first_ns);
    // Counted from the first begin, as the timeline is.
    whole.started_at_monotonic_ns = first_ns;
    let end_ns = (own_ns + whole.duration_ns).max(its_ns + part.duration_ns);
    whole.duration_ns = end_ns - first_ns;
    whole.replies_per_second = in_windows / (whole.duration_ns.max(1)) as f64;
    whole.quiet_at_monotonic_ns = whole.quiet_at_monotonic_ns.max(part.quiet_at_monotonic_ns);
    whole.sent += part.sent;
    whole.replies += part.replies;
    whole.sent_bytes += part.sent_bytes;
    whole.received_bytes += part.received_bytes;
    histogram(&mut whole.latency, &part.latency)?;
    optional(&mut whole.scheduling_error, part.scheduling_error)?;
    optional(&mut whole.between_pieces, part.between_pieces)?;
    whole.waited_for_connection += part.waited_for_connection;
    whole.due_unsent += part.due_unsent;
    if let (Some(whole), Some(part)) = (&mut whole.outstanding, part.outstanding) {
        whole.by_time += part.by_time;
        whole.by_records += part.by_records;
    }
    whole.starved = starved(whole.starved, part.starved);
    whole.steady = match (whole.steady, part.steady) {
        (Some(whole), Some(part)) => Some(steady(whole, part)),
        (whole, part) => whole.or(part),
    };
    whole.connections_served += part.connections_served;
    whole.connections_silent += part.connections_silent;
    whole.errors.merge(&part.errors);
    whole.pages = match (whole.pages.take(), part.pages) {
        (Some(whole), Some(part)) => Some(whole.together(part)),
        (whole, part) => whole.or(part),
    };
    whole.tasks = match (whole.tasks.take(), part.tasks) {
        (Some(mut whole), Some(part)) => {
            TasksRecord::merge(&mut whole, part);
            Some(whole)
        }
        (whole, part) => whole.or(part),
    };
    Ok(())
}

fn steady(whole: SteadyWindow, part: SteadyWindow) -> SteadyWindow {
    let replies = whole.replies + part.replies;
    let mean = |one: f64, other: f64| {
        (one * whole.replies as f64 + other * part.replies as f64) / (replies.max(1)) as f64
    };
    SteadyWindow {
        replies_per_second: whole.replies_per_second + part.replies_per_second,
        latency_mean_ns: mean(whole.latency_mean_ns, part.latency_mean_ns),
        outstanding_by_law: whole.outstanding_by_law + part.outstanding_by_law,
        outstanding_by_construction: whole.outstanding_by_construction
            + part.outstanding_by_construction,
        replies,
        connections_starved: whole.connections_starved + part.connections_starved,
        replies_per_connection: match (whole.replies_per_connection, part.replies_per_connection) {
            (Some(one), Some(other)) => Some(per_connection(one, other)),
            (one, other) => one.or(other),
        },
    }
}

fn requests(whole: &mut ConnectionsPhase, part: ConnectionsPhase) -> Result<(), MergeError> {
    let (own_ns, its_ns) = (whole.started_at_monotonic_ns, part.started_at_monotonic_ns);
    let first_ns = own_ns.min(its_ns);
    let end_ns = (own_ns + whole.duration_ns).max(its_ns + part.duration_ns);
    whole.started_at_monotonic_ns = first_ns;
    whole.duration_ns = end_ns - first_ns;
    whole.begun += part.begun;
    whole.warmup_begun += part.warmup_begun;
    whole.connected += part.connected;
    whole.warmup_connected += part.warmup_connected;
    whole.answered += part.answered;
    histogram(&mut whole.connect_latency, &part.connect_latency)?;
    histogram(&mut whole.first_byte_latency, &part.first_byte_latency)?;
    histogram(&mut whole.reply_latency, &part.reply_latency)?;
    histogram(&mut whole.request_latency, &part.request_latency)?;
    whole.syn_retransmissions += part.syn_retransmissions;
    whole.queue_full = [whole.queue_full, part.queue_full].into_iter().sum();
    whole.data_retransmissions += part.data_retransmissions;
    whole.without_tcp_info += part.without_tcp_info;
    whole.requests_left_out += part.requests_left_out;
    let moved = |requests: Vec<RequestRecord>, later_ns: u64| {
        requests.into_iter().map(move |request| RequestRecord {
            started_ns: request.started_ns + later_ns,
            ..request
        })
    };
    let ours = moved(std::mem::take(&mut whole.requests), own_ns - first_ns);
    whole.requests = ours
        .chain(moved(part.requests, its_ns - first_ns))
        .collect();
    let end = |request: &RequestRecord| request.started_ns + request.duration_ns;
    whole.requests.sort_by_key(end);
    Ok(())
}

fn histogram(whole: &mut Histogram, part: &Histogram) -> Result<(), MergeError> {
    if part.count == 0 {
        return Ok(());
    }
    let mut live = empty();
    for one in [&*whole, part] {
        live.add(one.decode()?)
            .expect("all have the bounds that the record prescribes");
    }
    *whole = Histogram::from(&live);
    Ok(())
}

fn optional(whole: &mut Option<Histogram>, part: Option<Histogram>) -> Result<(), MergeError> {
    match (&mut *whole, part) {
        (Some(whole), Some(part)) => histogram(whole, &part)?,
        (None, part) => *whole = part,
        (Some(_), None) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests;
