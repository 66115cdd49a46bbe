//! The floor under the `io-uring` server: the least that an echo over `io_uring` does. Bytes are sent from the very buffer
//! they were received in, with no copy; it uses the ring bare, without the safe wrapper, handles no short send and no error,
//! and ends when it is killed.
//!
//! Usage: `floor-uring-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]
#![expect(
    unsafe_code,
    reason = "a bare ring: the wrapper's cost is part of what is compared with this"
)]

mod bare;

use std::error::Error;
use std::os::fd::AsRawFd as _;

use bare::push;
use io_uring::types::Fd;
use io_uring::{cqueue, opcode};
use throng_sys::{affinity, socket};

const ACCEPT: u64 = u64::MAX;
/// Set in the user data of a send; its lower bits are the buffer.
const SEND: u64 = 1 << 62;

fn main() -> Result<(), Box<dyn Error>> {
    let cpu = std::env::args()
        .nth(1)
        .ok_or("usage: floor-uring-server CPU")?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    println!("ready {address}");
    let (mut ring, mut pool) = bare::ring()?;
    push(
        &mut ring,
        &opcode::AcceptMulti::new(Fd(listener.as_raw_fd()))
            .build()
            .user_data(ACCEPT),
    );
    loop {
        ring.submit_and_wait(1)?;
        while let Some(completion) = { ring.completion().next() } {
            let (data, result) = (completion.user_data(), completion.result());
            if data == ACCEPT {
                rustix::net::sockopt::set_tcp_nodelay(borrowed(&result), true)?;
                push(
                    &mut ring,
                    &opcode::RecvMulti::new(Fd(result), 0)
                        .build()
                        .user_data(result as u64),
                );
            } else if data & SEND != 0 {
                pool.give(data as u16);
            } else if let (Some(id), 1..) = (cqueue::buffer_select(completion.flags()), result) {
                let send =
                    opcode::Send::new(Fd(data as i32), pool.address(id), result as u32).build();
                push(&mut ring, &send.user_data(SEND | u64::from(id)));
            }
        }
    }
}

fn borrowed(fd: &i32) -> std::os::fd::BorrowedFd<'_> {
    // SAFETY: the kernel has just accepted it, and nothing closes it.
    unsafe { std::os::fd::BorrowedFd::borrow_raw(*fd) }
}
