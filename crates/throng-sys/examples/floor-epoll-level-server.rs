//! The floor under the `epoll-level` server: the least that an echo over level-triggered epoll does. It handles no partial
//! write, no slow reader and no error, and ends when it is killed.
//!
//! Usage: `floor-epoll-level-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

mod level;

use std::error::Error;

use throng_sys::epoll::Interest;
use throng_sys::{affinity, socket};

fn main() -> Result<(), Box<dyn Error>> {
    let cpu = std::env::args()
        .nth(1)
        .ok_or("usage: floor-epoll-level-server CPU")?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse()?, 4096)?;
    println!("ready {address}");
    level::echo(&listener, Interest::IN)?;
    Ok(())
}
