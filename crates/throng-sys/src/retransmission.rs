//! Hearing from the kernel which SYNs and SYN-ACKs it sends again, as it does (its trace events `tcp_retransmit_skb` and
//! `tcp_retransmit_synack`, include/trace/events/tcp.h).
//!
//! These are the very places where `TcpExt.TCPSynRetrans` is counted (net/ipv4/tcp_output.c), for both ends where both are on this
//! host. A handshake in which nothing is lost passes neither of them, so listening costs it nothing, where a packet socket takes
//! 2 to 3 µs of each connection on loopback ([`crate::packet`]).
//!
//! The kernel writes them into a buffer of ours, which is read when somebody comes to look. Two other ways to have them lose some
//! without a word, seen with Linux 6.18: sampled by `perf_event_open`, as `perf record` does, those of an idle CPU; and given to a
//! BPF program, those that came up while the CPU was at work for a process which is shielded from such programs, since a timer runs
//! in the name of whatever it has interrupted.
//!
//! Trace events know no network namespaces: a server of another network with the same address and port is not told apart.

mod event_line;
mod trace_instance;

use std::io;
use std::net::SocketAddr;

use crate::affinity::online_cpus;
use trace_instance::TraceInstance;

/// Of all CPUs, and of one at least: room for some 180,000, or 2,900, between two looks.
const BUFFERS_KB: usize = 16 << 10;
const BUFFER_MIN_KB: usize = 256;

/// `TCP_SYN_SENT`, include/net/tcp_states.h: what a client in it sends again is its SYN.
const SYN_SENT: u32 = 2;

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
pub struct RetransmissionTap(TraceInstance);

impl RetransmissionTap {
    /// Begins to listen for those of handshakes with servers on `port`, in all networks of this host.
    ///
    /// # Errors
    /// `PermissionDenied` for whoever is not root in the first user namespace; what the kernel answers where it has no such events.
    pub fn start(port: u16) -> io::Result<Self> {
        let cpus = online_cpus().len().max(1);
        let instance = TraceInstance::make((BUFFERS_KB / cpus).max(BUFFER_MIN_KB))?;
        let syns = format!("dport == {port} && state == {SYN_SENT}");
        // One that found no way out is not counted by the kernel either. Older kernels tell of none.
        let sent = format!("{syns} && err == 0");
        let add = |filter: &str| instance.add("tcp/tcp_retransmit_skb", filter);
        add(&sent).or_else(|error| match error.kind() {
            io::ErrorKind::InvalidInput => add(&syns),
            _ => Err(error),
        })?;
        instance.add("tcp/tcp_retransmit_synack", &format!("sport == {port}"))?;
        Ok(Self(instance))
    }

    /// Shows everything that was sent again since the last call, in order.
    ///
    /// # Errors
    /// What reading the kernel's buffer answers.
    pub fn read(&mut self, mut visit: impl FnMut(&Retransmission)) -> io::Result<()> {
        self.0.read(|line| {
            if let Some(one) = event_line::parse(line) {
                visit(&one);
            }
        })
    }

    /// How many there were so far that found no room, because [`RetransmissionTap::read`] was called too seldom.
    ///
    /// # Errors
    /// What reading the kernel's account answers.
    pub fn lost(&self) -> io::Result<u64> {
        self.0.lost()
    }
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
                tap.read(|one| heard.push(*one)).unwrap();
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
