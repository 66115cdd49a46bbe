//! The floor under hearing a broadcast: connections over descriptor tables, each with a thread and an epoll of its own, that read a line when
//! it comes and stamp the last. It looks at no byte and handles no error.
//!
//! Usage: `floor-broadcast-client ADDRESS CONNECTIONS TABLES CPU`; prints the nanoseconds from just before the put to the last line.
#![expect(clippy::print_stdout, reason = "its one output")]

mod spread;

use std::error::Error;
use std::os::fd::OwnedFd;
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread;

use throng_sys::address::Address;
use throng_sys::clock::monotonic_ns;
use throng_sys::epoll::{Epoll, Interest};
use throng_sys::{affinity, descriptor_table, limits, socket};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, connections, tables, cpu] = arguments.as_slice() else {
        return Err("usage: floor-broadcast-client ADDRESS CONNECTIONS TABLES CPU".into());
    };
    affinity::set_current_thread(&[cpu.parse()?])?;
    limits::raise_open_files()?;
    let address: &Address = &address.parse()?;
    let (connections, tables): (u64, usize) = (connections.parse()?, tables.parse()?);
    let each = connections.div_ceil(tables as u64);
    let all_listen = &Barrier::new(tables);
    let mut spoke_at_ns = 0;
    let mut last_at_ns = 0;
    thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let mut threads = Vec::new();
        for first in (0..connections).step_by(each as usize) {
            let last = (first + each).min(connections);
            let (opened, told) = channel();
            threads.push(scope.spawn(move || {
                let (mut epoll, sockets) = open(address, first..last);
                opened.send(()).expect("the main thread waits");
                all_listen.wait();
                let started_at_ns = monotonic_ns();
                if first == 0 {
                    socket::send(&sockets[0], b"hello\n").expect("put");
                }
                (started_at_ns, hear(&mut epoll, &sockets))
            }));
            told.recv()?;
        }
        for (table, thread) in threads.into_iter().enumerate() {
            let (started_at_ns, heard_at_ns) = thread.join().map_err(|_| "a thread panicked")?;
            last_at_ns = heard_at_ns.max(last_at_ns);
            if table == 0 {
                spoke_at_ns = started_at_ns;
            }
        }
        Ok(())
    })?;
    println!("{}", last_at_ns - spoke_at_ns);
    Ok(())
}

/// Opens connections in a table of the thread's own, one when the one before has been greeted.
fn open(address: &Address, numbers: std::ops::Range<u64>) -> (Epoll, Vec<OwnedFd>) {
    descriptor_table::make_private(&[]).expect("a table");
    let mut epoll = Epoll::new(256).expect("an epoll");
    let mut sockets = Vec::new();
    for n in numbers {
        let (socket::Connecting::Done(socket) | socket::Connecting::UnderWay(socket)) =
            socket::start_connect(address, spread::source(n), true).expect("a connect")
        else {
            unreachable!("TCP has no full queue");
        };
        let token = sockets.len() as u64;
        epoll
            .add(&socket, token, Interest::IN | Interest::ET)
            .expect("watched");
        while socket::receive(&socket, &mut [0; 64]).is_err() {
            epoll.wait(None).expect("a greeting");
        }
        sockets.push(socket);
    }
    (epoll, sockets)
}

/// One line of each: when the last came.
fn hear(epoll: &mut Epoll, sockets: &[OwnedFd]) -> u64 {
    let mut buffer = [0; 64];
    let mut heard = 0;
    while heard < sockets.len() {
        for position in 0..epoll.wait(None).expect("lines") {
            let event = epoll.event(position).expect("as many as were told");
            // The event may be of a greeting that has been read.
            if socket::receive(&sockets[event.token as usize], &mut buffer).is_ok() {
                heard += 1;
            }
        }
    }
    monotonic_ns()
}
