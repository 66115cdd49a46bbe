//! Retransmissions provoked for real, and counted segment by segment against the kernel's own account of them, to the unit.
//!
//! A SYN is dropped by a full accept queue. The last ACK of a handshake, or a SYN-ACK, is dropped by a filter on the socket that
//! it reaches (`SO_ATTACH_FILTER`), which needs no privilege and no luck.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use socket2::{Domain, SockFilter, SockRef, Socket, Type};
use throng_sys::address::Address;
use throng_sys::namespace::Entered;
use throng_sys::socket::{self, Connecting};
use throng_sys::tcp_info::TcpInfo;

use super::*;
use crate::observer::capture::Capture;

/// Longer than any of it takes, by far.
const PATIENCE: Duration = Duration::from_secs(100);
const ANY_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

/// A server under observation, its clients, and the kernel's counter before.
struct Scene {
    network: Network,
    listener: OwnedFd,
    server: SocketAddr,
    observer: HandshakeObserver,
    clients: Vec<OwnedFd>,
    counted_before: i64,
}

/// Runs on a thread in a network made for it with these settings, or, where that is refused, in the host's without them.
/// Left out where nobody may see handshakes.
fn play(settings: &[(&str, &str)], backlog: u32, act: impl FnOnce(Scene) + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let network = entered(settings).unwrap_or_else(Network::own);
            if let Some(scene) = Scene::set(network, ANY_PORT, backlog) {
                act(scene);
            }
        });
    });
}

/// The same, left out where the network cannot be private: the outcome depends on the settings.
fn play_privately(settings: &[(&str, &str)], backlog: u32, act: impl FnOnce(Scene) + Send) {
    play(settings, backlog, |scene| {
        if scene.network.is_private() {
            act(scene);
        }
    });
}

/// On this thread, and from then on.
fn entered(settings: &[(&str, &str)]) -> Option<Network> {
    let entered = Entered::enter().ok()?;
    entered.bring_loopback_up().unwrap();
    for (name, value) in settings {
        entered.set(&format!("net.ipv4.{name}"), value).unwrap();
    }
    let (inside, outside) = UnixStream::pair().unwrap();
    entered.hand_over(&inside).unwrap();
    Some(Network::receive(&outside).unwrap())
}

impl Scene {
    fn set(network: Network, address: SocketAddr, backlog: u32) -> Option<Self> {
        let address = Address::Tcp(address);
        let (listener, Address::Tcp(server)) = socket::listen(&address, backlog).unwrap() else {
            panic!("TCP")
        };
        let counted_before = syn_retransmissions_counted(&network);
        Some(Self {
            observer: observer(&network, server, None)?,
            network,
            listener,
            server,
            clients: Vec::new(),
            counted_before,
        })
    }

    fn connect(&mut self, count: usize) {
        for _ in 0..count {
            let address = Address::Tcp(self.server);
            let (Connecting::Done(client) | Connecting::UnderWay(client)) =
                socket::start_connect(&address, None, true).unwrap()
            else {
                panic!("TCP has no queue-full");
            };
            self.clients.push(client);
        }
    }

    /// Of both ends, by the kernel.
    fn counted(&self) -> u64 {
        let now = syn_retransmissions_counted(&self.network);
        (now - self.counted_before).cast_unsigned()
    }

    fn wait_until_counted(&self, count: u64) {
        wait_until("retransmissions", || self.counted() >= count);
    }

    fn wait_until_connected(&self) {
        let is_connected = |client: &OwnedFd| info(client).is_established;
        wait_until("connections", || self.clients.iter().all(is_connected));
    }

