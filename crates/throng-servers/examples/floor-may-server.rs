//! The floor under the `may` server: the echo server of may's examples, on one worker. It handles
//! no slow reader and no failed accept, and ends when it is killed.
//!
//! Usage: `floor-may-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

mod loopback;

use std::error::Error;
use std::io::{Read as _, Write as _};

use may::go;
use may::io::{CoIo, WaitIo as _};

fn main() -> Result<(), Box<dyn Error>> {
    let listener = loopback::listen("floor-may-server")?;
    may::config().set_workers(1).set_worker_pin(false);
    let listener = CoIo::new(listener).map_err(std::io::Error::from)?;
    let accepting = go!(move || {
        loop {
            let Ok((stream, _)) = listener.inner().accept() else {
                listener.wait_io();
                continue;
            };
            if stream.set_nodelay(true).is_err() {
                continue;
            }
            let Ok(mut stream) = CoIo::new(stream) else {
                continue;
            };
            go!(move || {
                let mut buffer = vec![0; 16_384];
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    if stream.write_all(&buffer[..length]).is_err() {
                        break;
                    }
                }
            });
        }
    });
    accepting
        .join()
        .map_err(|_| "the coroutine panicked".into())
}
