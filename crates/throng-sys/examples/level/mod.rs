//! The minimal level-triggered loop, of which the epoll floors with several loops run one on each thread.

use std::io;
use std::os::fd::OwnedFd;

use throng_sys::epoll::{Epoll, Interest};
use throng_sys::socket;

const LISTENER: u64 = u64::MAX;

/// Echoes for ever what connections of the listener send, which is watched for `connections`.
pub(crate) fn echo(listener: &OwnedFd, connections: Interest) -> io::Result<()> {
    let mut epoll = Epoll::new(256)?;
    epoll.add(listener, LISTENER, connections)?;
    let mut sockets: Vec<OwnedFd> = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        epoll.wait(None)?;
        let mut position = 0;
        while let Some(event) = epoll.event(position) {
            position += 1;
            if event.token == LISTENER {
                // Another thread may have been faster.
                let Ok(socket) = socket::accept(listener) else {
                    continue;
                };
                socket::set_nodelay(&socket)?;
                epoll.add(&socket, sockets.len() as u64, Interest::IN)?;
                sockets.push(socket);
                continue;
            }
            let socket = &sockets[event.token as usize];
            match socket::receive(socket, &mut buffer) {
                Ok(length @ 1..) => {
                    socket::send(socket, &buffer[..length])?;
                }
                _ => epoll.delete(socket)?,
            }
        }
    }
}
