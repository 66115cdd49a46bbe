//! What the floors over runtimes need beside their loop: the CPU, and the word that they are ready.

use std::error::Error;
use std::net::TcpListener;

use throng_sys::affinity;

/// A listener on a free port, announced, with this thread (and those that it starts) on the CPU that was asked for.
pub(crate) fn listen(name: &str) -> Result<TcpListener, Box<dyn Error>> {
    let cpu = std::env::args()
        .nth(1)
        .ok_or_else(|| format!("usage: {name} CPU"))?;
    affinity::set_current_thread(&[cpu.parse()?])?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    println!("ready {}", listener.local_addr()?);
    Ok(listener)
}
