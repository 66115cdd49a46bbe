use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use super::member::{BESIDE_BYTES, Message};
use super::*;
use crate::note::Note;
use crate::workload::{Audience, Broadcast, Echo, UNSENT_BYTES_MAX};

/// A member, the connection it is of, and that connection's other end.
struct Guest {
    member: Arc<dyn Member>,
    peer: UnixStream,
    _connection: Arc<OwnedFd>,
}

impl Guest {
    fn of(room: &Room, greeting: &[u8]) -> Self {
        let (peer, own) = UnixStream::pair().expect("a pair");
        let connection = Arc::new(OwnedFd::from(own));
        Self {
            member: room.join(&connection, greeting.to_vec()),
            peer,
            _connection: connection,
        }
    }

    fn say(&self, text: &[u8]) {
        self.member.say(Message::from(text));
    }

    fn hears(&self, text: &[u8]) {
        assert_eq!(self.member.next().as_deref(), Some(text));
    }

    fn is_closed(&mut self) -> bool {
        self.peer.set_nonblocking(true).expect("set");
        matches!(self.peer.read(&mut [0]), Ok(0))
    }
}

/// The test with a room of each kind, whose broadcaster must have ended when that is dropped.
fn in_each_room(test: impl Fn(&Room)) {
    for hand_over in HandOver::ALL {
        thread::scope(|scope| {
            let room = Room::open::<Broadcast>(scope, hand_over).expect("opened");
            test(&room);
        });
    }
}

#[test]
fn everybody_hears_in_one_order_what_is_said_while_being_a_member() {
    in_each_room(|room| {
        let one = Guest::of(room, b"hello");
        one.say(b"a");
        let two = Guest::of(room, b"hello too");
        two.say(b"b");
        one.say(b"c");
        for said in [&b"hello"[..], b"a", b"b", b"c"] {
            one.hears(said);
        }
        for said in [&b"hello too"[..], b"b", b"c"] {
            two.hears(said);
        }
        // Its own last words included, and nothing that comes after them.
        one.say(b"last");
        one.member.end();
        two.say(b"later");
        one.hears(b"last");
        assert_eq!(one.member.next(), None);
        drop(one);
        two.say(b"alone");
        for said in [&b"last"[..], b"later", b"alone"] {
            two.hears(said);
        }
    });
}

#[test]
fn who_waits_is_woken_by_a_message_and_by_an_end() {
    in_each_room(|room| {
        let one = Guest::of(room, b"");
        let two = Guest::of(room, b"");
        let waiting = Arc::clone(&two.member);
        let (tell, told) = mpsc::channel();
        let writer = thread::spawn(move || {
            while let Some(message) = waiting.next() {
                tell.send(message.to_vec()).expect("listened to");
            }
        });
        for text in [b"x", b"y"] {
            one.say(text);
            assert_eq!(told.recv().expect("woken"), text);
        }
        two.member.end();
        writer.join().expect("it returns");
    });
}

#[test]
fn all_that_end_at_once_are_woken() {
    in_each_room(|room| {
        let guests: Vec<Guest> = (0..50).map(|_| Guest::of(room, b"")).collect();
        let writers: Vec<_> = guests
            .iter()
            .map(|guest| {
                let waiting = Arc::clone(&guest.member);
                thread::spawn(move || waiting.next())
            })
            .collect();
        guests.iter().for_each(|guest| guest.member.end());
        for writer in writers {
            assert_eq!(writer.join().expect("it returns"), None);
        }
    });
}

#[test]
fn who_takes_nothing_is_given_up_and_the_others_are_not() {
    in_each_room(|room| {
        let quick = Guest::of(room, b"");
        let mut slow = Guest::of(room, b"");
        let kilobyte = [b'x'; 1024];
        let fitting = UNSENT_BYTES_MAX / (kilobyte.len() + BESIDE_BYTES);
        for _ in 0..fitting {
            quick.say(&kilobyte);
            quick.hears(&kilobyte);
        }
        assert!(!slow.is_closed(), "it is within the bound");
        quick.say(&kilobyte);
        quick.hears(&kilobyte);
        // Whatever order the broadcaster fills the queues in, it has filled all of them when it comes to the next message.
        quick.say(b"next");
        quick.hears(b"next");
        assert!(slow.is_closed());
        assert_eq!(slow.member.next(), None);
        drop(slow);
        quick.say(b"and on");
        quick.hears(b"and on");
    });
}

#[test]
fn a_speaker_waits_for_its_own_writer_and_not_for_one_given_up() {
    in_each_room(|room| {
        let speaker = Guest::of(room, b"");
        let saying = Arc::clone(&speaker.member);
        let talk = thread::spawn(move || {
            for _ in 0..1000 {
                saying.say(vec![b'x'; 1024].into());
            }
        });
        // Four times the bound, and it is not given up for it: it has waited.
        for _ in 0..1000 {
            speaker.hears(&[b'x'; 1024]);
        }
        talk.join().expect("no panic");

        let saying = Arc::clone(&speaker.member);
        let talk = thread::spawn(move || {
            for _ in 0..1000 {
                saying.say(vec![b'x'; 1024].into());
            }
        });
        speaker.hears(&[b'x'; 1024]);
        speaker.member.give_up();
        talk.join().expect("it waits no more");
        assert_eq!(speaker.member.next(), None);
    });
}

#[test]
fn a_connection_without_threads_is_closed_and_counted_and_the_others_go_on() {
    let path = std::env::temp_dir().join(format!("throng-two-{}.sock", std::process::id()));
    let address = throng_sys::address::Address::Unix(path.clone());
    let listener = Listener::open(&address, 16).expect("listening");
    listener.let_accept_block().expect("set");
    let (stop, stopped) = UnixStream::pair().expect("a pair");
    // One that accepts, two for each of two connections, and one that is not enough for a third.
    let server = thread::spawn(move || {
        let server = Server::new(6, 1, stopped.as_fd());
        server.run::<Echo>(&(), &[listener], HandOver::Condvar, || ())?;
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
fn what_goes_to_its_sender_alone_waits_for_nobody_else() {
    assert_eq!(Echo::AUDIENCE, Audience::Sender);
    for hand_over in HandOver::ALL {
        thread::scope(|scope| {
            let room = Room::open::<Echo>(scope, hand_over).expect("opened");
            let (one, two) = (Guest::of(&room, b""), Guest::of(&room, b""));
            one.say(b"a");
            two.say(b"b");
            one.hears(b"a");
            two.hears(b"b");
        });
    }
}
