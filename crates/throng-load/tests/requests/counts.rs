//! Known work, and counts that must match exactly.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use throng_load::{Interrupt, run_job};
use throng_record::{
    Amount, ConnectionsPhase, Expect, LoadEvent, PhaseName, Protocol, RequestRecord, Stop,
};
use throng_sys::clock::monotonic_ns;

use super::support::{BACKENDS, OfExchange as _, echo, exchanged, run, serve, serve_at};
use super::{REPLY, REQUEST, answer, as_it_is, at, expect, own};

/// All of 91 requests answered, and every account of them says so.
fn assert_all_answered(connections: &ConnectionsPhase, total: u64) {
    assert_eq!(
        (
            connections.begun,
            connections.connected,
            connections.answered
        ),
        (total, total, total)
    );
    for latency in [
        &connections.connect_latency,
        &connections.first_byte_latency,
        &connections.reply_latency,
        &connections.request_latency,
    ] {
        assert_eq!(latency.count, total);
    }
    assert_eq!(connections.requests.len() as u64, total);
    assert_eq!(
        (connections.requests_left_out, connections.without_tcp_info),
        (0, 0)
    );
    connections.requests.iter().for_each(assert_sensible);
    let ends = |request: &RequestRecord| request.started_ns + request.duration_ns;
    assert!(connections.requests.is_sorted_by_key(ends));
    assert_eq!(
        connections.requests.last().map(ends),
        Some(connections.duration_ns)
    );
}

fn assert_sensible(request: &RequestRecord) {
    let connect_ns = request.connect_ns.expect("connected");
    let first_byte_ns = request.first_byte_ns.expect("answered");
    assert!(
        connect_ns + first_byte_ns <= request.duration_ns,
        "{request:?}"
    );
    assert!(
        request.is_acknowledged && request.error.is_none(),
        "{request:?}"
    );
    assert!(request.last_data_sent_ns.is_some(), "{request:?}");
    let address = request.local_address.as_ref().expect("it was connected");
    let address: SocketAddr = address.parse().expect("an address");
    assert!(address.ip().is_loopback() && address.port() > 0);
}

#[test]
fn every_client_does_exactly_its_number_and_the_server_closes() {
    for listen in ["127.0.0.1:0", "[::1]:0"] {
        let address = serve_at(listen, answer(&[REPLY]));
        for backend in BACKENDS {
            for shards in [1, 2] {
                let mut job = own(&address, backend);
                job.fleet.shards = shards;
                let record = run(&job);
                let connections = record.phases.connections().expect("it has them");
                let errors = record.phases.errors();
                assert_eq!(errors.total(), 0, "{errors:?}");
                assert_all_answered(connections, 91);
                let mut numbers = BTreeMap::<u32, Vec<u32>>::new();
                for request in &connections.requests {
                    numbers
                        .entry(request.client)
                        .or_default()
                        .push(request.number);
                }
                let each: Vec<u32> = (0..13).collect();
                assert_eq!(
                    numbers.keys().copied().collect::<Vec<_>>(),
                    [0, 1, 2, 3, 4, 5, 6]
                );
                assert!(numbers.values().all(|own| *own == each), "{numbers:?}");
            }
        }
    }
}

#[test]
fn the_exchange_tells_the_same() {
    at(&serve(answer(&[REPLY])), as_it_is, |record, connections| {
        let exchange = exchanged(record);
        assert_eq!(
            (exchange.sent, exchange.replies, exchange.latency.count),
            (91, 91, 91)
        );
        assert_eq!(exchange.sent_bytes, 91 * REQUEST.len() as u64);
        assert_eq!(exchange.received_bytes, 91 * REPLY.len() as u64);
        assert_eq!(exchange.connections_served, 7);
        assert_eq!(exchange.timeline.replies.iter().sum::<u64>(), 91);
        assert_eq!(exchange.latency, connections.request_latency);
        assert!(exchange.replies_per_second > 0.0 && exchange.steady.is_none());
        assert_eq!(record.phases.0.len(), 1, "no connect and no close");
    });
}

#[test]
fn a_number_in_all_is_shared_by_the_clients() {
    let address = serve(answer(&[REPLY]));
    for shards in [1, 2] {
        let change = |job: &mut throng_record::LoadJob| {
            job.fleet.shards = shards;
            job.exchange_spec().stop = Stop::Messages(101);
        };
        at(&address, change, |_, connections| {
            assert_all_answered(connections, 101);
        });
    }
}

#[test]
fn after_a_time_what_is_under_way_is_still_awaited() {
    let for_a_while = |job: &mut throng_record::LoadJob| {
        job.exchange_spec().stop = Stop::DurationNs(200_000_000);
        job.exchange_spec().warmup = Amount::DurationNs(0);
    };
    at(
        &serve(answer(&[REPLY])),
        for_a_while,
        |record, connections| {
            assert!(connections.answered > 0);
            assert_all_answered(connections, connections.begun);
            assert!(exchanged(record).duration_ns >= 200_000_000);
        },
    );
}

#[test]
fn echoes_are_verified_one_a_connection() {
    let echoes = |job: &mut throng_record::LoadJob| {
        job.exchange_spec().protocol = Protocol::Echo {
            size_bytes: 100_003,
        };
    };
    at(&serve(echo()), echoes, |record, connections| {
        let errors = record.phases.errors();
        assert_eq!(errors.total(), 0, "{errors:?}");
        assert_all_answered(connections, 91);
    });
}

#[test]
fn a_reply_may_end_with_the_peers_output() {
    let to_the_end = |job: &mut throng_record::LoadJob| expect(job, Expect::End);
    at(
        &serve(answer(&[b"any", b"thing"])),
        to_the_end,
        |record, connections| {
            let errors = record.phases.errors();
            assert_eq!(errors.total(), 0, "{errors:?}");
            assert_all_answered(connections, 91);
            assert_eq!(exchanged(record).received_bytes, 91 * 8);
        },
    );
}

#[test]
fn the_lab_is_told_before_the_first_connect_and_after_the_last_end() {
    let address = serve(answer(&[REPLY]));
    for backend in BACKENDS {
        let (mut told, mut begun_at_ns, mut measured_at_ns) = (Vec::new(), 0, 0);
        let record = run_job(
            &own(&address, backend),
            &Interrupt::default(),
            &mut |event| {
                match event {
                    LoadEvent::Phase { .. } => begun_at_ns = monotonic_ns(),
                    LoadEvent::Measured => measured_at_ns = monotonic_ns(),
                    _ => {}
                }
                told.push(event);
            },
        )
        .expect("a job that can be done");
        told.retain(|event| !matches!(event, LoadEvent::Progress { .. }));
        let phase = PhaseName::Request;
        let stages = [
            LoadEvent::Phase { phase },
            LoadEvent::Measuring,
            LoadEvent::Measured,
        ];
        assert_eq!(told, stages);
        let connections = record.phases.connections().expect("it has them");
        assert!(begun_at_ns <= connections.started_at_monotonic_ns);
        let ended_at_ns = connections.started_at_monotonic_ns + connections.duration_ns;
        assert!(ended_at_ns <= measured_at_ns);
    }
}
