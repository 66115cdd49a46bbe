use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU32;
use std::os::unix::net::UnixStream;
use std::thread;

use super::*;
use crate::accept;
use crate::listener::Listener;
use crate::opening::{Announcement, Options};
use crate::workload::Echo;
use throng_sys::socket::ListenError;

fn connect(address: &Address) -> TcpStream {
    let Address::Tcp(address) = address else {
        panic!("a TCP address");
    };
    let client = TcpStream::connect(address).expect("connected");
    (&client).write_all(b"abc").expect("sent");
    client
}

fn is_answered(mut client: TcpStream) {
    let mut reply = [0; 3];
    client.read_exact(&mut reply).expect("answered");
    assert_eq!(&reply, b"abc");
}

#[test]
fn who_waits_in_a_queue_when_the_server_is_stopped_is_answered() {
    // More than are accepted at once.
    const WAITING: usize = 2 * accept::BATCH + 3;
    let any = Address::any_loopback_port([127, 0, 0, 1].into());
    let backlog = WAITING as u32;
    let mut listeners =
        Listener::open_sharing(&any, backlog, std::num::NonZeroUsize::MIN).expect("listening");
    let address = listeners[0].address().clone();
    let (main_end, loops_end) = End::pair().expect("a pair");
    let mut passings = Passing::for_loops::<Echo>(1).expect("made");
    let passing = passings.remove(0);
    let own = vec![listeners.remove(0)];
    let server =
        Loop::<Echo>::new(&(), own, WAITING + 1, loops_end.as_fd(), passing).expect("a loop");
    let clients: Vec<TcpStream> = (0..WAITING).map(|_| connect(&address)).collect();

    main_end.tell();
    let served = server.run().expect("it ends");
    clients.into_iter().for_each(is_answered);
    assert_eq!(served.connections, WAITING as u64);
    assert_eq!(served.bytes, 3 * WAITING as u64);
}

fn listening(listen: Vec<Address>) -> Options {
    Options {
        listen,
        backlog: 16,
        ..Options::default()
    }
}

#[test]
fn loops_share_a_port_and_a_second_server_does_not() {
    let any = Address::any_loopback_port([127, 0, 0, 1].into());
    let any_ipv6: Address = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 0))
        .to_string()
        .parse()
        .expect("an address");
    let options = listening(vec![any, any_ipv6]);
    let workers = NonZeroU32::new(3);
    let (stop, stopped) = UnixStream::pair().expect("a pair");
    let (ready, is_ready) = std::sync::mpsc::channel();
    let served = thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..2 {
                let address: Address = is_ready.recv().expect("ready");
                (0..7).for_each(|_| is_answered(connect(&address)));
                let mut tell = |_: Announcement<'_>| panic!("the port is taken");
                let taken = listening(vec![address]);
                let mut opening = Opening::new(&DECLARATION, &taken, workers, &mut tell);
                let error = serve::<Echo>(&mut opening, &(), stop.as_fd()).expect_err("taken");
                assert!(
                    matches!(error, ModelError::Listen(ListenError::InUse { .. })),
                    "{error}"
                );
            }
        });
        let mut tell = |what: Announcement<'_>| {
            if let Announcement::Ready(address) = what {
                ready.send(address.clone()).expect("it waits");
            }
        };
        let mut opening = Opening::new(&DECLARATION, &options, workers, &mut tell);
        serve::<Echo>(&mut opening, &(), stopped.as_fd()).expect("served")
    });
    assert_eq!((served.connections, served.bytes), (14, 42));
}
