//! Peers that misbehave, each in one way: every request's fault has its own name, and the client goes on.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use throng_record::{ConnectionsPhase, ErrorKind, Expect, LoadJob, LoadRecord, Stop};

use super::support::{OfExchange as _, exchanged, serve};
use super::{REPLY, REQUEST, answer, as_it_is, at, expect, request};

/// All 91 requests failed in this way, and none was answered.
fn assert_all_failed(record: &LoadRecord, connections: &ConnectionsPhase, kind: ErrorKind) {
    assert_failed(record, connections, kind, 91);
}

fn assert_failed(record: &LoadRecord, connections: &ConnectionsPhase, kind: ErrorKind, total: u64) {
    let errors = &exchanged(record).errors;
    assert_eq!(
        (errors.of(kind), errors.total()),
        (total, total),
        "{errors:?}"
    );
    assert_eq!((connections.begun, connections.answered), (total, 0));
    assert_eq!(connections.requests.len() as u64, total);
    assert!(
        connections
            .requests
            .iter()
            .all(|request| request.error == Some(kind))
    );
    assert_eq!(
        (connections.request_latency.count, exchanged(record).replies),
        (0, 0)
    );
}

#[test]
fn a_peer_that_closes_without_a_reply_closed_early() {
    at(&serve(answer(&[])), as_it_is, |record, connections| {
        assert_all_failed(record, connections, ErrorKind::ClosedEarly);
        assert_eq!(
            (connections.connected, connections.first_byte_latency.count),
            (91, 0)
        );
    });
}

#[test]
fn a_reply_cut_short_is_truncated() {
    at(
        &serve(answer(&[b"one rep"])),
        as_it_is,
        |record, connections| {
            assert_all_failed(record, connections, ErrorKind::Truncated);
            assert_eq!(connections.first_byte_latency.count, 91);
        },
    );
}

#[test]
fn another_reply_is_wrong_bytes() {
    at(
        &serve(answer(&[b"one reply and NO more\r\n"])),
        as_it_is,
        |record, connections| {
            assert_all_failed(record, connections, ErrorKind::WrongBytes);
        },
    );
}

#[test]
fn a_reset_is_a_reset() {
    let peer = |mut stream: TcpStream| {
        request(&mut stream);
        throng_sys::socket::reset_on_close(&stream).expect("an option");
    };
    at(&serve(peer), as_it_is, |record, connections| {
        assert_all_failed(record, connections, ErrorKind::Reset);
    });
}

#[test]
fn more_than_the_reply_is_excess() {
    at(
        &serve(answer(&[b"one reply and no more\r\n!"])),
        as_it_is,
        |record, connections| {
            assert_all_failed(record, connections, ErrorKind::ExcessBytes);
        },
    );
}

/// The reply fills a buffer of the io_uring back end, so that the byte too many is never read.
#[test]
fn what_waits_unread_behind_the_reply_is_excess_too() {
    const MORE: [u8; 257] = [b'x'; 257];
    let of_a_buffer = |job: &mut LoadJob| expect(job, Expect::Text(vec![b'x'; 256]));
    at(
        &serve(answer(&[&MORE])),
        of_a_buffer,
        |record, connections| {
            assert_all_failed(record, connections, ErrorKind::ExcessBytes);
        },
    );
}

#[test]
fn silence_times_out_and_leaves_nothing_behind() {
    let resets = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&resets);
    let (ended, ends) = std::sync::mpsc::channel();
    let peer = move |mut stream: TcpStream| {
        request(&mut stream);
        let end = stream.read(&mut [0]);
        if end.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset) {
            seen.fetch_add(1, Ordering::Relaxed);
        }
        let _ = ended.send(());
    };
    let impatient = |job: &mut LoadJob| {
        job.fleet.connections = 3;
        job.fleet.reply_timeout_ns = 200_000_000;
        job.exchange_spec().stop = Stop::MessagesEach(2);
    };
    at(&serve(peer), impatient, |record, connections| {
        assert_failed(record, connections, ErrorKind::ReplyTimedOut, 6);
        for request in &connections.requests {
            assert!(request.duration_ns >= 200_000_000 && request.first_byte_ns.is_none());
            assert!(
                request.is_acknowledged,
                "the peer's kernel has the request: {request:?}"
            );
            assert!(
                request
                    .last_data_sent_ns
                    .is_some_and(|sent_ns| sent_ns < request.duration_ns)
            );
        }
    });
    ends.iter().take(12).for_each(drop);
    assert_eq!(resets.load(Ordering::Relaxed), 12);
}

/// A port that refuses: it is bound, so that nobody else gets it, and nobody listens.
fn refusing_port() -> (Socket, String) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    socket.bind(&any.into()).expect("a port");
    let address = socket.local_addr().ok().and_then(|bound| bound.as_socket());
    (socket, format!("tcp://{}", address.expect("bound")))
}

