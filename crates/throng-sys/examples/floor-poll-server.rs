//! The floor under the `poll` server: the least that an echo over `poll(2)` does. It handles no partial write, no slow
//! reader and no error, and ends when it is killed.
//!
//! Usage: `floor-poll-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

use std::error::Error;
use std::os::fd::OwnedFd;

use throng_sys::poll::{PollSet, READABLE};
use throng_sys::{affinity, socket};

fn main() -> Result<(), Box<dyn Error>> {
    let cpu = std::env::args()
        .nth(1)
        .ok_or("usage: floor-poll-server CPU")?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    println!("ready {address}");
    let mut set = PollSet::new();
    set.push(&listener, READABLE);
    let mut sockets: Vec<OwnedFd> = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        set.wait(None)?;
        for (socket, position) in sockets.iter().zip(1..) {
            if set.ready(position) == 0 {
                continue;
            }
            match socket::receive(socket, &mut buffer) {
                Ok(length @ 1..) => {
                    socket::send(socket, &buffer[..length])?;
                }
                _ => set.set_interest(position, 0),
            }
        }
        if set.ready(0) != 0 {
            let socket = socket::accept(&listener)?;
            socket::set_nodelay(&socket)?;
            set.push(&socket, READABLE);
            sockets.push(socket);
        }
    }
}
