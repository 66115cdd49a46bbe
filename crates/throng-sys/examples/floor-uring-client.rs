//! What `io_uring` itself allows a generator: the least that a closed loop over a bare ring does. It neither verifies nor
//! records, handles no short send and no error, and counts replies only.
//!
//! Usage: `floor-uring-client ADDRESS CONNECTIONS BYTES SECONDS CPU`; prints replies per second.
#![expect(clippy::print_stdout, reason = "its one output")]
#![expect(
    unsafe_code,
    reason = "a bare ring: the wrapper's cost is part of what is compared with this"
)]

mod bare;

use std::error::Error;
use std::os::fd::{AsRawFd as _, OwnedFd};

use bare::push;
use io_uring::types::Fd;
use io_uring::{cqueue, opcode, squeue};
use throng_sys::clock::{SECOND_NS, monotonic_ns};
use throng_sys::{affinity, socket};

const SEND: u64 = u64::MAX;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, connections, bytes, seconds, cpu] = arguments.as_slice() else {
        return Err("usage: floor-uring-client ADDRESS CONNECTIONS BYTES SECONDS CPU".into());
    };
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (mut ring, mut pool) = bare::ring()?;
    let message = vec![b'x'; bytes.parse()?];
    let send = |socket: &OwnedFd| {
        let send = opcode::Send::new(
            Fd(socket.as_raw_fd()),
            message.as_ptr(),
            message.len() as u32,
        );
        send.build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(SEND)
    };
    let mut sockets: Vec<OwnedFd> = Vec::new();
    for token in 0..connections.parse()? {
        let (socket::Connecting::Done(socket) | socket::Connecting::UnderWay(socket)) =
            socket::start_connect(&address.parse()?, None, true)?
        else {
            return Err("the listener's queue is full".into());
        };
        push(
            &mut ring,
            &opcode::RecvMulti::new(Fd(socket.as_raw_fd()), 0)
                .build()
                .user_data(token),
        );
        push(&mut ring, &send(&socket));
        sockets.push(socket);
    }
    let started_at_ns = monotonic_ns();
    let ends_at_ns = started_at_ns + seconds.parse::<u64>()? * SECOND_NS;
    let mut replies = 0_u64;
    while monotonic_ns() < ends_at_ns {
        ring.submit_and_wait(1)?;
        while let Some(completion) = { ring.completion().next() } {
            let Some(id) = cqueue::buffer_select(completion.flags()) else {
                continue;
            };
            pool.give(id);
            push(&mut ring, &send(&sockets[completion.user_data() as usize]));
            replies += 1;
        }
    }
    println!(
        "{}",
        replies as f64 * 1e9 / (monotonic_ns() - started_at_ns) as f64
    );
    Ok(())
}
