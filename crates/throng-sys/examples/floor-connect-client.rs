//! The floor under the generator's connects: the least that opens many connections over epoll, a bounded number at a time, from spread
//! addresses, one descriptor table after another. It records nothing but the clock at every thousandth, and handles no error.
//!
//! Usage: `floor-connect-client ADDRESS CONNECTIONS TABLES CONCURRENCY CPU`; prints the nanoseconds to each thousandth, a line each.
#![expect(clippy::print_stdout, reason = "its one output")]

mod spread;

use std::error::Error;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use throng_sys::address::Address;
use throng_sys::clock::monotonic_ns;
use throng_sys::epoll::{Epoll, Interest};
use throng_sys::{affinity, descriptor_table, limits, socket};

const STAMPED: u64 = 1000;

struct Part {
    address: Address,
    first: u64,
    connections: u64,
    concurrency: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, connections, tables, concurrency, cpu] = arguments.as_slice() else {
        return Err(
            "usage: floor-connect-client ADDRESS CONNECTIONS TABLES CONCURRENCY CPU".into(),
        );
    };
    affinity::set_current_thread(&[cpu.parse()?])?;
    limits::raise_open_files()?;
    let connections: u64 = connections.parse()?;
    let each = connections.div_ceil(tables.parse()?);
    let mut stamps = Vec::new();
    let started_at_ns = monotonic_ns();
    for first in (0..connections).step_by(each as usize) {
        let part = Part {
            address: address.parse()?,
            first,
            connections: each.min(connections - first),
            concurrency: concurrency.parse()?,
        };
        let (done, told) = channel();
        thread::spawn(move || open(&part, &done));
        stamps.extend(told.recv()?);
    }
    for stamp in stamps {
        println!("{}", stamp - started_at_ns);
    }
    Ok(())
}

/// Opens a part of the connections in a table of the thread's own, which it keeps to the process's end.
fn open(part: &Part, done: &Sender<Vec<u64>>) {
    descriptor_table::make_private(&[]).expect("a table");
    let mut epoll = Epoll::new(256).expect("an epoll");
    let mut sockets = Vec::with_capacity(part.connections as usize);
    let mut stamps = Vec::new();
    let mut opened = 0;
    while opened < part.connections {
        let begun = sockets.len() as u64;
        for n in begun..part.connections.min(opened + part.concurrency) {
            let source = spread::source(part.first + n);
            let (socket::Connecting::Done(socket) | socket::Connecting::UnderWay(socket)) =
                socket::start_connect(&part.address, source, true).expect("a connect")
            else {
                unreachable!("TCP has no full queue");
            };
            let once = Interest::OUT | Interest::ONESHOT;
            epoll.add(&socket, n, once).expect("watched");
            sockets.push(socket);
        }
        for _ in 0..epoll.wait(None).expect("events") {
            opened += 1;
            if (part.first + opened).is_multiple_of(STAMPED) {
                stamps.push(monotonic_ns());
            }
        }
    }
    done.send(stamps).expect("the main thread waits");
    loop {
        thread::park();
    }
}
