//! The floor under the `epoll-shared` server: the least that several echo loops over one listener do. They handle no partial
//! write, no slow reader and no error, and end when they are killed.
//!
//! Usage: `floor-epoll-shared-server CPU [THREADS]`, one thread by default, all on that CPU; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

mod level;

use std::error::Error;
use std::thread;

use throng_sys::epoll::Interest;
use throng_sys::{affinity, socket};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let cpu = arguments
        .next()
        .ok_or("usage: floor-epoll-shared-server CPU [THREADS]")?;
    let threads: usize = arguments.next().map_or(Ok(1), |count| count.parse())?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    println!("ready {address}");
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| level::echo(&listener, Interest::IN | Interest::EXCLUSIVE));
        }
    });
    Ok(())
}
