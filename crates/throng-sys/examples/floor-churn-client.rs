//! The floor under the generator's requests that each have a connection of their own: the least that connects, sends, receives and closes,
//! from spread addresses. Several clients share an epoll; one alone blocks instead. It neither verifies nor records nor handles an error.
//!
//! Usage: `floor-churn-client ADDRESS CLIENTS BYTES SECONDS CPU`; prints cycles per second.
#![expect(clippy::print_stdout, reason = "its one output")]

mod spread;

use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;

use throng_sys::address::Address;
use throng_sys::clock::{SECOND_NS, monotonic_ns};
use throng_sys::epoll::{Epoll, Interest};
use throng_sys::{affinity, socket};

struct Churn {
    address: Address,
    message: Vec<u8>,
    /// Connections begun.
    begun: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, clients, bytes, seconds, cpu] = arguments.as_slice() else {
        return Err("usage: floor-churn-client ADDRESS CLIENTS BYTES SECONDS CPU".into());
    };
    affinity::set_current_thread(&[cpu.parse()?])?;
    let mut churn = Churn {
        address: address.parse()?,
        message: vec![b'x'; bytes.parse()?],
        begun: 0,
    };
    let started_at_ns = monotonic_ns();
    let ends_at_ns = started_at_ns + seconds.parse::<u64>()? * SECOND_NS;
    let cycles = match clients.parse()? {
        1 => churn.one(ends_at_ns)?,
        clients => churn.several(clients, ends_at_ns)?,
    };
    println!(
        "{}",
        cycles as f64 * 1e9 / (monotonic_ns() - started_at_ns) as f64
    );
    Ok(())
}

impl Churn {
    fn connect(&mut self) -> io::Result<OwnedFd> {
        let source = spread::source(self.begun);
        self.begun += 1;
        match socket::start_connect(&self.address, source, true)? {
            socket::Connecting::Done(socket) | socket::Connecting::UnderWay(socket) => Ok(socket),
            socket::Connecting::QueueFull => unreachable!("TCP has no full queue"),
        }
    }

    /// On loopback the handshake is over when the connect returns, so that only the reply is waited for.
    fn one(&mut self, ends_at_ns: u64) -> io::Result<u64> {
        let mut buffer = [0; 4096];
        let mut cycles = 0;
        while monotonic_ns() < ends_at_ns {
            let socket = self.connect()?;
            socket::set_blocking(&socket)?;
            socket::send(&socket, &self.message)?;
            socket::receive(&socket, &mut buffer)?;
            cycles += 1;
        }
        Ok(cycles)
    }

    fn several(&mut self, clients: u64, ends_at_ns: u64) -> io::Result<u64> {
        let mut epoll = Epoll::new(256)?;
        let mut sockets = (0..clients)
            .map(|client| self.begin(&epoll, client))
            .collect::<io::Result<Vec<_>>>()?;
        let mut buffer = [0; 4096];
        let mut cycles = 0;
        while monotonic_ns() < ends_at_ns {
            for position in 0..epoll.wait(None)? {
                let event = epoll.event(position).expect("as many as were told");
                let socket = &mut sockets[event.token as usize];
                if !event.ready.contains(Interest::IN) {
                    socket::send(&*socket, &self.message)?;
                } else if socket::receive(&*socket, &mut buffer).is_ok() {
                    // The old one is closed when the new one takes its place.
                    *socket = self.begin(&epoll, event.token)?;
                    cycles += 1;
                }
            }
        }
        Ok(cycles)
    }

    fn begin(&mut self, epoll: &Epoll, client: u64) -> io::Result<OwnedFd> {
        let socket = self.connect()?;
        let changes = Interest::IN | Interest::OUT | Interest::ET;
        epoll.add(&socket, client, changes)?;
        Ok(socket)
    }
}
