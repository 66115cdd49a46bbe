use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use super::*;

const SMALL: RingOptions = RingOptions {
    submission_entries: 8,
    completion_entries: 16,
    buffer_count: 4,
    buffer_bytes: 16,
};

fn ring(shared: &[u8]) -> Ring {
    Ring::new(SMALL, shared.into()).expect("a ring")
}

#[test]
fn bytes_are_received_into_provided_buffers_and_recycled() {
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let mut ring = ring(b"");
    ring.receive(&far, 5).expect("queued");
    // Many more rounds than there are buffers: each must come back.
    for round in 0..50_u8 {
        near.write_all(&[round; 10]).expect("written");
        ring.submit_and_wait(1, None).expect("waited");
        let completion = ring.next_completion().expect("one");
        assert_eq!(
            (completion.kind, completion.token, completion.result),
            (Kind::Receive, 5, 10)
        );
        assert!(completion.more, "multishot goes on");
        let buffer = completion.buffer.expect("a buffer");
        assert_eq!(ring.received(&buffer, 10), [round; 10]);
        ring.recycle(buffer);
    }
    drop(near);
    ring.submit_and_wait(1, None).expect("waited");
    let end = ring.next_completion().expect("the end of input");
    assert_eq!((end.result, end.more), (0, false));
}

#[test]
fn a_single_receive_ends_with_its_piece_and_takes_no_more_than_a_buffer() {
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let mut ring = ring(b"");
    near.write_all(&[7; 23]).expect("written");
    for (token, length) in [(5, 16), (6, 7)] {
        ring.receive_once(&far, token).expect("queued");
        ring.submit().expect("submitted");
        ring.submit_and_wait(1, None).expect("waited");
        let completion = ring.next_completion().expect("one");
        assert_eq!(
            (completion.token, completion.bytes().ok(), completion.more),
            (token, Some(length), false)
        );
        let buffer = completion.buffer.expect("a buffer");
        assert_eq!(ring.received(&buffer, length), &[7; 16][..length]);
        ring.recycle(buffer);
    }
    assert!(ring.next_completion().is_none(), "nothing is under way");
}

#[test]
fn running_out_of_buffers_ends_the_multishot_with_enobufs() {
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let mut ring = ring(b"");
    ring.receive(&far, 1).expect("queued");
    near.write_all(&[7; 16 * 5]).expect("written");
    ring.submit_and_wait(5, Some(1_000_000_000))
        .expect("waited");
    let mut held = Vec::new();
    let mut last = None;
    while let Some(completion) = ring.next_completion() {
        last = Some((completion.result, completion.more));
        held.extend(completion.buffer);
    }
    assert_eq!(held.len(), 4);
    assert_eq!(last, Some((-libc::ENOBUFS, false)));
    held.into_iter().for_each(|buffer| ring.recycle(buffer));
    ring.receive(&far, 1).expect("queued again");
    ring.submit_and_wait(1, None).expect("waited");
    assert_eq!(ring.next_completion().expect("the rest").result, 16);
}

#[test]
fn sends_of_both_kinds_arrive_in_order() {
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let mut ring = ring(b"hello, shared world");
    ring.send_shared(&far, 7..13, 1, true).expect("queued");
    ring.submit_and_wait(0, None).expect("submitted");
    ring.send_owned(&far, b" owned".to_vec(), 2)
        .expect("queued");
    ring.submit_and_wait(1, None).expect("waited");
    let completion = ring
        .next_completion()
        .expect("the owned one; the shared one is silent");
    assert_eq!(
        (completion.kind, completion.token, completion.result),
        (Kind::SendOwned, 2, 6)
    );
    assert_eq!(completion.sent.as_deref(), Some(&b" owned"[..]));
    let mut text = [0; 12];
    near.read_exact(&mut text).expect("read");
    assert_eq!(&text, b"shared owned");
}

#[test]
fn more_operations_than_entries_are_submitted_on_the_way() {
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let mut ring = ring(b"0123456789");
    for _ in 0..100 {
        ring.send_shared(&far, 0..10, 1, true).expect("queued");
    }
    ring.submit_and_wait(0, None).expect("submitted");
    let mut text = [0; 1000];
    near.read_exact(&mut text).expect("all of it");
    assert!(text.chunks(10).all(|piece| piece == b"0123456789"));
}

#[test]
fn a_timeout_ends_the_wait() {
    let (_near, far) = UnixStream::pair().expect("a pair");
    let mut ring = ring(b"");
    ring.receive(&far, 1).expect("queued");
    ring.submit_and_wait(1, Some(1_000_000))
        .expect("a time-out is no error");
    ring.submit_and_wait(1, Some(0))
        .expect("nor is not waiting");
    assert!(ring.next_completion().is_none());
}

#[test]
fn an_accepted_descriptor_is_taken_once() {
    let (listener, bound) =
        crate::socket::listen(&"127.0.0.1:0".parse().expect("an address"), 8).expect("listening");
    let mut ring = ring(b"");
    ring.accept(&listener, 3).expect("queued");
    let _client = crate::socket::start_connect(&bound, None, true).expect("connecting");
    ring.submit_and_wait(1, None).expect("waited");
    let mut completion = ring.next_completion().expect("an accept");
    completion.accepted().expect("a descriptor");
    assert!(completion.accepted().is_err());
}

#[test]
fn a_single_accept_takes_one_of_two_clients() {
    let (listener, bound) =
        crate::socket::listen(&"127.0.0.1:0".parse().expect("an address"), 8).expect("listening");
    let mut ring = ring(b"");
    // Asked for before anybody is there, and after.
    ring.accept_once(&listener, 3).expect("queued");
    ring.submit().expect("submitted");
    let _clients =
        [(), ()].map(|()| crate::socket::start_connect(&bound, None, true).expect("connecting"));
    for token in [3, 4] {
        ring.submit_and_wait(1, None).expect("waited");
        let mut completion = ring.next_completion().expect("an accept");
        assert_eq!((completion.token, completion.more), (token, false));
        completion.accepted().expect("a descriptor");
        assert!(ring.next_completion().is_none(), "one at a time");
        ring.accept_once(&listener, token + 1).expect("queued");
    }
}

#[test]
fn an_alarm_outlives_the_wait_that_something_else_ended() {
    use crate::clock::monotonic_ns;
    let (mut near, far) = UnixStream::pair().expect("a pair");
    let mut ring = ring(b"");
    ring.receive(&far, 1).expect("queued");
    let at_ns = monotonic_ns() + 30_000_000;
    ring.alarm(at_ns, 9).expect("queued");
    near.write_all(b"x").expect("written");
    ring.submit_and_wait(1, None).expect("waited");
    assert_eq!(
        ring.next_completion().expect("the byte").kind,
        Kind::Receive
    );
    ring.submit_and_wait(1, None).expect("waited");
    let alarm = ring.next_completion().expect("the alarm");
    assert_eq!((alarm.kind, alarm.token), (Kind::Alarm, 9));
    assert!(monotonic_ns() >= at_ns);
}
