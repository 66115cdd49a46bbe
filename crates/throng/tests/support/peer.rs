//! Servers within the test, each with one fault or one virtue that is known.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Bytes of the messages that the peers expect.
pub(crate) const SIZE: usize = 64;

/// Starts a server that treats each connection so, on a thread of its own, until the test ends; its address.
pub(crate) fn start(treat: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    start_after(listener, |_| {}, treat)
}

/// The same, which accepts nothing until `wait` has returned.
pub(crate) fn start_after(
    listener: TcpListener,
    wait: impl FnOnce(&TcpListener) + Send + 'static,
    treat: fn(TcpStream),
) -> String {
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        wait(&listener);
        for stream in listener.incoming() {
            let stream = stream.expect("accepted");
            std::thread::spawn(move || treat(stream));
        }
    });
    format!("tcp://{address}")
}

/// An address at which nobody listens.
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    format!("tcp://{address}")
}

/// Calls `answer` for each message of [`SIZE`] bytes with its number, until the peer closes or `answer` says to end.
fn answer_each(mut stream: TcpStream, answer: fn(&mut TcpStream, &mut [u8; SIZE], u32) -> Next) {
    let mut message = [0; SIZE];
    for number in 0.. {
        if stream.read_exact(&mut message).is_err() {
            return;
        }
        if let Next::End = answer(&mut stream, &mut message, number) {
            return;
        }
    }
}

enum Next {
    GoOn,
    End,
}

fn send(stream: &mut TcpStream, bytes: &[u8]) -> Next {
    match stream.write_all(bytes) {
        Ok(()) => Next::GoOn,
        Err(_) => Next::End,
    }
}

pub(crate) fn faultless(stream: TcpStream) {
    answer_each(stream, |stream, message, _| send(stream, message));
}

/// Answers rightly, but only after [`DELAY`].
pub(crate) fn slow(stream: TcpStream) {
    slow_by(stream, DELAY);
}

pub(crate) fn slow_by(mut stream: TcpStream, delay: Duration) {
    let mut message = [0; SIZE];
    while stream.read_exact(&mut message).is_ok() {
        std::thread::sleep(delay);
        if stream.write_all(&message).is_err() {
            return;
        }
    }
}

/// By which [`slow`] is late.
pub(crate) const DELAY: Duration = Duration::from_millis(20);

pub(crate) fn wrong_byte(stream: TcpStream) {
    answer_each(stream, |stream, message, number| {
        if number == 3 {
            message[SIZE / 2] ^= 1;
        }
        send(stream, message)
    });
}

pub(crate) fn reordered(stream: TcpStream) {
    answer_each(stream, |stream, message, _| {
        message.rotate_left(1);
        send(stream, message)
    });
}

pub(crate) fn truncating(stream: TcpStream) {
    answer_each(stream, |stream, message, _| {
        let _ = stream.write_all(&message[..SIZE / 2]);
        Next::End
    });
}

pub(crate) fn closing_half_way(stream: TcpStream) {
    answer_each(stream, |stream, message, number| {
        if number == 5 {
            Next::End
        } else {
            send(stream, message)
        }
    });
}

pub(crate) fn too_much(stream: TcpStream) {
    answer_each(stream, |stream, message, _| {
        let twice = [message.as_slice(), message.as_slice()].concat();
        send(stream, &twice)
    });
}

pub(crate) fn falling_silent(stream: TcpStream) {
    answer_each(stream, |stream, message, number| {
        if number < 5 {
            send(stream, message)
        } else {
            Next::GoOn
        }
    });
}

/// Reads everything and never answers.
pub(crate) fn silent(stream: TcpStream) {
    answer_each(stream, |_, _, _| Next::GoOn);
}

/// Sends all of a reply but its last byte, and then nothing more.
pub(crate) fn stopping_short(stream: TcpStream) {
    answer_each(stream, |stream, message, _| {
        let _ = stream.write_all(&message[..SIZE - 1]);
        std::thread::park();
        Next::End
    });
}

/// What becomes of some connections of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Reset,
    Silence,
    Close,
}

/// Starts a server that echoes, but for every n-th connection, which fails so when its request has come; its address.
pub(crate) fn failing_every(every: usize, fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for (number, stream) in (1..).zip(listener.incoming()) {
            let mut stream = stream.expect("accepted");
            let fails = number % every == 0;
            std::thread::spawn(move || {
                let mut bytes = [0; SIZE];
                while let Ok(length @ 1..) = stream.read(&mut bytes) {
                    match (fails, fault) {
                        (false, _) => drop(stream.write_all(&bytes[..length])),
                        (true, Fault::Silence) => {}
                        (true, Fault::Close) => return,
                        (true, Fault::Reset) => {
                            let linger = Some(Duration::ZERO);
                            let _ = rustix::net::sockopt::set_socket_linger(&stream, linger);
                            return;
                        }
                    }
                }
            });
        }
    });
    format!("tcp://{address}")
}

/// Leaves a part of the message unread: the kernel then closes with a reset.
pub(crate) fn resetting(mut stream: TcpStream) {
    let _ = stream.read_exact(&mut [0; SIZE / 2]);
}

/// Answers `PING` as Redis does.
pub(crate) fn redis_ping(mut stream: TcpStream) {
    let mut request = [0; 6];
    while stream.read_exact(&mut request).is_ok() && request == *b"PING\r\n" {
        if stream.write_all(b"+PONG\r\n").is_err() {
            return;
        }
    }
}
