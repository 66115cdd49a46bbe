//! The floor under a broadcast: a bare write loop. It accepts a known number of connections, which share out over descriptor tables, each
//! with a thread of its own; greets each; and what then comes on the first it writes to all, one after another. It handles no partial write
//! and no error.
//!
//! Usage: `floor-broadcast-server CPU CONNECTIONS TABLES`; prints `ready ADDRESS`, and ends when all clients have left.
#![expect(clippy::print_stdout, reason = "its one output")]

use std::error::Error;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Barrier;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use throng_sys::{affinity, descriptor_table, limits, socket};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [cpu, connections, tables] = arguments.as_slice() else {
        return Err("usage: floor-broadcast-server CPU CONNECTIONS TABLES".into());
    };
    affinity::set_current_thread(&[cpu.parse()?])?;
    limits::raise_open_files()?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    socket::set_blocking(&listener)?;
    println!("ready {address}");
    let (connections, tables): (usize, usize) = (connections.parse()?, tables.parse()?);
    let each = connections.div_ceil(tables);
    let (line_came, listener) = (Barrier::new(tables), &listener);
    let line_came = &line_came;
    thread::scope(|scope| {
        for first in (0..connections).step_by(each) {
            let own = each.min(connections - first);
            let (accepted, told) = channel();
            scope.spawn(move || {
                let sockets = accept(listener, own, &accepted);
                write(&sockets, first == 0, line_came);
            });
            told.recv()?;
        }
        Ok(())
    })
}

fn accept(listener: &OwnedFd, connections: usize, accepted: &Sender<()>) -> Vec<OwnedFd> {
    descriptor_table::make_private(&[listener.as_fd()]).expect("a table");
    let accept = |_| {
        let socket = socket::accept_blocking(listener).expect("a connection");
        socket::set_nodelay(&socket).expect("set");
        socket::send(&socket, b"connected\n").expect("greeted");
        socket
    };
    let sockets = (0..connections).map(accept).collect();
    accepted.send(()).expect("the main thread waits");
    sockets
}

fn write(sockets: &[OwnedFd], hears_line: bool, line_came: &Barrier) {
    let mut buffer = [0; 64];
    if hears_line {
        socket::receive(&sockets[0], &mut buffer).expect("the line");
    }
    line_came.wait();
    for socket in sockets {
        socket::send(socket, b"hello\n").expect("written");
    }
    // Until the client has left: closing is no part of the loop.
    socket::receive(&sockets[sockets.len() - 1], &mut buffer).expect("the end");
}
