//! One connection of the compio server: what its task does, from the first byte to the last.
//!
//! *Method.* Each operation takes its buffer along and gives it back. Where a connection's answers are its own, its task
//! reads and writes in turn. Where what it says goes to everyone it speaks and hears at once, two loops in the same task.

use std::io;
use std::os::fd::AsFd;

use compio::BufResult;
use compio::buf::{IntoInner as _, IoBuf as _};
use compio::io::{AsyncRead, AsyncWrite};
use compio::runtime::time;
use smol::future::{or, zip};

use super::Entry;
use crate::drain;
use crate::linger;
use crate::room::Member;
use crate::workload::{Session, Then};

/// Bytes that one read takes at most.
const INPUT_BYTES: usize = 16 * 1024;

/// A connection's task. An error is a reset: there is nobody left to tell.
pub(super) async fn serve_connection<S: Session, Stream: AsyncRead + AsyncWrite>(
    mut session: S,
    mut stream: Stream,
    mut entry: Entry,
) {
    let mut input = Vec::with_capacity(INPUT_BYTES);
    let mut output = Vec::new();
    loop {
        input.clear();
        // The buffers go to the kernel and come back.
        let BufResult(received, buffer) = stream.read(input).await;
        input = buffer;
        let Ok(received) = received else { return };
        output.clear();
        let mut then = if received == 0 {
            session.end_of_input(&mut output)
        } else {
            session.input(&input, &mut output)
        };
        loop {
            // As `write_all`, but counting: the drop of a task may end it half-way.
            let mut sent = 0;
            while sent < output.len() {
                let BufResult(more, rest) = stream.write(output.slice(sent..)).await;
                output = rest.into_inner();
                let Ok(more) = more else { return };
                sent += more;
                entry.bytes += more as u64;
            }
            match then.settled(received == 0) {
                Then::Read => break,
                Then::Wait(delay) => {
                    Box::pin(entry.shared.wait(delay)).await;
                    output.clear();
                    then = session.resume(&mut output);
                }
                Then::Linger => return Box::pin(linger(stream, input)).await,
                Then::Close => return,
            }
        }
    }
}

/// A connection's task where what it says goes to everyone: it speaks and hears at once. Its session asks for no wait.
pub(super) async fn serve_member<S: Session, Stream: AsyncRead + AsyncWrite + AsFd + Copy>(
    session: S,
    stream: Stream,
    mut entry: Entry,
    member: Member,
) {
    let speaking = async {
        speak(session, stream, &member).await;
        member.leave();
    };
    let hearing = async {
        hear(stream, &mut entry, &member).await;
        // Whoever is not sent anything any more is not listened to.
        drain::end_input(stream);
    };
    zip(speaking, hearing).await;
}

/// Until there is no more input.
async fn speak<S: Session>(mut session: S, mut stream: impl AsyncRead, member: &Member) {
    let mut input = Vec::with_capacity(INPUT_BYTES);
    let mut output = Vec::new();
    let mut then = Then::Read;
    while then == Then::Read {
        input.clear();
        let BufResult(received, buffer) = stream.read(input).await;
        input = buffer;
        let Ok(1..) = received else { return };
        output.clear();
        then = session.input(&input, &mut output);
        member.say(&output);
    }
}

/// Until it has left and all is sent, its own last words among it; or the connection broke, or it is given up.
async fn hear(mut stream: impl AsyncWrite, entry: &mut Entry, member: &Member) {
    while let Some(mut unsent) = member.next().await {
        let mut sent = 0;
        while sent < unsent.len() {
            let writing = async { Some(stream.write(unsent.slice(sent..)).await) };
            let given_up = async {
                member.given_up().await;
                None
            };
            let Some(BufResult(Ok(more), rest)) = or(writing, given_up).await else {
                return;
            };
            unsent = rest.into_inner();
            sent += more;
            entry.bytes += more as u64;
        }
    }
}

/// Until the peer has ended its output too, within bounds that are shorter than a drain.
async fn linger<Stream: AsyncRead + AsyncWrite>(mut stream: Stream, mut input: Vec<u8>) {
    let dropping = async {
        let mut left = linger::BYTES_MAX;
        stream.shutdown().await?;
        while left > 0 {
            input.clear();
            let BufResult(received, buffer) = stream.read(input).await;
            input = buffer;
            match received? {
                0 => break,
                received => left = left.saturating_sub(received),
            }
        }
        io::Result::Ok(())
    };
    let _ = time::timeout(linger::LENGTH, dropping).await;
}
