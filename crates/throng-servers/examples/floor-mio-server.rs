//! The floor under the `mio` server: the least that an echo over mio does, no partial write included. It handles
//! no slow reader and no failed accept, and ends when it is killed.
//!
//! Usage: `floor-mio-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

mod loopback;

use std::error::Error;
use std::io::{Read as _, Write as _};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

const LISTENER: Token = Token(usize::MAX);

fn main() -> Result<(), Box<dyn Error>> {
    let mut listener = TcpListener::from_std(loopback::listen("floor-mio-server")?);
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(256);
    poll.registry()
        .register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut streams: Vec<TcpStream> = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        poll.poll(&mut events, None)?;
        for event in &events {
            if event.token() == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    stream.set_nodelay(true)?;
                    let token = Token(streams.len());
                    poll.registry()
                        .register(&mut stream, token, Interest::READABLE)?;
                    streams.push(stream);
                }
                continue;
            }
            let stream = &mut streams[event.token().0];
            if let Ok(length @ 1..) = stream.read(&mut buffer) {
                stream.write_all(&buffer[..length])?;
            }
        }
    }
}
