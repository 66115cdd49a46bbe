//! Each slow or failed request of a trial attributed to its causes, and all of them counted.
//!
//! A slow connect counts once. A slow first byte counts once as well, by what took most of its excess over the service asked for; as slow
//! counts also one that never came because the reply timed out or the final ACK was answered by RST. Failures that took no time
//! (refused, reset, closed early) need no cause of time and get none. Requests that the generator itself had no room for are
//! in no count.

use throng_findings::Account;
use throng_record::{Attribution, Cause, ConnectionsPhase, ErrorKind, RequestRecord};

use super::accounts::{Accounts, FlowSeen};
use super::answering::{Answering, Mostly};
use super::connecting;
use super::thinning::{REQUESTS_KEPT_MAX, thin_out};
use super::waiting;

/// How far the packets' clock may be off that of the generator.
const CLOCKS_DIFFER_NS: u64 = 5_000_000;

/// Fills in the causes of every slow or failed request and the counts, then keeps only those requests. Made once for a trial, while all
/// requests are there.
pub(crate) fn attribute(phase: &mut ConnectionsPhase, seen: &Accounts<'_>) -> Account {
    let mut account = Account {
        waiting_at_once_max: waiting::at_once_max(phase, seen.service_time_ns),
        ..Account::default()
    };
    let mut attribution = Attribution::default();
    for request in &mut phase.requests {
        let started_at_ns = phase
            .started_at_monotonic_ns
            .saturating_add(request.started_ns);
        attribute_request(request, started_at_ns, seen, &mut attribution, &mut account);
    }
    phase.attribution = attribution;
    thin_out(phase, REQUESTS_KEPT_MAX);
    account
}

fn attribute_request(
    request: &mut RequestRecord,
    started_at_ns: u64,
    seen: &Accounts<'_>,
    attribution: &mut Attribution,
    account: &mut Account,
) {
    let is_slow_connect = request.is_slow_to_connect();
    let connected_at_ns = started_at_ns.saturating_add(request.connect_ns.unwrap_or(0));
    let answering = Answering::of(request, connected_at_ns, seen);
    if let Some(answering) = &answering {
        count_delay(request, answering, seen, account);
        count_failure(request, answering, seen, account);
    }
    let slow_answer = answering.filter(|answering| is_slow_answer(request, answering, seen));
    if !is_slow_connect && slow_answer.is_none() {
        return;
    }
    let flow = flow_of(request, started_at_ns, seen);
    let mut causes = Vec::new();
    if is_slow_connect {
        let cause = connecting::cause(
            request,
            started_at_ns,
            seen.syn_linear_timeouts,
            flow.as_ref(),
        );
        count_connect(&cause, attribution);
        causes.push(cause);
    }
    if let Some(answering) = slow_answer {
        count_answer(&answering, attribution, account);
        causes.extend(answering.causes(request, connected_at_ns, flow.as_ref()));
    }
    request.causes = causes;
}

fn is_slow_answer(request: &RequestRecord, answering: &Answering, seen: &Accounts<'_>) -> bool {
    let never_came = request.first_byte_ns.is_none()
        && (request.error == Some(ErrorKind::ReplyTimedOut) || answering.final_ack_ns.is_some());
    never_came || request.is_slow_to_answer(seen.service_time_ns.unwrap_or(0))
}

/// Quick answers are judged too, where the queue was observed: a wait of 280 ms behind seven others is slow, one of 120 ms behind
/// three is not, and both mean the same.
fn count_delay(
    request: &RequestRecord,
    answering: &Answering,
    seen: &Accounts<'_>,
    account: &mut Account,
) {
    let service_time_ns = seen.service_time_ns.unwrap_or(0);
    if request.first_byte_ns.is_none() || !Account::is_delayed(answering.waited_ns, service_time_ns)
    {
        return;
    }
    account.delayed += 1;
    account.delayed_ns += answering.waited_ns.saturating_sub(service_time_ns);
    if seen.queue.is_none() {
        return;
    }
    match answering.mostly() {
        Mostly::AcceptQueue => account.delayed_by_accept_queue += 1,
        Mostly::Service => account.delayed_by_service += 1,
        Mostly::FinalAck | Mostly::NotExplained => {}
    }
}

/// A time-out where nobody looked at the queue cannot be judged by itself: the request may have waited there.
fn count_failure(
    request: &RequestRecord,
    answering: &Answering,
    seen: &Accounts<'_>,
    account: &mut Account,
) {
    let has_begun = request.first_byte_ns.is_some();
    let may_have_waited = seen.queue.is_none() && request.error == Some(ErrorKind::ReplyTimedOut);
    if may_have_waited && !has_begun && answering.mostly() == Mostly::NotExplained {
        return;
    }
    let judged = match request.error {
        Some(ErrorKind::ReplyTimedOut) => &mut account.timed_out,
        Some(ErrorKind::Reset) => &mut account.reset,
        _ => return,
    };
    let explains = |error| answering.explains(error);
    judged.count(!has_begun && request.error.is_some_and(explains));
}

fn count_connect(cause: &Cause, attribution: &mut Attribution) {
    attribution.connects_slow += 1;
    match cause {
        Cause::SynRetransmissions { .. } => attribution.connects_by_syn_retransmission += 1,
        Cause::GeneratorLate { .. } => attribution.connects_by_generator += 1,
        _ => attribution.not_explained += 1,
    }
}

fn count_answer(answering: &Answering, attribution: &mut Attribution, account: &mut Account) {
    attribution.first_bytes_slow += 1;
    match answering.mostly() {
        Mostly::FinalAck => attribution.first_bytes_by_final_ack += 1,
        Mostly::AcceptQueue => attribution.first_bytes_by_accept_queue += 1,
        Mostly::Service => attribution.first_bytes_by_service += 1,
        Mostly::NotExplained => attribution.not_explained += 1,
    }
    if let Some(waited_ns) = answering.final_ack_ns {
        account.final_acks_dropped += 1;
        account.final_ack_waited_ns_max = account.final_ack_waited_ns_max.max(waited_ns);
    }
}

/// The handshake of this request alone: its port may have had others before and after.
fn flow_of(request: &RequestRecord, started_at_ns: u64, seen: &Accounts<'_>) -> Option<FlowSeen> {
    let client = request.local_address.as_ref()?.parse().ok()?;
    let from_ns = started_at_ns.saturating_sub(CLOCKS_DIFFER_NS);
    let until_ns = started_at_ns.saturating_add(request.duration_ns);
    let flow = seen.flows?.flow(client, until_ns)?;
    Some(flow.within(from_ns, until_ns))
}

#[cfg(test)]
mod tests;
