use std::io::{Read as _, Write as _};
use std::num::NonZeroU32;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use throng_sys::address::Address;
use throng_sys::clock::monotonic_ns;
use throng_sys::poll::wait_readable;

use super::*;
use crate::opening::{Announcement, Opening, Options};
use crate::workload::Echo;

const CLIENTS: usize = 11;

fn is_echoed(path: &Path) {
    let mut connection = UnixStream::connect(path).expect("connected");
    connection.write_all(b"abc").expect("sent");
    let mut reply = [0; 3];
    connection.read_exact(&mut reply).expect("served");
    assert_eq!(&reply, b"abc");
}

/// Serves with three loops while `meanwhile` runs, which is handed the path.
fn serve_with_three(name: &str, meanwhile: impl FnOnce(&Path) + Send) -> Served {
    let path = std::env::temp_dir().join(format!("throng-{name}-{}.sock", std::process::id()));
    let options = Options {
        listen: vec![Address::Unix(path.clone())],
        backlog: 64,
        ..Options::default()
    };
    let (stop, stopped) = UnixStream::pair().expect("a pair");
    let (ready, is_ready) = std::sync::mpsc::channel();
    let served = thread::scope(|scope| {
        let path = &path;
        scope.spawn(move || {
            is_ready.recv().expect("ready");
            meanwhile(path);
            drop(stop);
        });
        let mut tell = |what: Announcement<'_>| {
            if let Announcement::Ready(_) = what {
                ready.send(()).expect("it waits");
            }
        };
        let workers = NonZeroU32::new(3);
        let mut opening = Opening::new(&DECLARATION, &options, workers, &mut tell);
        serve::<Echo>(&mut opening, &(), stopped.as_fd()).expect("served")
    });
    assert!(!path.exists(), "the last loop removed the path");
    served
}

#[test]
fn every_connection_is_served_by_one_loop_and_every_loop_ends() {
    let served = serve_with_three("shared", |path| {
        thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| is_echoed(path));
            }
        });
    });
    assert_eq!((served.connections, served.bytes), (11, 33));
    assert!(served.notes.is_empty(), "{:?}", served.notes);
}

fn reports_a_connection(server: &mut Loop<'_, Echo>) -> bool {
    let ready = server.watched.epoll.wait(Some(0)).expect("wait");
    (0..ready).any(|position| {
        let event = server.watched.epoll.event(position).expect("an event");
        event.token == FIRST_LISTENER
    })
}

#[test]
fn a_paused_loop_leaves_its_listeners_to_others_and_comes_back() {
    let path = std::env::temp_dir().join(format!("throng-rest-{}.sock", std::process::id()));
    let listener = Listener::open(&Address::Unix(path.clone()), 16).expect("listening");
    let (_main_end, loops_end) = End::pair().expect("a pair");
    let common = Common::new(vec![listener], 1, loops_end).expect("made");
    let waiting = UnixStream::connect(&path).expect("connected");
    let mut passings = Passing::for_loops::<Echo>(1).expect("made");
    let passing = passings.remove(0);
    let work = || {
        let mut server = Loop::<Echo>::begin(&(), &common, passing).expect("a loop");
        assert!(reports_a_connection(&mut server));
        let has_rung = || wait_readable(&common.bell, monotonic_ns()).expect("asked");
        assert!(!has_rung());
        server.rest(io::Error::other("full"));
        assert!(!reports_a_connection(&mut server), "it rests");
        assert!(has_rung(), "others are told");
        server.resume_accepting();
        assert!(
            reports_a_connection(&mut server),
            "who waited is reported at once"
        );
        server.look_again();
        assert!(!has_rung(), "it has been heard");
        assert!(reports_a_connection(&mut server), "still");
        common.loops_end.tell();
        server.run().expect("it ends")
    };
    // Its table is its own: here the numbers of what it opens may be somebody else's.
    let served = thread::scope(|scope| scope.spawn(work).join().expect("no panic"));
    assert_eq!(served.notes.len(), 1);
    drop(waiting);
}
