//! The floor under the generator's epoll back end: the least that a closed loop over epoll does. It neither verifies nor
//! records, handles no partial write and no error, and counts replies only.
//!
//! Usage: `floor-epoll-client ADDRESS CONNECTIONS BYTES SECONDS CPU`; prints replies per second.
#![expect(clippy::print_stdout, reason = "its one output")]

use std::error::Error;
use std::os::fd::OwnedFd;

use throng_sys::clock::{SECOND_NS, monotonic_ns};
use throng_sys::epoll::{Epoll, Interest};
use throng_sys::{affinity, socket};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, connections, bytes, seconds, cpu] = arguments.as_slice() else {
        return Err("usage: floor-epoll-client ADDRESS CONNECTIONS BYTES SECONDS CPU".into());
    };
    affinity::set_current_thread(&[cpu.parse()?])?;
    let mut epoll = Epoll::new(256)?;
    let sockets = connect(&address.parse()?, connections.parse()?, &epoll)?;
    let message = vec![b'x'; bytes.parse()?];
    let mut buffer = vec![0; 65_536];
    for socket in &sockets {
        socket::send(socket, &message)?;
    }
    let started_at_ns = monotonic_ns();
    let ends_at_ns = started_at_ns + seconds.parse::<u64>()? * SECOND_NS;
    let mut replies = 0_u64;
    while monotonic_ns() < ends_at_ns {
        epoll.wait(None)?;
        let mut position = 0;
        while let Some(event) = epoll.event(position) {
            position += 1;
            let socket = &sockets[event.token as usize];
            // The first edges tell only that a socket is writable.
            let Ok(_) = socket::receive(socket, &mut buffer) else {
                continue;
            };
            socket::send(socket, &message)?;
            replies += 1;
        }
    }
    println!(
        "{}",
        replies as f64 * 1e9 / (monotonic_ns() - started_at_ns) as f64
    );
    Ok(())
}

fn connect(
    address: &throng_sys::address::Address,
    connections: u32,
    epoll: &Epoll,
) -> Result<Vec<OwnedFd>, Box<dyn Error>> {
    let mut sockets = Vec::new();
    for token in 0..connections {
        let (socket::Connecting::Done(socket) | socket::Connecting::UnderWay(socket)) =
            socket::start_connect(address, None, true)?
        else {
            return Err("the listener's queue is full".into());
        };
        epoll.add(&socket, u64::from(token), Interest::IN | Interest::ET)?;
        sockets.push(socket);
    }
    Ok(sockets)
}
