//! Peers for the generator's tests: an echo server on threads, and peers that misbehave in one scripted way.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use throng_load::{Interrupt, run_job};
use throng_record::{
    Backend, ExchangePhase, ExchangeSpec, FleetSpec, LoadEvent, LoadJob, LoadRecord, Sequence, Stop,
};

pub(crate) const BACKENDS: [Backend; 2] = [Backend::Epoll, Backend::IoUring];

/// A listener whose every connection is handled by `handle` on a thread of its own; gives the address to connect to.
pub(crate) fn serve(handle: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    serve_at("127.0.0.1:0", handle)
}

/// The same, where it is to listen.
pub(crate) fn serve_at(
    address: &str,
    handle: impl Fn(TcpStream) + Send + Sync + Clone + 'static,
) -> String {
    let listener = TcpListener::bind(address).expect("a port");
    let address = format!("tcp://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = handle.clone();
            std::thread::spawn(move || handle(stream));
        }
    });
    address
}

/// Echoes until the end of input, each piece after `delay`.
pub(crate) fn echo_after(delay: Duration) -> impl Fn(TcpStream) + Send + Sync + Clone {
    move |mut stream| {
        let mut buffer = vec![0; 65_536];
        stream.set_nodelay(true).expect("an option");
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            if !delay.is_zero() {
                std::thread::sleep(delay);
            }
            if stream.write_all(&buffer[..length]).is_err() {
                return;
            }
        }
    }
}

pub(crate) fn echo() -> impl Fn(TcpStream) + Send + Sync + Clone {
    echo_after(Duration::ZERO)
}

/// Ten connections, one outstanding, 1,009 messages of 6 bytes, no warm-up.
pub(crate) fn job(address: &str, backend: Backend) -> LoadJob {
    LoadJob {
        fleet: FleetSpec {
            addresses: vec![address.to_owned()],
            connections: 10,
            backend,
            seed: 1,
            connect_timeout_ns: 5_000_000_000,
            reply_timeout_ns: 5_000_000_000,
            ..FleetSpec::default()
        },
        phases: Sequence::of_exchange(ExchangeSpec {
            stop: Stop::Messages(1009),
            ..ExchangeSpec::default()
        }),
    }
}

/// A job whose exchange, the first where there are several, is to be changed.
pub(crate) trait OfExchange {
    fn exchange_spec(&mut self) -> &mut ExchangeSpec;
}

impl OfExchange for LoadJob {
    fn exchange_spec(&mut self) -> &mut ExchangeSpec {
        self.phases.exchange_mut().expect("an exchange")
    }
}

/// What was exchanged, on kept connections or each message on its own.
pub(crate) fn exchanged(record: &LoadRecord) -> &ExchangePhase {
    record.phases.exchange().expect("a record of the exchange")
}

pub(crate) fn run(job: &LoadJob) -> LoadRecord {
    run_telling(job).0
}

/// The record, and the events on the way.
pub(crate) fn run_telling(job: &LoadJob) -> (LoadRecord, Vec<LoadEvent>) {
    let mut events = Vec::new();
    let record = run_job(job, &Interrupt::default(), &mut |event| events.push(event))
        .expect("a job that can be done");
    (record, events)
}
