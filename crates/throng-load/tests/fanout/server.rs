//! A broadcast server on threads, and what it may do otherwise than it should.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Writes to the connection that was accepted as the n-th, from 0; the line is empty where it is to be greeted.
pub(crate) type Manner = fn(u32, &mut TcpStream, &[u8]);

/// A server, until the process ends.
pub(crate) struct Server {
    pub(crate) address: String,
    accepted: Arc<AtomicU32>,
}

impl Server {
    /// Greets so, and delivers each line so.
    pub(crate) fn start(greet: Manner, deliver: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("tcp://{}", listener.local_addr().expect("bound"));
        let accepted = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&accepted);
        std::thread::spawn(move || {
            let all = Arc::new(Mutex::new(Vec::new()));
            for (index, mut stream) in (0..).zip(listener.incoming().flatten()) {
                stream.set_nodelay(true).expect("an option");
                let reader = BufReader::new(stream.try_clone().expect("a copy"));
                greet(index, &mut stream, b"");
                all.lock().expect("whole").push(stream);
                counter.fetch_add(1, Ordering::Release);
                let all = Arc::clone(&all);
                std::thread::spawn(move || serve(index, reader, &all, deliver));
            }
        });
        Self { address, accepted }
    }

    /// Until so many have been accepted and greeted.
    pub(crate) fn await_accepted(&self, count: u32) {
        while self.accepted.load(Ordering::Acquire) < count {
            std::thread::yield_now();
        }
    }
}

/// A connection whose peer has ended its output is ended too.
fn serve(
    index: u32,
    mut reader: BufReader<TcpStream>,
    all: &Mutex<Vec<TcpStream>>,
    deliver: Manner,
) {
    let mut line = Vec::new();
    while let Ok(1..) = reader.read_until(b'\n', &mut line) {
        for (index, stream) in (0..).zip(all.lock().expect("whole").iter_mut()) {
            deliver(index, stream, &line);
        }
        line.clear();
    }
    let _ = all.lock().expect("whole")[index as usize].shutdown(std::net::Shutdown::Write);
}

pub(crate) fn silent(_: u32, _: &mut TcpStream, _: &[u8]) {}

pub(crate) fn greet(_: u32, stream: &mut TcpStream, _: &[u8]) {
    let _ = stream.write_all(b"connected\n");
}

pub(crate) fn deliver(_: u32, stream: &mut TcpStream, line: &[u8]) {
    let _ = stream.write_all(line);
}

/// In one write, so that both copies come together.
pub(crate) fn deliver_twice(_: u32, stream: &mut TcpStream, line: &[u8]) {
    let _ = stream.write_all(&line.repeat(2));
}

pub(crate) fn deliver_but_every_tenth(index: u32, stream: &mut TcpStream, line: &[u8]) {
    if !index.is_multiple_of(10) {
        deliver(index, stream, line);
    }
}
