//! Messages that each have a connection of their own: exact counts, peers that misbehave, HTTP, and an early end.

mod counts;
mod ending;
mod faults;
mod http;
mod pacing;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/unix.rs"]
mod unix;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use support::{BACKENDS, OfExchange as _, job, run};
use throng_record::{
    Backend, ConnectionUse, ConnectionsPhase, Expect, LoadJob, LoadRecord, Protocol, Sequence, Stop,
};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const REPLY: &[u8] = b"one reply and no more\r\n";

/// Seven clients that send [`REQUEST`] thirteen times each and expect [`REPLY`].
fn own(address: &str, backend: Backend) -> LoadJob {
    let mut job = job(address, backend);
    job.fleet.connections = 7;
    let mut spec = job.exchange_spec().clone();
    spec.connection = ConnectionUse::PerMessage {
        slow_first_byte_ns: 1_000_000_000,
        tells_every_request: true,
    };
    spec.stop = Stop::MessagesEach(13);
    job.phases = Sequence::of_exchange(spec);
    expect(&mut job, Expect::Text(REPLY.to_vec()));
    job
}

fn expect(job: &mut LoadJob, expect: Expect) {
    job.exchange_spec().protocol = Protocol::Request {
        send: REQUEST.to_vec(),
        expect,
    };
}

/// Runs against the address on both back ends.
fn at(
    address: &str,
    change: impl Fn(&mut LoadJob),
    check: impl Fn(&LoadRecord, &ConnectionsPhase),
) {
    for backend in BACKENDS {
        let mut job = own(address, backend);
        change(&mut job);
        let record = run(&job);
        let connections = record.phases.connections().expect("it has them");
        check(&record, connections);
    }
}

fn as_it_is(_: &mut LoadJob) {}

/// Reads the request; whether it came.
fn request(stream: &mut TcpStream) -> bool {
    let mut bytes = [0; REQUEST.len()];
    stream.read_exact(&mut bytes).is_ok() && bytes == REQUEST
}

/// Answers so, in pieces that are sent apart, and closes.
fn answer(pieces: &'static [&'static [u8]]) -> impl Fn(TcpStream) + Send + Sync + Clone {
    move |mut stream| {
        stream.set_nodelay(true).expect("an option");
        if request(&mut stream) {
            for piece in pieces {
                let _ = stream.write_all(piece);
            }
        }
    }
}
