//! The floor under the `smol` server: the echo server of smol's examples, on one thread of ours. It handles
//! no slow reader and no failed accept, and ends when it is killed.
//!
//! Usage: `floor-smol-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

mod loopback;

use std::error::Error;

use smol::io::{AsyncReadExt as _, AsyncWriteExt as _};
use smol::{Async, Executor};

fn main() -> Result<(), Box<dyn Error>> {
    let listener = loopback::listen("floor-smol-server")?;
    let executor = Executor::new();
    smol::block_on(executor.run(async {
        let listener = Async::new(listener)?;
        loop {
            let (mut stream, _) = listener.accept().await?;
            stream.get_ref().set_nodelay(true)?;
            let serving = async move {
                let mut buffer = vec![0; 16_384];
                while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                    if stream.write_all(&buffer[..length]).await.is_err() {
                        break;
                    }
                }
            };
            executor.spawn(serving).detach();
        }
    }))
}
