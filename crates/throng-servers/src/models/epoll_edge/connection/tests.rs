use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use super::*;

/// What the loop lends a turn.
const INPUT_BYTES: usize = 64 * 1024;

fn pair() -> (UnixStream, Connection<Echo>) {
    let (client, server) = UnixStream::pair().expect("a pair");
    server.set_nonblocking(true).expect("set");
    let connection = Connection {
        socket: server.into(),
        session: Echo,
        stage: Stage::Reading,
        input_ended: false,
    };
    (client, connection)
}

/// A turn with reads of 10 bytes; what comes next, and the bytes sent.
fn turn(connection: &mut Connection<Echo>, ready: Interest) -> (Next, u64) {
    let mut bytes = 0;
    let next = connection.turn(ready, &mut [0; 10], &mut Vec::new(), &mut bytes);
    (next.expect("no error"), bytes)
}

#[test]
fn a_turn_is_bounded_and_asks_to_be_reported_again() {
    let (mut client, mut connection) = pair();
    client.write_all(&[1; 100]).expect("sent");
    let (next, bytes) = turn(&mut connection, Interest::IN);
    assert!(matches!(next, Next::Watch(interest) if interest == FOR_INPUT));
    assert_eq!(bytes, 10 * ROUNDS as u64);
}

#[test]
fn a_short_read_ends_the_turn_unless_the_input_has_ended() {
    let (mut client, mut connection) = pair();
    client.write_all(&[1; 15]).expect("sent");
    let (next, bytes) = turn(&mut connection, Interest::IN);
    assert!(matches!((next, bytes), (Next::Wait, 15)));
    client.write_all(&[1; 5]).expect("sent");
    socket::end_output(&client).expect("half-closed");
    let (next, bytes) = turn(&mut connection, Interest::IN | Interest::RDHUP);
    assert!(matches!((next, bytes), (Next::Close, 5)));
}

#[test]
fn what_does_not_fit_is_kept_and_sent_on_before_anything_is_read() {
    let (mut client, mut connection) = pair();
    let mut bytes = 0;
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut sent = 0;
    let next = loop {
        client.write_all(&[1; 4096]).expect("read at once");
        sent += 4096;
        match connection.turn(Interest::IN, &mut input, &mut output, &mut bytes) {
            Ok(Next::Wait) => {}
            next => break next.expect("no error"),
        }
    };
    assert!(matches!(next, Next::Watch(interest) if interest == FOR_ROOM));
    let Stage::Sending(kept) = &connection.stage else {
        panic!("it was sent");
    };
    let unsent = kept.0.len();
    assert_eq!(bytes + unsent as u64, sent);

    client.write_all(b"not yet").expect("sent");
    client
        .read_exact(&mut vec![0; bytes as usize])
        .expect("read");
    let (next, bytes) = turn(&mut connection, Interest::OUT);
    assert!(matches!(next, Next::Watch(interest) if interest == FOR_INPUT));
    assert_eq!(bytes, unsent as u64, "only what was kept");
    assert!(
        matches!(connection.stage, Stage::Reading),
        "the memory went back"
    );
}
