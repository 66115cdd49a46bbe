//! Hearing from the kernel which SYNs and SYN-ACKs it sends again, as it does (its trace events `tcp:tcp_retransmit_skb` and
//! `tcp:tcp_retransmit_synack`, include/trace/events/tcp.h).
//!
//! These are the very places where `TcpExt.TCPSynRetrans` is counted (net/ipv4/tcp_output.c), for both ends where both are on this
//! host. A handshake in which nothing is lost passes neither of them, so listening costs it nothing, where a packet socket takes
//! 2 to 3 µs of each connection on loopback ([`crate::packet`]).
//!
//! A small program writes each one down, with the time, into a ring that is read when somebody comes to look. (Sampling the events
//! as `perf record` does would be simpler, but loses without a word what happens while a CPU other than the first is idle: seen with
//! Linux 6.18, where 9 of 9 were counted and 3 to 9 of them sampled.)
//!
//! Trace events know no network namespaces: a server of another network with the same address and port is not told apart.

mod bpf;
mod program;
mod trace_event;

use std::io;
use std::net::{Ipv6Addr, SocketAddr};

use bpf::{Counter, Ring};
use trace_event::{Attached, TraceEvent};

/// Room for 75,000 between two looks.
const RING_BYTES: usize = 4 << 20;

/// What was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetransmissionKind {
    /// By the client's timer.
    Syn,
    /// By the server's timer, or as the answer to a SYN that was sent again; of a request that the server has kept, so no SYN
    /// cookie.
    SynAck,
}

/// One segment of a handshake that was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// When, by `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// Which, and so by whom.
    pub kind: RetransmissionKind,
    /// The end that connects.
    pub client: SocketAddr,
    /// The end that listens.
    pub server: SocketAddr,
}

/// Hears of them from its making until it is dropped.
#[derive(Debug)]
pub struct RetransmissionTap {
    ring: Ring,
    without_room: Counter,
    attached: [Attached; 2],
}

impl RetransmissionTap {
    /// Begins to listen for those of handshakes with servers on `port`, in all networks of this host.
    ///
    /// # Errors
    /// `PermissionDenied` without `CAP_BPF` and `CAP_PERFMON` in the first user namespace; what the kernel answers where it has no such
    /// events or programs (`CONFIG_BPF_EVENTS`), or is older than 5.11.
    pub fn start(port: u16) -> io::Result<Self> {
        let (ring, without_room) = (Ring::new(RING_BYTES)?, Counter::new()?);
        let listen = |event, kind| -> io::Result<Attached> {
            let event = TraceEvent::find(event)?;
            event.attach(program::load(&event, kind, port, &ring, &without_room)?)
        };
        let attached = [
            listen("tcp/tcp_retransmit_skb", RetransmissionKind::Syn)?,
            listen("tcp/tcp_retransmit_synack", RetransmissionKind::SynAck)?,
        ];
        Ok(Self {
            ring,
            without_room,
            attached,
        })
    }

    /// Shows everything that was sent again since the last call, in order.
    pub fn read(&mut self, mut visit: impl FnMut(&Retransmission)) {
        self.ring.read(|record| {
            if let Some(one) = program::Record::parse(record) {
                visit(&Retransmission::from(&one));
            }
        });
    }

    /// How many there were so far that were not written down: for want of room, because [`RetransmissionTap::read`] was called too
    /// seldom, or because another program was at work on the CPU.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn lost(&self) -> io::Result<u64> {
        let misses = self.attached.iter().map(|one| one.program.misses());
        Ok(self.without_room.get()? + misses.sum::<io::Result<u64>>()?)
    }
}

impl From<&program::Record> for Retransmission {
    fn from(record: &program::Record) -> Self {
        let source = address(record.source_ip, record.source_port);
        let destination = address(record.destination_ip, record.destination_port);
        let (client, server) = match record.kind {
            RetransmissionKind::Syn => (source, destination),
            RetransmissionKind::SynAck => (destination, source),
        };
        Self {
            monotonic_ns: record.monotonic_ns,
            kind: record.kind,
            client,
            server,
        }
    }
}

/// The kernel tells addresses of IPv6 for both families: that of IPv4 is mapped into one.
fn address(ip: [u8; 16], port: u16) -> SocketAddr {
    SocketAddr::new(Ipv6Addr::from(ip).to_canonical(), port)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use socket2::{Domain, Socket, Type};

    use super::*;
    use crate::clock::monotonic_ns;

    /// Longer than it takes, by far.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn a_syn_that_a_full_queue_drops_is_heard_of_when_it_is_sent_again() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let server = Socket::new(
                Domain::for_address(any.parse().unwrap()),
                Type::STREAM,
                None,
            )
            .unwrap();
            server
                .bind(&any.parse::<SocketAddr>().unwrap().into())
                .unwrap();
            server.listen(0).unwrap();
            let address = server.local_addr().unwrap().as_socket().unwrap();
            let mut tap = match RetransmissionTap::start(address.port()) {
                Ok(tap) => tap,
                // Nobody else may listen, nor anybody where the kernel has no trace events.
                Err(_) => return,
            };
            // It holds one more than its limit of 0.
            let _waiting = TcpStream::connect(address).unwrap();
            let began_ns = monotonic_ns();
            let late = std::thread::spawn(move || TcpStream::connect(address).unwrap());
            let deadline = Instant::now() + PATIENCE;
            let mut heard = Vec::new();
            while heard.is_empty() {
                assert!(Instant::now() < deadline, "nothing was heard");
                std::thread::sleep(Duration::from_millis(10));
                tap.read(|one| heard.push(*one));
            }
            let accepting: TcpListener = server.into();
            let accepted = [accepting.accept().unwrap(), accepting.accept().unwrap()];
            let client = late.join().unwrap().local_addr().unwrap();
            assert!(accepted.iter().any(|one| one.1 == client));
            let first = heard[0];
            assert_eq!(first.kind, RetransmissionKind::Syn);
            assert_eq!((first.client, first.server), (client, address));
            // The first timeout is a second (RFC 6298).
            assert!(
                (900_000_000..PATIENCE.as_nanos() as u64)
                    .contains(&(first.monotonic_ns - began_ns))
            );
            assert_eq!(tap.lost().unwrap(), 0);
        }
    }
}
