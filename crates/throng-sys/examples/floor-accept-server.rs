//! The floor under servers to which many connect: it accepts and keeps what it has accepted, as many as come. Descriptor tables are filled
//! one after another, each by a thread of its own. It ends when it is killed.
//!
//! Usage: `floor-accept-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

use std::error::Error;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use throng_sys::{affinity, descriptor_table, limits, socket};

fn main() -> Result<(), Box<dyn Error>> {
    let cpu = std::env::args()
        .nth(1)
        .ok_or("usage: floor-accept-server CPU")?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    limits::raise_open_files()?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    socket::set_blocking(&listener)?;
    println!("ready {address}");
    let listener = &listener;
    thread::scope(|scope| {
        loop {
            let (full, told) = channel();
            scope.spawn(move || fill(listener, &full));
            told.recv()?;
        }
    })
}

/// Accepts until the thread's own table is full, and keeps it.
fn fill(listener: &OwnedFd, full: &Sender<()>) {
    descriptor_table::make_private(&[listener.as_fd()]).expect("a table");
    let mut sockets = Vec::new();
    while let Ok(socket) = socket::accept_blocking(listener) {
        sockets.push(socket);
    }
    full.send(()).expect("the main thread waits");
    loop {
        thread::park();
    }
}
