//! What both back ends promise of a slot that is used again.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use throng_sys::clock::{MILLISECOND_NS, monotonic_ns};

use super::epoll::EpollBackend;
use super::io_uring::{UringBackend, Usage};
use super::*;

/// Slot 0 of a back end.
type Slot<'a> = &'a mut dyn FnMut(Asked<'_>) -> Answer;
type Check = fn(Slot<'_>);

/// Each back end in each of its ways of use.
fn with_each(check: Check) {
    run(
        check,
        EpollBackend::new(1, b"?".as_slice().into()).expect("an epoll"),
    );
    for (is_short, silent_sends, sends_at_once) in [
        (true, false, true),
        (false, true, false),
        (false, false, true),
    ] {
        let usage = Usage {
            reply_bytes: 100,
            silent_sends,
            sends_at_once,
            is_short,
        };
        let ring = UringBackend::new(1, b"?".as_slice().into(), usage);
        run(check, ring.expect("a ring"));
    }
}

/// What a test asks of slot 0.
enum Asked<'a> {
    Connect(&'a Address),
    SendBytes(&'a [u8]),
    /// Waits a little, and leaves what came where it is.
    Wait,
    Event,
    Close,
}

/// What it is told.
#[derive(Debug, PartialEq)]
enum Answer {
    Nothing,
    Began(Began),
    Connected,
    Received(Vec<u8>),
    Ended,
}

fn run(check: Check, mut backend: impl Backend) {
    check(&mut |asked| answer(&mut backend, &asked));
}

fn answer(backend: &mut impl Backend, asked: &Asked<'_>) -> Answer {
    match asked {
        Asked::Connect(address) => {
            Answer::Began(backend.connect(0, address, None, true).expect("begun"))
        }
        Asked::SendBytes(bytes) => {
            backend.send_bytes(0, bytes).expect("taken");
            Answer::Nothing
        }
        Asked::Wait => {
            let now_ns = monotonic_ns();
            let until_ns = now_ns + 2 * MILLISECOND_NS;
            backend.wait(now_ns, until_ns).expect("waited");
            Answer::Nothing
        }
        Asked::Event => match backend.next_event().map(|event| event.what) {
            None => Answer::Nothing,
            Some(What::Connected) => Answer::Connected,
            Some(What::Received(_)) => Answer::Received(backend.received().to_vec()),
            Some(What::EndOfInput | What::Failed(_) | What::Handshake(_)) => Answer::Ended,
        },
        Asked::Close => {
            backend.close(0);
            Answer::Nothing
        }
    }
}

fn listener() -> (TcpListener, Address) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    (listener, Address::Tcp(address))
}

/// A listener that drops every further SYN, with the connection that is all it has room for.
fn full_listener() -> (OwnedFd, TcpStream, SocketAddr) {
    let any = "127.0.0.1:0".parse().expect("an address");
    let (listener, address) = socket::listen(&any, 0).expect("listening");
    let Address::Tcp(address) = address else {
        panic!("a TCP address");
    };
    let fills_its_queue = TcpStream::connect(address).expect("room for one");
    (listener, fills_its_queue, address)
}

/// Asks for events until one is not about the connect, for a few seconds at most.
fn next(backend: Slot<'_>) -> Answer {
    for _ in 0..1000 {
        match backend(Asked::Event) {
            Answer::Nothing => drop(backend(Asked::Wait)),
            Answer::Connected => {}
            told => return told,
        }
    }
    Answer::Nothing
}

#[test]
fn what_came_for_a_closed_connection_never_reaches_the_next_of_its_slot() {
    with_each(|backend| {
        let (listener, address) = listener();
        for _ in 0..5 {
            backend(Asked::Connect(&address));
            let (mut old, _) = listener.accept().expect("accepted");
            old.write_all(b"old").expect("written");
            drop(old);
            backend(Asked::Wait);
            backend(Asked::Close);
            backend(Asked::Connect(&address));
            let (mut new, _) = listener.accept().expect("accepted");
            new.write_all(b"new").expect("written");
            assert_eq!(next(backend), Answer::Received(b"new".to_vec()));
            drop(new);
            assert_eq!(next(backend), Answer::Ended);
            backend(Asked::Close);
        }
    });
}

#[test]
fn bytes_that_do_not_fit_at_once_are_sent_whole_and_in_order() {
    const PIECE_BYTES: usize = 700_001;
    with_each(|backend| {
        let (listener, address) = listener();
        backend(Asked::Connect(&address));
        let (mut peer, _) = listener.accept().expect("accepted");
        for number in 0..7 {
            backend(Asked::SendBytes(&[number; PIECE_BYTES]));
        }
        let reading = std::thread::spawn(move || {
            let mut bytes = vec![0; 7 * PIECE_BYTES];
            peer.read_exact(&mut bytes).expect("all of them");
            bytes
        });
        while !reading.is_finished() {
            backend(Asked::Wait);
            backend(Asked::Event);
        }
        let bytes = reading.join().expect("read");
        let pieces = bytes.chunks(PIECE_BYTES).zip(0..);
        assert!(pieces.clone().count() == 7);
        for (piece, number) in pieces {
            assert!(piece.iter().all(|&byte| byte == number), "{number}");
        }
    });
}

#[test]
fn a_connection_that_is_closed_while_it_sends_leaves_the_next_of_its_slot_alone() {
    with_each(|backend| {
        let (listener, address) = listener();
        backend(Asked::Connect(&address));
        let (old, _) = listener.accept().expect("accepted");
        for _ in 0..7 {
            backend(Asked::SendBytes(&[1; 700_001]));
        }
        backend(Asked::Wait);
        backend(Asked::Close);
        backend(Asked::Connect(&address));
        let (mut new, _) = listener.accept().expect("accepted");
        backend(Asked::SendBytes(b"new"));
        new.write_all(b"new").expect("written");
        assert_eq!(next(backend), Answer::Received(b"new".to_vec()));
        let mut bytes = [0; 3];
        new.read_exact(&mut bytes).expect("read");
        assert_eq!(&bytes, b"new");
        drop(old);
    });
}

#[test]
fn what_came_for_a_closed_connection_does_not_end_the_next_connect() {
    with_each(|backend| {
        let (listener, address) = listener();
        backend(Asked::Connect(&address));
        let (mut old, _) = listener.accept().expect("accepted");
        old.write_all(b"old").expect("written");
        backend(Asked::Wait);
        backend(Asked::Close);
        let (_full, _fills_its_queue, target) = full_listener();
        backend(Asked::Connect(&Address::Tcp(target)));
        for _ in 0..5 {
            assert_eq!(backend(Asked::Event), Answer::Nothing);
            backend(Asked::Wait);
        }
    });
}

#[test]
fn a_connect_that_is_given_up_leaves_nothing_behind() {
    with_each(|backend| {
        let (_full, _fills_its_queue, target) = full_listener();
        let full = Address::Tcp(target);
        assert_eq!(
            backend(Asked::Connect(&full)),
            Answer::Began(Began::UnderWay)
        );
        backend(Asked::Wait);
        assert!(is_connecting_to(target.port()));
        backend(Asked::Close);
        let (listener, address) = listener();
        backend(Asked::Connect(&address));
        let (mut peer, _) = listener.accept().expect("accepted");
        peer.write_all(b"new").expect("written");
        assert_eq!(next(backend), Answer::Received(b"new".to_vec()));
        let is_gone = (0..1000).any(|_| {
            backend(Asked::Wait);
            !is_connecting_to(target.port())
        });
        assert!(is_gone, "the socket of the connect is still there");
    });
}

/// Whether `/proc` knows a socket that has sent its SYN to this port (state 2 of include/net/tcp_states.h).
fn is_connecting_to(port: u16) -> bool {
    let sockets = std::fs::read_to_string("/proc/thread-self/net/tcp").expect("it is there");
    let remote = format!(":{port:04X} 02 ");
    sockets.lines().any(|line| line.contains(&remote))
}
