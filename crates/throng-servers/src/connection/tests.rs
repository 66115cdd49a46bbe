use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use throng_sys::epoll::{Epoll, Interest};

use super::*;
use crate::workload::{Http, Oneshot};

const INPUT_BYTES: usize = 64 * 1024;

fn pair_of<S: Session>(settings: &S::Settings) -> (UnixStream, Connection<S>) {
    let (client, server) = UnixStream::pair().expect("a pair");
    server.set_nonblocking(true).expect("set");
    (client, Connection::new(server.into(), settings))
}

fn pair() -> (UnixStream, Connection<Echo>) {
    pair_of(&())
}

/// A turn with a read of 10 bytes; what comes next, and the bytes sent.
fn turn<S: Session>(connection: &mut Connection<S>) -> (Next, u64) {
    let mut bytes = 0;
    let next = connection.turn(&mut [0; 10], &mut Vec::new(), &mut bytes);
    (next.expect("no error"), bytes)
}

#[test]
fn what_a_turn_leaves_is_reported_again_the_end_of_input_too() {
    let (mut client, mut connection) = pair();
    let mut epoll = Epoll::new(1).expect("an epoll");
    epoll
        .add(&connection.socket, 0, Interest::IN)
        .expect("added");
    client.write_all(&[1; 15]).expect("sent");
    socket::end_output(&client).expect("half-closed");
    for expected in [10, 5] {
        assert_eq!(epoll.wait(Some(0)).expect("wait"), 1);
        let (next, bytes) = turn(&mut connection);
        assert!(matches!(next, Next::AsBefore), "{next:?}");
        assert_eq!(bytes, expected);
    }
    assert_eq!(epoll.wait(Some(0)).expect("wait"), 1);
    assert!(matches!(turn(&mut connection), (Next::Close, 0)));
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
        match connection.turn(&mut input, &mut output, &mut bytes) {
            Ok(Next::AsBefore) => {}
            next => break next.expect("no error"),
        }
    };
    assert!(matches!(next, Next::Room), "{next:?}");
    let Stage::Sending(kept) = &connection.stage else {
        panic!("it was sent");
    };
    let unsent = kept.0.len();
    assert_eq!(bytes + unsent as u64, sent);

    client.write_all(b"not yet").expect("sent");
    client
        .read_exact(&mut vec![0; bytes as usize])
        .expect("read");
    let (next, bytes) = turn(&mut connection);
    assert!(matches!(next, Next::Input), "{next:?}");
    assert_eq!(bytes, unsent as u64, "only what was kept");
    assert!(
        matches!(connection.stage, Stage::Reading),
        "the memory went back"
    );
}

#[test]
fn who_waits_reads_nothing_until_it_is_resumed() {
    let delay = Duration::from_millis(40);
    let (mut client, mut connection) = pair_of::<Oneshot>(&delay);
    client.write_all(b"question").expect("sent");
    let (next, bytes) = turn(&mut connection);
    assert!(
        matches!((&next, bytes), (Next::Delay(asked), 0) if *asked == delay),
        "{next:?}"
    );
    // Its loop keeps the time, and may still have an event of it.
    connection.stage = Stage::Waiting { until_ns: 1 };
    client.write_all(b"more").expect("sent");
    assert!(matches!(turn(&mut connection), (Next::AsBefore, 0)));

    let mut bytes = 0;
    let next = connection.resume(&mut Vec::new(), &mut bytes);
    assert!(matches!(next, Ok(Next::Close)), "{next:?}");
    assert_eq!(bytes, 23);
    assert_eq!(
        socket::receive(&connection.socket, &mut [0; 10]).expect("unread"),
        4
    );
}

#[test]
fn what_follows_an_answer_follows_when_all_of_it_is_sent() {
    let (mut client, mut connection) = pair_of::<Http>(&Duration::ZERO);
    let requests = b"GET / HTTP/1.1\r\n\r\n".repeat(4000);
    client.write_all(&requests).expect("sent");
    client
        .write_all(b"GET / HTTP/1.0\r\n\r\n")
        .expect("there is room");
    let mut bytes = 0;
    let mut input = vec![0; 2 * requests.len()];
    let mut turn = |connection: &mut Connection<Http>| {
        let next = connection.turn(&mut input, &mut Vec::new(), &mut bytes);
        next.expect("no error")
    };
    let next = turn(&mut connection);
    assert!(matches!(next, Next::Room), "{next:?}");
    let mut received = 0;
    let next = loop {
        received += client.read(&mut vec![0; 65_536]).expect("there is more");
        match turn(&mut connection) {
            Next::AsBefore => {}
            next => break next,
        }
    };
    assert!(matches!(next, Next::Linger(_)), "{next:?}");
    received += client.read_to_end(&mut Vec::new()).expect("an end");
    assert_eq!(received as u64, bytes);
}

/// A turn on a change with reads of 10 bytes; what comes next, and the bytes sent.
fn turn_on_change(connection: &mut Connection<Echo>, input_has_ended: bool) -> (Next, u64) {
    let mut bytes = 0;
    let (input, output) = (&mut [0; 10], &mut Vec::new());
    let next = connection.turn_on_change(input_has_ended, input, output, &mut bytes);
    (next.expect("no error"), bytes)
}

#[test]
fn a_turn_on_a_change_is_bounded_and_asks_to_be_reported_again() {
    let (mut client, mut connection) = pair();
    client.write_all(&[1; 100]).expect("sent");
    let (next, bytes) = turn_on_change(&mut connection, false);
    assert!(matches!(next, Next::Input), "{next:?}");
    assert_eq!(bytes, 10 * ROUNDS as u64);
}

#[test]
fn a_short_read_ends_the_turn_unless_the_input_has_ended() {
    let (mut client, mut connection) = pair();
    client.write_all(&[1; 15]).expect("sent");
    let (next, bytes) = turn_on_change(&mut connection, false);
    assert!(matches!((next, bytes), (Next::AsBefore, 15)));
    client.write_all(&[1; 5]).expect("sent");
    socket::end_output(&client).expect("half-closed");
    let (next, bytes) = turn_on_change(&mut connection, true);
    assert!(matches!((next, bytes), (Next::Close, 5)));
}

#[test]
fn what_does_not_fit_on_a_change_is_kept_and_sent_on_before_anything_is_read() {
    let (mut client, mut connection) = pair();
    let mut bytes = 0;
    let mut input = vec![0; INPUT_BYTES];
    let mut output = Vec::new();
    let mut sent = 0;
    let next = loop {
        client.write_all(&[1; 4096]).expect("read at once");
        sent += 4096;
        match connection.turn_on_change(false, &mut input, &mut output, &mut bytes) {
            Ok(Next::AsBefore) => {}
            next => break next.expect("no error"),
        }
    };
    assert!(matches!(next, Next::Room), "{next:?}");
    let Stage::Sending(kept) = &connection.stage else {
        panic!("it was sent");
    };
    let unsent = kept.0.len();
    assert_eq!(bytes + unsent as u64, sent);

    client.write_all(b"not yet").expect("sent");
    client
        .read_exact(&mut vec![0; bytes as usize])
        .expect("read");
    let (next, bytes) = turn_on_change(&mut connection, false);
    assert!(matches!(next, Next::Input), "{next:?}");
    assert_eq!(bytes, unsent as u64, "only what was kept");
    assert!(
        matches!(connection.stage, Stage::Reading),
        "the memory went back"
    );
}
