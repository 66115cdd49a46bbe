//! The floor under the `compio` server: the shortest echo server that compio's examples suggest, on one thread. It handles
//! no slow reader and no failed accept, and ends when it is killed.
//!
//! Usage: `floor-compio-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

mod loopback;

use std::error::Error;

use compio::BufResult;
use compio::io::{AsyncRead as _, AsyncWriteExt as _};
use compio::net::TcpListener;
use compio::runtime::{Runtime, spawn};

fn main() -> Result<(), Box<dyn Error>> {
    let listener = loopback::listen("floor-compio-server")?;
    Runtime::new()?.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (mut stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let serving = async move {
                let mut buffer = Vec::with_capacity(16_384);
                loop {
                    buffer.clear();
                    let BufResult(Ok(1..), received) = stream.read(buffer).await else {
                        return;
                    };
                    let BufResult(Ok(()), sent) = stream.write_all(received).await else {
                        return;
                    };
                    buffer = sent;
                }
            };
            spawn(serving).detach();
        }
    })
}
