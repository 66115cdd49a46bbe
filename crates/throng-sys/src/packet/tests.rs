use std::net::{SocketAddr, TcpListener, TcpStream};

use super::*;

/// A tap on `port`, or the reason why there is none: then a packet socket is not permitted here.
fn tap(port: u16, interfaces: Interfaces) -> Option<SegmentTap> {
    match PacketSocket::open() {
        Ok(socket) => {
            Some(SegmentTap::start(&Arc::new(socket), port, interfaces).expect("started"))
        }
        Err(error) => {
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
            None
        }
    }
}

#[test]
fn each_segment_of_a_handshake_is_seen_once() {
    for interfaces in [Interfaces::Loopback, Interfaces::All] {
        for bind in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(bind).unwrap();
            let server = listener.local_addr().unwrap();
            let Some(mut tap) = tap(server.port(), interfaces) else {
                return;
            };
            let before_ns = monotonic_ns();
            let client = TcpStream::connect(server).unwrap();
            let own = client.local_addr().unwrap();
            let (mut accepted, _) = listener.accept().unwrap();
            std::io::Write::write_all(&mut accepted, b"data is not seen").unwrap();
            // Unread input makes the close a reset.
            client.shutdown(std::net::Shutdown::Write).unwrap();
            drop(client);
            let after_ns = monotonic_ns();

            let mut seen: Vec<(SegmentKind, SocketAddr, SocketAddr)> = Vec::new();
            let (mut syn_sequence, mut acknowledged) = (0, 0);
            tap.read(|segment| {
                seen.push((segment.kind, segment.source, segment.destination));
                // The offset of the clocks is not exact.
                let slack_ns = 100_000;
                assert!(segment.monotonic_ns + slack_ns >= before_ns);
                assert!(segment.monotonic_ns <= after_ns + slack_ns);
                assert_eq!(segment.length_bytes as usize, segment.bytes.len());
                match segment.kind {
                    SegmentKind::Syn => syn_sequence = segment.sequence,
                    SegmentKind::SynAck => acknowledged = segment.acknowledgement,
                    SegmentKind::Reset => {}
                }
            });
            let expected = [
                (SegmentKind::Syn, own, server),
                (SegmentKind::SynAck, server, own),
                (SegmentKind::Reset, own, server),
            ];
            assert_eq!(seen, expected);
            assert_eq!(acknowledged, syn_sequence.wrapping_add(1));
            assert_eq!(tap.lost().unwrap(), 0);
            tap.read(|segment| panic!("shown twice: {segment:?}"));
        }
    }
}

#[test]
fn other_ports_are_not_seen() {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [watched, other] = listeners.map(|listener| {
        let address = listener.local_addr().unwrap();
        (listener, address)
    });
    let Some(mut tap) = tap(watched.1.port(), Interfaces::All) else {
        return;
    };
    let _client = TcpStream::connect(other.1).unwrap();
    tap.read(|segment| panic!("{segment:?}"));
}

#[test]
fn a_socket_is_used_by_one_at_a_time_and_can_be_used_again() {
    let Ok(socket) = PacketSocket::open() else {
        return;
    };
    let socket = Arc::new(socket);
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    for listener in &listeners {
        let server = listener.local_addr().unwrap();
        let mut tap = SegmentTap::start(&socket, server.port(), Interfaces::Loopback).unwrap();
        let second = SegmentTap::start(&socket, server.port(), Interfaces::Loopback);
        assert!(matches!(second.unwrap_err(), TapError::InUse));
        let _client = TcpStream::connect(server).unwrap();
        let mut seen = 0;
        tap.read(|_| seen += 1);
        assert_eq!(seen, 2);
        drop(tap);
        let _unseen = TcpStream::connect(server).unwrap();
    }
}

#[test]
fn what_finds_no_room_is_counted_as_lost() {
    // Bound, so that no client gets the port, and not listening.
    let refusing = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let refusing = refusing.unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    refusing.bind(&any.into()).unwrap();
    let server = refusing.local_addr().unwrap().as_socket().unwrap();
    let Some(mut tap) = tap(server.port(), Interfaces::Loopback) else {
        return;
    };
    // A refused connect is two segments.
    let connects = 20_000;
    for _ in 0..connects {
        TcpStream::connect(server).unwrap_err();
    }
    let mut seen = 0;
    tap.read(|_| seen += 1);
    let lost = tap.lost().unwrap();
    assert!(lost > 0);
    assert_eq!(seen + lost, 2 * connects);
    assert_eq!(tap.lost().unwrap(), lost, "counted once");
}
