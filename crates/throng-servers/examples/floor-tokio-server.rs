//! The floor under the `tokio` server: the echo server of tokio's tutorial, on one worker. It handles
//! no slow reader and no failed accept, and ends when it is killed.
//!
//! Usage: `floor-tokio-server CPU`; prints `ready ADDRESS`.
#![expect(clippy::print_stdout, reason = "its one output")]

mod loopback;

use std::error::Error;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let listener = loopback::listen("floor-tokio-server")?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (mut stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(async move {
                let mut buffer = vec![0; 16_384];
                while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                    if stream.write_all(&buffer[..length]).await.is_err() {
                        break;
                    }
                }
            });
        }
    })
}
