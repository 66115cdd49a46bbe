//! *Several loops, each with a listener of its own on the same port* (`SO_REUSEPORT`, socket(7)). The kernel chooses the
//! listener, and so the loop, by a hash of each connection's addresses and ports. The loops share nothing at all; otherwise
//! each is the level-triggered loop of `epoll-level`. The main thread starts the loops and waits.
//!
//! *Connections are spread evenly, and blindly:* as evenly as dice fall, and without regard to who is busy. A connection whose
//! loop is stuck waits in that loop's queue though others idle, which is the price beside `epoll-shared`.
//!
//! *The port.* Port 0 is chosen by the kernel for the first listener, and the others follow. A second server on the same port
//! is refused as with every other model, although the option exists to let it in (see [`throng_sys::shared_port`]). There is
//! nothing like it for the path of a Unix socket, so this model serves none. Left out on purpose: binding loops to CPUs,
//! and steering connections to them by a program (`SO_ATTACH_REUSEPORT_EBPF`).
//!
//! *All loops share one descriptor table*, and so one `ulimit -n`, unlike those of `epoll-shared`: the hash knows nothing of a
//! full loop and would go on giving it connections that nobody else can accept. Where the table is full, all of them pause.
//!
//! *Slow readers.* What the socket does not take is kept, and the connection is watched for room instead of input until
//! that is gone: never more than one read's answer is kept, for an echo 64 KiB.
//!
//! *What goes to everyone* is posted to the other loops' mailboxes ([`Passing`]), which is all that loops say to each
//! other, and only where the workload asks for it.
//!
//! *Delays* are deadlines of the loop that has the connection, which leaves the set meanwhile.
//!
//! *Nobody starves* within a loop: one read a turn, and the rest is reported again.
//!
//! *Termination.* All loops watch one [`End`]. Closing a listener resets the connections that wait in *its* queue, though
//! another one listens on the port. So each loop first accepts what waits, then closes its listeners, and drains. A connection
//! whose handshake ends between the two is reset all the same.

use std::os::fd::{AsFd as _, BorrowedFd};

use throng_record::built_in::{BuiltInModel, Count, Family, Workers};
use throng_sys::address::Address;

use crate::loops::{End, serve_in_threads};
use crate::models::epoll_level::Loop;
use crate::opening::Opening;
use crate::passing::Passing;
use crate::served::{ModelError, Served};
use crate::workload::Session;

pub(crate) const DECLARATION: BuiltInModel = BuiltInModel {
    name: "epoll-reuseport",
    family: Family::EventLoops,
    summary: "several epoll(7) loops, each with its own listener on the port (SO_REUSEPORT)",
    workers: Workers::OnePerCpu,
    // The main thread, which waits, and each loop's own.
    threads: Count {
        fixed: 1,
        per_worker: 1,
        per_connection: 0,
    },
    serves_unix: false,
    ..BuiltInModel::ONE_THREAD
};

pub(crate) fn serve<S: Session>(
    opening: &mut Opening<'_>,
    settings: &S::Settings,
    stop: BorrowedFd<'_>,
) -> Result<Served, ModelError> {
    let listeners = opening.listeners_of_each_worker()?;
    let addresses: Vec<Address> = listeners[0]
        .iter()
        .map(|listener| listener.address().clone())
        .collect();
    let (main_end, loops_end) = End::pair()?;
    let waiting_max = opening.waiting_max();
    let passings = Passing::for_loops::<S>(listeners.len())?;
    let parts = listeners.into_iter().zip(passings).collect();
    let served = serve_in_threads(
        parts,
        (&main_end, &loops_end),
        stop,
        |(own, passing), begun| {
            let server = Loop::<S>::new(settings, own, waiting_max, loops_end.as_fd(), passing)?;
            begun.say();
            server.run()
        },
        || opening.ready_at(&addresses),
    );
    Ok(served?)
}

#[cfg(test)]
mod tests;
