//! The floor under the `select` server: the least that an echo over `select(2)` does. It handles no partial write, no slow
//! reader and no error, does not look how many descriptors are left, and ends when it is killed.
//!
//! Usage: `floor-select-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

use std::error::Error;
use std::os::fd::{AsRawFd as _, OwnedFd};

use throng_sys::select::{self, FD_SETSIZE, FdSet};
use throng_sys::{affinity, socket};

fn main() -> Result<(), Box<dyn Error>> {
    let cpu = std::env::args()
        .nth(1)
        .ok_or("usage: floor-select-server CPU")?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    println!("ready {address}");
    let mut asked = FdSet::new();
    asked.insert(&listener)?;
    let mut sockets: Vec<Option<OwnedFd>> = (0..FD_SETSIZE).map(|_| None).collect();
    let mut buffer = vec![0; 65_536];
    loop {
        let mut ready = asked.clone();
        select::select(&mut ready, &mut FdSet::new(), None)?;
        for number in 0..ready.end() {
            if !ready.contains(number) {
                continue;
            }
            let Some(socket) = &sockets[number] else {
                let socket = socket::accept(&listener)?;
                socket::set_nodelay(&socket)?;
                asked.insert(&socket)?;
                let number = socket.as_raw_fd() as usize;
                sockets[number] = Some(socket);
                continue;
            };
            match socket::receive(socket, &mut buffer) {
                Ok(length @ 1..) => {
                    socket::send(socket, &buffer[..length])?;
                }
                _ => asked.remove(socket),
            }
        }
    }
}