#[test]
fn a_port_that_nobody_listens_on_refuses_each() {
    let (_bound, address) = refusing_port();
    at(&address, as_it_is, |record, connections| {
        assert_all_failed(record, connections, ErrorKind::ConnectRefused);
        assert_eq!((connections.connected, exchanged(record).sent), (0, 0));
        let unknown = |request: &&throng_record::RequestRecord| {
            request.connect_ns.is_none()
                && request.last_data_sent_ns.is_none()
                && !request.is_acknowledged
        };
        assert_eq!(connections.requests.iter().filter(unknown).count(), 91);
    });
}

#[test]
fn until_a_time_a_refused_client_pauses() {
    let for_a_while = |job: &mut LoadJob| job.exchange_spec().stop = Stop::DurationNs(300_000_000);
    let (_bound, address) = refusing_port();
    at(&address, for_a_while, |record, connections| {
        assert_failed(
            record,
            connections,
            ErrorKind::ConnectRefused,
            connections.begun,
        );
        let at_most = 7 * (connections.duration_ns / 1_000_000 + 1);
        assert!(
            (1..=at_most).contains(&connections.begun),
            "{} of {at_most}",
            connections.begun
        );
    });
}

/// A backlog of 0 holds one connection; the SYNs of the others are dropped, and sent again after a second.
#[test]
fn a_full_accept_queue_shows_in_retransmitted_syns() {
    let any = "127.0.0.1:0".parse().expect("an address");
    let impatient = |job: &mut LoadJob| {
        job.fleet.connections = 3;
        job.fleet.connect_timeout_ns = 2_000_000_000;
        job.fleet.reply_timeout_ns = 2_000_000_000;
        job.exchange_spec().stop = Stop::MessagesEach(1);
    };
    let (_listener, address) = throng_sys::socket::listen(&any, 0).expect("listening");
    at(&address.to_string(), impatient, |record, connections| {
        let errors = &exchanged(record).errors;
        assert_eq!(errors.total(), 3, "{errors:?}");
        let dropped: Vec<_> = connections
            .requests
            .iter()
            .filter(|request| request.error == Some(ErrorKind::ConnectTimedOut))
            .collect();
        assert!(dropped.len() >= 2, "{errors:?}");
        for request in &dropped {
            assert!(request.syn_retransmissions >= 1, "{request:?}");
            assert!(request.is_slow_to_connect() && request.local_address.is_some());
            assert!(!request.is_acknowledged && request.data_retransmissions == 0);
        }
        let again: u32 = dropped
            .iter()
            .map(|request| request.syn_retransmissions)
            .sum();
        assert_eq!(connections.syn_retransmissions, u64::from(again));
        assert_eq!(connections.without_tcp_info, 0);
    });
}

#[test]
fn a_client_goes_on_after_a_failure() {
    let accepted = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&accepted);
    let peer = move |mut stream: TcpStream| {
        let number = counted.fetch_add(1, Ordering::Relaxed);
        if request(&mut stream) && !number.is_multiple_of(5) {
            let _ = stream.write_all(REPLY);
        }
    };
    let anew = |_: &mut LoadJob| accepted.store(0, Ordering::Relaxed);
    at(&serve(peer), anew, |record, connections| {
        assert_eq!(exchanged(record).errors.of(ErrorKind::ClosedEarly), 19);
        assert_eq!((connections.begun, connections.answered), (91, 72));
        assert!(exchanged(record).connections_served > 0);
    });
}

/// One is served and two are in its queue (backlog 1): the other four wait as long as three are served.
#[test]
fn a_full_unix_queue_is_waited_for_and_the_wait_is_part_of_the_connect() {
    const SERVICE: Duration = Duration::from_millis(5);
    let (listener, address, path) = super::unix::listener("own", 1);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; REQUEST.len()];
            if stream.read_exact(&mut request).is_ok() {
                std::thread::sleep(SERVICE);
                let _ = stream.write_all(REPLY);
            }
        }
    });
    at(&address, as_it_is, |record, connections| {
        assert_eq!(connections.answered, 91, "{:?}", exchanged(record).errors);
        assert_eq!(connections.without_tcp_info, 0);
        let waits = connections.queue_full;
        assert!((60..=91).contains(&waits.connects), "{waits:?}");
        // Four at a time, while 91 are served, but for the first and the last few.
        let least_ns = 3 * 80 * SERVICE.as_nanos() as u64;
        assert!(waits.waited_ns >= least_ns, "{waits:?}");
        let latency = &connections.connect_latency;
        let all_ns = latency.mean_ns * latency.count as f64;
        assert!(
            all_ns >= waits.waited_ns as f64 * 0.99,
            "{all_ns} {waits:?}"
        );
    });
    std::fs::remove_file(path).expect("removed");
}