    fn accept(&self, count: usize) -> Vec<OwnedFd> {
        let mut accepted = Vec::new();
        wait_until("connections to accept", || {
            match socket::accept(&self.listener) {
                Ok(connection) => accepted.push(connection),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            accepted.len() == count
        });
        accepted
    }

    /// Ends it with every client connected: nothing is sent again after that. What was seen, by the clients too.
    fn end(self) -> HandshakesSeen {
        self.wait_until_connected();
        // With the listener go the requests, and their timers.
        drop(self.listener);
        let own: u64 = self
            .clients
            .iter()
            .map(|client| u64::from(info(client).total_retrans))
            .sum();
        let seen = self.observer.stop();
        let counts = &seen.ledger.counts;
        assert_eq!(seen.lost, 0);
        assert_eq!(counts.syn_retransmissions, own, "{counts:?}");
        assert_eq!(counts.syns, self.clients.len() as u64, "{counts:?}");
        assert_eq!(counts.untold, 0, "{counts:?}");
        for client in &self.clients {
            let address = socket::local_address(client).unwrap();
            let flow = seen.ledger.flow_at(address, u64::MAX).unwrap();
            let own = info(client).total_retrans as usize;
            assert_eq!(flow.syn_retransmissions_ns.len(), own);
            let mut times_ns = vec![flow.syn_ns];
            times_ns.extend_from_slice(&flow.syn_retransmissions_ns);
            // The first time-out is a second (RFC 6298), and no time stamp is early by half of it.
            assert!(
                times_ns.windows(2).all(|two| two[1] - two[0] > 500_000_000),
                "{times_ns:?}"
            );
        }
        seen
    }
}

/// `None` where nobody may see handshakes.
fn observer(
    network: &Network,
    server: SocketAddr,
    capture: Option<TrialCapture>,
) -> Option<HandshakeObserver> {
    match HandshakeObserver::start(network, server, Interfaces::Loopback, capture) {
        Err(TapError::NotPermitted(_)) => None,
        observer => Some(observer.unwrap()),
    }
}

fn syn_retransmissions_counted(network: &Network) -> i64 {
    let counters = network.counters().unwrap();
    counters.get("TcpExt.TCPSynRetrans").unwrap()
}

fn info(client: &OwnedFd) -> TcpInfo {
    TcpInfo::of(client.as_fd()).unwrap()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// `BPF_LD | BPF_B | BPF_ABS`, `BPF_JMP | BPF_JSET | BPF_K` and `BPF_RET | BPF_K` of linux/bpf_common.h.
const LOAD_BYTE: u16 = 0x30;
const IF_ANY_BIT: u16 = 0x45;
const PASS: u16 = 0x06;

/// Lets only segments with SYN pass: a listener then keeps requests and completes none. (A socket's own filter begins at
/// the TCP header.)
fn only_syns() -> [SockFilter; 4] {
    [
        SockFilter::new(LOAD_BYTE, 0, 0, 13),
        SockFilter::new(IF_ANY_BIT, 0, 1, 0x02),
        SockFilter::new(PASS, 0, 0, u32::MAX),
        SockFilter::new(PASS, 0, 0, 0),
    ]
}

#[test]
fn syns_that_a_full_queue_drops_are_counted_as_the_kernel_and_the_clients_do() {
    for cookies in ["0", "1"] {
        play(&[("tcp_syncookies", cookies)], 0, |mut scene| {
            // The queue holds one more than its limit of 0.
            scene.connect(6);
            scene.wait_until_counted(10);
            SockRef::from(&scene.listener).listen(64).unwrap();
            let _accepted = scene.accept(6);
            let counted = scene.network.is_private().then(|| scene.counted());
            let seen = scene.end();
            let counts = &seen.ledger.counts;
            assert!(counts.syn_retransmissions >= 10, "{counts:?}");
            assert_eq!(counts.syn_acks, 6);
            assert_eq!(counts.syn_ack_retransmissions, 0);
            if let Some(counted) = counted {
                assert_eq!(counts.syn_retransmissions, counted, "{counts:?}");
            }
        });
    }
}

#[test]
fn syn_acks_sent_again_for_a_dropped_ack_are_told_from_syns_sent_again() {
    play_privately(&[("tcp_syncookies", "0")], 3, |mut scene| {
        let listener = SockRef::from(&scene.listener);
        listener.attach_filter(&only_syns()).unwrap();
        // Some fill the queue of requests, and the SYNs of the others are dropped.
        scene.connect(7);
        scene.wait_until_counted(7);
        let listener = SockRef::from(&scene.listener);
        listener.listen(64).unwrap();
        listener.detach_filter().unwrap();
        let _accepted = scene.accept(7);
        let counted = scene.counted();
        let counts = scene.end().ledger.counts;
        assert_eq!(counts.syn_acks, 7, "{counts:?}");
        assert_eq!(counts.syn_acks_repeated_for_syn, 0, "{counts:?}");
        let (syns, syn_acks) = (counts.syn_retransmissions, counts.syn_ack_retransmissions);
        assert!(syns > 0 && syn_acks > 0, "{counts:?}");
        assert_eq!(syns + syn_acks, counted, "{counts:?}");
    });
}

#[test]
fn a_final_ack_that_a_full_queue_drops_has_its_syn_ack_sent_again() {
    play_privately(&[("tcp_syncookies", "0")], 2, |mut scene| {
        let listener = SockRef::from(&scene.listener);
        listener.attach_filter(&only_syns()).unwrap();
        // All become requests while no connection waits.
        scene.connect(3);
        let listener = SockRef::from(&scene.listener);
        listener.listen(0).unwrap();
        listener.detach_filter().unwrap();
        // One of them gets the only place there is now; the ACKs of the others are dropped again and again.
        scene.wait_until_counted(3 + 2);
        SockRef::from(&scene.listener).listen(64).unwrap();
        let _accepted = scene.accept(3);
        let counted = scene.counted();
        let counts = scene.end().ledger.counts;
        assert_eq!(counts.syn_retransmissions, 0, "{counts:?}");
        assert_eq!(counts.syn_acks_repeated_for_syn, 0, "{counts:?}");
        assert_eq!(counts.syn_ack_retransmissions, counted, "{counts:?}");
    });
}

#[test]
fn an_answer_to_a_repeated_syn_is_counted_by_the_kernel_unless_it_is_a_cookie() {
    for cookies in ["0", "2"] {
        play_privately(&[("tcp_syncookies", cookies)], 64, |mut scene| {
            let client = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            client.set_nonblocking(true).unwrap();
            let nothing = [SockFilter::new(PASS, 0, 0, 0)];
            client.attach_filter(&nothing).unwrap();
            client.connect(&scene.server.into()).unwrap_err();
            scene.clients.push(client.into());
            scene.wait_until_counted(2);
            SockRef::from(&scene.clients[0]).detach_filter().unwrap();
            let _accepted = scene.accept(1);
            let counted = scene.counted();
            let counts = scene.end().ledger.counts;
            let repeated = counts.syn_acks_repeated_for_syn;
            assert!(repeated > 0, "{counts:?}");
            let others = counts.syn_retransmissions + counts.syn_ack_retransmissions;
            if cookies == "0" {
                assert_eq!(others + repeated, counted, "{counts:?}");
            } else {
                assert_eq!(counts.syn_ack_retransmissions, 0, "{counts:?}");
                assert_eq!(others, counted, "{counts:?}");
            }
        });
    }
}

#[test]
fn refused_connects_are_resets_of_the_server_and_are_captured() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("refused.pcapng");
    let capture = Capture::create(&path).unwrap();
    // Bound, so that no client gets the port, and not listening.
    let refusing = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    refusing.bind(&ANY_PORT.into()).unwrap();
    let server = refusing.local_addr().unwrap().as_socket().unwrap();
    let trial = capture.trial("refused");
    let Some(observer) = observer(&Network::own(), server, Some(trial)) else {
        return;
    };
    for _ in 0..3 {
        TcpStream::connect(server).unwrap_err();
    }
    let seen = observer.stop();
    let expected = HandshakeCounts {
        syns: 3,
        server_resets: 3,
        ..HandshakeCounts::default()
    };
    assert_eq!(seen.ledger.counts, expected);
    let flows = seen.ledger.flows();
    assert!(flows.iter().all(|flow| flow.reset_ns.is_some()));
    assert_eq!(capture.finish().unwrap(), 6);
}
