use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use super::*;
use crate::note::Note;
use crate::workload::Echo;

#[test]
fn a_connection_without_a_thread_is_closed_and_counted_and_the_others_go_on() {
    let path = std::env::temp_dir().join(format!("throng-refuse-{}.sock", std::process::id()));
    let address = throng_sys::address::Address::Unix(path.clone());
    let listener = Listener::open(&address, 16).expect("listening");
    listener.let_accept_block().expect("set");
    let (stop, stopped) = UnixStream::pair().expect("a pair");
    // One that accepts, and two connections.
    let server = thread::spawn(move || {
        let server = Server::new(3, stopped.as_fd());
        server.run::<Echo>(&(), &[listener], 1, || ())?;
        io::Result::Ok(server.served())
    });

    let mut byte = [0];
    let mut served: Vec<_> = (0..2)
        .map(|_| UnixStream::connect(&path).expect("connected"))
        .collect();
    for connection in &mut served {
        connection.write_all(b"a").expect("sent");
        connection.read_exact(&mut byte).expect("served");
    }
    for _ in 0..3 {
        let mut refused = UnixStream::connect(&path).expect("connected");
        assert_eq!(refused.read(&mut byte).expect("closed"), 0);
    }
    for connection in &mut served {
        connection.write_all(b"b").expect("sent");
        connection.read_exact(&mut byte).expect("still served");
    }

    drop(stop);
    let served = server.join().expect("no panic").expect("no error");
    assert_eq!((served.connections, served.bytes), (2, 4));
    let [Note::Refused { connections: 3, .. }] = served.notes.as_slice() else {
        panic!("{:?}", served.notes);
    };
    assert!(served.notes[0].to_string().contains("vm.max_map_count"));
}

#[test]
fn more_accept_threads_than_there_is_room_for_are_refused() {
    let path = std::env::temp_dir().join(format!("throng-crowd-{}.sock", std::process::id()));
    let address = throng_sys::address::Address::Unix(path.clone());
    let listener = Listener::open(&address, 16).expect("listening");
    listener.let_accept_block().expect("set");
    let (_stop, stopped) = UnixStream::pair().expect("a pair");
    let server = Server::new(3, stopped.as_fd());
    let never = || panic!("ready");
    let error = server.run::<Echo>(&(), &[listener], 5, never);
    let error = error.expect_err("refused").to_string();
    for part in ["vm.max_map_count", "3 threads", "5 accept threads"] {
        assert!(error.contains(part), "{error}");
    }
}
