use std::net::{TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;

use throng_sys::address::Address;
use throng_sys::{shared_port, socket};

use super::*;

fn listen(backlog: u32) -> (OwnedFd, SocketAddr) {
    let (listener, address) = socket::listen(&"127.0.0.1:0".parse().unwrap(), backlog).unwrap();
    let Address::Tcp(address) = address else {
        panic!("TCP")
    };
    (listener, address)
}

#[test]
fn a_queue_is_seen_to_fill_and_to_empty() {
    let (listener, server) = listen(1);
    let mut sampler = Sampler::new(&Network::own(), server).unwrap();
    sampler.look();
    let _clients = [(); 2].map(|()| TcpStream::connect(server).unwrap());
    let filled_ns = monotonic_ns();
    sampler.look();
    let again_ns = monotonic_ns();
    sampler.look();
    for _ in 0..2 {
        socket::accept(&listener).unwrap();
    }
    let emptied_ns = monotonic_ns();
    sampler.look();
    let seen = sampler.seen;

    assert_eq!(seen.listeners.len(), 1);
    let own = &seen.listeners[0];
    assert_eq!(own.listener.accept_queue_limit, 1);
    assert_eq!((own.timeline.depth_max, seen.total.depth_max), (2, 2));
    assert!(own.timeline.full_ns > 0 && own.timeline.full_ns < own.timeline.watched_ns);
    assert_eq!(own.timeline.runs().len(), 3);
    assert_eq!(seen.depth_from(0), Some(0));
    assert_eq!(seen.depth_from(again_ns), Some(2));
    assert!(seen.left_by(filled_ns).unwrap() >= emptied_ns);
    assert_eq!((seen.samples, seen.failures), (4, 0));
    assert!(seen.longest_gap_ns > 0);
}

#[test]
fn all_queues_of_a_shared_port_are_seen_and_no_others() {
    let three = NonZeroUsize::new(3).unwrap();
    let any: Address = "127.0.0.1:0".parse().unwrap();
    let (sockets, address) = shared_port::listen(&any, 64, three).unwrap();
    let Address::Tcp(server) = address else {
        panic!("TCP")
    };
    let elsewhere = SocketAddr::from(([127, 0, 0, 2], server.port()));
    let other = TcpListener::bind(elsewhere).unwrap();
    let _not_ours = TcpStream::connect(other.local_addr().unwrap()).unwrap();
    let mut sampler = Sampler::new(&Network::own(), server).unwrap();
    let _clients = [(); 47].map(|()| TcpStream::connect(server).unwrap());
    sampler.look();
    let of_each = |seen: &AcceptQueueSeen| -> Vec<u32> {
        let listeners = seen.listeners.iter();
        listeners.map(|one| one.timeline.depth_max).collect()
    };
    assert_eq!(of_each(&sampler.seen).len(), 3);
    assert_eq!(of_each(&sampler.seen).iter().sum::<u32>(), 47);
    assert_eq!(sampler.seen.total.depth_max, 47);

    for socket in &sockets {
        while socket::accept(socket).is_ok() {}
    }
    sampler.look();
    assert_eq!(sampler.seen.depth_from(monotonic_ns()), None, "not yet");
    let last_ns = sampler.seen.last_ns.unwrap();
    assert_eq!(sampler.seen.depth_from(last_ns), Some(0));
    assert_eq!(sampler.seen.left_by(0), Some(last_ns));
    assert_eq!(
        sampler.seen.uneven_share(),
        Some(0.0),
        "all had some, then none"
    );
}

#[test]
fn a_listener_that_is_replaced_is_another() {
    let (listener, server) = listen(5);
    let mut sampler = Sampler::new(&Network::own(), server).unwrap();
    sampler.look();
    drop(listener);
    sampler.look();
    let (_second, _) = socket::listen(&Address::Tcp(server), 7).unwrap();
    sampler.look();
    let seen = sampler.seen;
    let listeners = seen.listeners.iter();
    let limits: Vec<u32> = listeners
        .map(|one| one.listener.accept_queue_limit)
        .collect();
    assert_eq!(limits, [5, 7]);
    let depths: Vec<Option<u32>> = seen.total.runs().iter().map(|run| run.depth).collect();
    assert_eq!(depths, [Some(0), None, Some(0)]);
}

#[test]
fn it_is_watched_from_start_to_stop_also_where_nobody_listens() {
    let (listener, server) = listen(5);
    let observer = AcceptQueueObserver::start(&Network::own(), server).unwrap();
    let started_ns = monotonic_ns();
    let _client = TcpStream::connect(server).unwrap();
    let seen = observer.stop();
    assert!(seen.total.runs()[0].first_ns <= started_ns);
    assert_eq!(seen.total.depth_max, 1, "the last look");

    drop(listener);
    let seen = AcceptQueueObserver::start(&Network::own(), server)
        .unwrap()
        .stop();
    assert!(seen.listeners.is_empty() && seen.samples >= 2);
    assert_eq!(seen.depth_from(seen.last_ns.unwrap()), None);
}

#[test]
fn a_queue_beside_an_empty_one_is_uneven() {
    let two = NonZeroUsize::new(2).unwrap();
    let any: Address = "127.0.0.1:0".parse().unwrap();
    let (sockets, address) = shared_port::listen(&any, 64, two).unwrap();
    let Address::Tcp(server) = address else {
        panic!("TCP")
    };
    let mut sampler = Sampler::new(&Network::own(), server).unwrap();
    let _clients = [(); 47].map(|()| TcpStream::connect(server).unwrap());
    let joined_ns = monotonic_ns();
    while socket::accept(&sockets[0]).is_ok() {}
    sampler.look();
    sampler.look();
    let still_ns = monotonic_ns();
    while socket::accept(&sockets[1]).is_ok() {}
    sampler.look();
    let seen = sampler.seen;
    assert_eq!(seen.uneven_share(), Some(1.0));
    assert!(seen.left_by(joined_ns).unwrap() > still_ns);
}
