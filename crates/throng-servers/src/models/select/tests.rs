use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use throng_sys::address::Address;
use throng_sys::{descriptor_table, limits};

use super::*;
use crate::note::Note;
use crate::workload::{Echo, Oneshot};

fn listener(name: &str) -> (PathBuf, Listener) {
    let path = std::env::temp_dir().join(format!("throng-{name}-{}.sock", std::process::id()));
    let listener = Listener::open(&Address::Unix(path.clone()), 16).expect("listening");
    (path, listener)
}

fn is_echoed(connection: &mut UnixStream) {
    connection.write_all(b"a").expect("sent");
    connection.read_exact(&mut [0]).expect("served");
}

#[test]
fn at_the_limit_connections_wait_until_one_closes() {
    let (path, listener) = listener("select-limit");
    let (stop, stopped) = UnixStream::pair().expect("a pair");
    let server = thread::spawn(move || {
        Server::<Echo>::new(&(), vec![listener], stopped.as_fd(), 2)
            .expect("low descriptors")
            .run()
    });
    let connect = || UnixStream::connect(&path).expect("connected");
    let (mut first, mut second, mut third) = (connect(), connect(), connect());
    is_echoed(&mut first);
    is_echoed(&mut second);
    third.write_all(b"a").expect("taken by the kernel");
    third
        .set_read_timeout(Some(Duration::from_millis(100)))
        .expect("set");
    third.read_exact(&mut [0]).expect_err("not served yet");

    drop(first);
    third.set_read_timeout(None).expect("set");
    third
        .read_exact(&mut [0])
        .expect("served in the place of the first");
    is_echoed(&mut second);

    drop(stop);
    let served = server.join().expect("no panic").expect("no error");
    assert_eq!((served.connections, served.bytes), (3, 4));
    assert!(served.notes.is_empty(), "{:?}", served.notes);
}

#[test]
fn at_the_limit_the_end_of_a_delay_makes_a_place() {
    let (path, listener) = listener("select-delay");
    let (stop, stopped) = UnixStream::pair().expect("a pair");
    let server = thread::spawn(move || {
        let delay = Duration::from_millis(5);
        Server::<Oneshot>::new(&delay, vec![listener], stopped.as_fd(), 1)
            .expect("low descriptors")
            .run()
    });
    let mut clients = [(); 3].map(|()| UnixStream::connect(&path).expect("connected"));
    for client in &mut clients {
        client
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("set");
        client.write_all(b"question").expect("sent");
    }
    for client in &mut clients {
        client.read_exact(&mut [0; 23]).expect("answered");
    }
    drop(stop);
    let served = server.join().expect("no panic").expect("no error");
    assert_eq!((served.connections, served.bytes), (3, 69));
}

#[test]
fn a_descriptor_without_a_bit_is_closed_and_noted_and_the_others_go_on() {
    // In a table of its own: the other tests need low numbers.
    thread::spawn(|| {
        descriptor_table::make_private(&[]).expect("private");
        limits::raise_open_files().expect("raised");
        let (path, listener) = listener("select-high");
        let (stop, stopped) = UnixStream::pair().expect("a pair");
        let mut server =
            Server::<Echo>::new(&(), vec![listener], stopped.as_fd(), FD_SETSIZE).expect("low");
        let mut low = UnixStream::connect(&path).expect("connected");
        server.admit(server.listeners[0].accept().expect("low"));

        let mut taken = Vec::new();
        while taken.len() < FD_SETSIZE {
            taken.push(File::open("/dev/null").expect("`ulimit -Hn` above 2100"));
        }
        let mut high = UnixStream::connect(&path).expect("connected");
        server.accept_batch(0);
        assert_eq!(high.read(&mut [0]).expect("closed"), 0);
        drop(taken);

        low.write_all(b"a").expect("sent");
        drop(stop);
        let served = server.run().expect("no error");
        low.read_exact(&mut [0]).expect("answered");
        assert_eq!((served.connections, served.bytes), (1, 1));
        let [Note::Refused { connections: 1, .. }] = served.notes.as_slice() else {
            panic!("{:?}", served.notes);
        };
        assert!(served.notes[0].to_string().contains("FD_SETSIZE"));
    })
    .join()
    .expect("no panic");
}
