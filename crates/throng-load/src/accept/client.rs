//! The client's ends: a second thread with a descriptor table of its own, so that N connections take N descriptors of each
//! table instead of twice as many of one. It does one thing at a time, when it is asked, and says when it is done; nothing of that is
//! timed.

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use throng_sys::address::Address;
use throng_sys::clock::MILLISECOND_NS;
use throng_sys::poll::{PollSet, WRITABLE};
use throng_sys::socket::{self, Connecting};
use throng_sys::{affinity, descriptor_table};

use crate::source::Sources;

/// What it is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// One more connection. Done when `connect(2)` is.
    Connect,
    /// One byte on the newest connection. Done when it is sent.
    Send,
}

/// What its thread starts with.
pub(super) struct Assignment {
    pub(super) address: Address,
    pub(super) sources: Sources,
    /// The CPU to be pinned to.
    pub(super) cpu: Option<u32>,
    pub(super) connect_timeout_ns: u64,
}

/// The client as seen by who asks. Its thread ends, and closes every connection, when this is dropped.
pub(super) struct Client {
    orders: Sender<Order>,
    answers: Receiver<io::Result<()>>,
}

impl Client {
    /// A client that is ready to connect.
    ///
    /// # Errors
    /// Where the thread cannot be started, unshare its table or be pinned.
    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        assignment: Assignment,
    ) -> io::Result<Self> {
        let (orders, asked) = channel();
        let (answer, answers) = channel();
        std::thread::Builder::new()
            .name("client".to_owned())
            .spawn_scoped(scope, move || run(&assignment, &asked, &answer))?;
        let client = Self { orders, answers };
        client.answer()?;
        Ok(client)
    }

    /// Has it done, and waits until it is.
    ///
    /// # Errors
    /// What the kernel answered the client.
    pub(super) fn ask(&self, order: Order) -> io::Result<()> {
        // Where nobody listens nobody answers either.
        let _ = self.orders.send(order);
        self.answer()
    }

    fn answer(&self) -> io::Result<()> {
        self.answers
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("the client's thread has ended")))
    }
}

fn run(assignment: &Assignment, asked: &Receiver<Order>, answer: &Sender<io::Result<()>>) {
    // Nobody listens only where the measurement is already over.
    let prepared = prepare_thread(assignment);
    let is_ready = prepared.is_ok();
    let _ = answer.send(prepared);
    if !is_ready {
        return;
    }
    let mut connections: Vec<OwnedFd> = Vec::new();
    while let Ok(order) = asked.recv() {
        let done = match order {
            Order::Connect => {
                let source = assignment.sources.of_connection(connections.len() as u32);
                connect(assignment, source).map(|connection| connections.push(connection))
            }
            Order::Send => match connections.last() {
                Some(newest) => socket::send(newest, b"x").map(drop),
                None => Err(io::Error::other("there is no connection to send on")),
            },
        };
        let _ = answer.send(done);
    }
}

/// The first act of the thread: from here on its descriptors are its own.
fn prepare_thread(assignment: &Assignment) -> io::Result<()> {
    descriptor_table::make_private(&[])?;
    match assignment.cpu {
        Some(cpu) => affinity::set_current_thread(&[cpu]),
        None => Ok(()),
    }
}

fn connect(assignment: &Assignment, source: Option<IpAddr>) -> io::Result<OwnedFd> {
    let connection = match socket::start_connect(&assignment.address, source, true)? {
        Connecting::Done(connection) => connection,
        Connecting::UnderWay(connection) => {
            await_end(&connection, assignment.connect_timeout_ns)?;
            connection
        }
        Connecting::QueueFull => return Err(io::ErrorKind::WouldBlock.into()),
    };
    // Thousands end at once: without TIME_WAIT their ports are free for the next trial.
    socket::reset_on_close(&connection)?;
    Ok(connection)
}

fn await_end(connection: &OwnedFd, timeout_ns: u64) -> io::Result<()> {
    let timeout_ms = timeout_ns.div_ceil(MILLISECOND_NS);
    let timeout_ms = u32::try_from(timeout_ms).unwrap_or(u32::MAX);
    let mut set = PollSet::new();
    set.push(connection, WRITABLE);
    match set.wait(Some(timeout_ms))? {
        0 => Err(io::ErrorKind::TimedOut.into()),
        _ => socket::connect_result(connection),
    }
}
