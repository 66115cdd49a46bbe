//! A connection that has a thread, or a process, to itself for as long as it lasts: every call waits until it is done.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use throng_sys::socket;

use crate::linger;
use crate::workload::{Session, Then};

/// Bytes that one read takes at most.
pub(crate) const INPUT_BYTES: usize = 16 * 1024;

/// What is read and what is answered to it; made once by whoever serves one connection after another.
#[derive(Debug)]
pub(crate) struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Buffers {
    pub(crate) fn new() -> Self {
        Self {
            input: vec![0; INPUT_BYTES],
            output: Vec::new(),
        }
    }
}

/// Serves a connection from its first byte to its last. `sit_out` waits for as long as the session asks; `sent` is told of bytes when they are sent,
/// since a process may be killed before the end.
pub(crate) fn serve(
    mut session: impl Session,
    connection: &OwnedFd,
    Buffers { input, output }: &mut Buffers,
    sit_out: impl Fn(Duration),
    mut sent: impl FnMut(u64),
) {
    // An error is a reset: there is nobody left to tell.
    while let Ok(received) = socket::receive(connection, input) {
        output.clear();
        let mut then = if received == 0 {
            session.end_of_input(output)
        } else {
            session.input(&input[..received], output)
        };
        loop {
            if send(connection, output, &mut sent).is_err() {
                return;
            }
            match then.settled(received == 0) {
                Then::Read => break,
                Then::Wait(delay) => {
                    sit_out(delay);
                    output.clear();
                    then = session.resume(output);
                }
                Then::Linger => return linger::sit_out(connection, input),
                Then::Close => return,
            }
        }
    }
}

/// Sends all of it, and tells of what is sent also where that fails.
pub(crate) fn send(
    connection: &OwnedFd,
    mut output: &[u8],
    mut sent: impl FnMut(u64),
) -> io::Result<()> {
    while !output.is_empty() {
        let more = socket::send(connection, output)?;
        sent(more as u64);
        output = &output[more..];
    }
    Ok(())
}
