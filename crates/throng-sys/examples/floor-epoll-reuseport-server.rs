//! The floor under the `epoll-reuseport` server: the least that several echo loops do, each with a listener of its own on the
//! same port. They handle no partial write, no slow reader and no error, and end when they are killed.
//!
//! Usage: `floor-epoll-reuseport-server CPU [THREADS]`, one thread by default, all on that CPU; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

mod level;

use std::error::Error;
use std::num::NonZeroUsize;
use std::thread;

use throng_sys::epoll::Interest;
use throng_sys::{affinity, shared_port};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let cpu = arguments
        .next()
        .ok_or("usage: floor-epoll-reuseport-server CPU [THREADS]")?;
    let threads = arguments
        .next()
        .map_or(Ok(NonZeroUsize::MIN), |count| count.parse())?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (listeners, address) = shared_port::listen(&"127.0.0.1:0".parse()?, 4096, threads)?;
    println!("ready {address}");
    thread::scope(|scope| {
        for listener in &listeners {
            scope.spawn(|| level::echo(listener, Interest::IN));
        }
    });
    Ok(())
}
