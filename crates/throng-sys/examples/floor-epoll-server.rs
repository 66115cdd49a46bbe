//! The floor under the `epoll-edge` server: the least that an echo over edge-triggered epoll does. It handles no partial
//! write, no slow reader and no error, and ends when it is killed.
//!
//! Usage: `floor-epoll-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

use std::error::Error;
use std::os::fd::OwnedFd;

use throng_sys::epoll::{Epoll, Interest};
use throng_sys::{affinity, socket};

const LISTENER: u64 = u64::MAX;

fn main() -> Result<(), Box<dyn Error>> {
    let cpu = std::env::args()
        .nth(1)
        .ok_or("usage: floor-epoll-server CPU")?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    println!("ready {address}");
    let mut epoll = Epoll::new(256)?;
    epoll.add(&listener, LISTENER, Interest::IN)?;
    let mut sockets: Vec<OwnedFd> = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        epoll.wait(None)?;
        let mut position = 0;
        while let Some(event) = epoll.event(position) {
            position += 1;
            if event.token == LISTENER {
                let socket = socket::accept(&listener)?;
                socket::set_nodelay(&socket)?;
                epoll.add(&socket, sockets.len() as u64, Interest::IN | Interest::ET)?;
                sockets.push(socket);
                continue;
            }
            let socket = &sockets[event.token as usize];
            if let Ok(length @ 1..) = socket::receive(socket, &mut buffer) {
                socket::send(socket, &buffer[..length])?;
            }
        }
    }
}
