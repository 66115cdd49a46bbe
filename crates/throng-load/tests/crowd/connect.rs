//! The connect phase: its order, its pace, its course over time, and how it stops short.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::mpsc::channel;

use crate::support::{BACKENDS, echo, job, run, serve};
use crate::{closes, connects};
use throng_load::{Interrupt, run_job};
use throng_record::{
    Backend, ErrorKind, LoadEvent, LoadJob, LoadRecord, PhaseName, Sequence, SourceAddresses,
};

/// Connects and closes, and nothing between.
fn connecting(address: &str, backend: Backend, connections: u32, shards: u32) -> LoadJob {
    let mut job = job(address, backend);
    job.fleet.connections = connections;
    job.fleet.shards = shards;
    job.phases = Sequence::on_open_connections([]);
    job
}

fn assert_all_opened(record: &LoadRecord, connections: u32) {
    let connect = connects(record);
    assert_eq!(connect.connected, connections, "{:?}", connect.errors);
    assert_eq!(connect.latency.count, u64::from(connections));
    assert_eq!(
        connect.timeline.replies.iter().sum::<u64>(),
        u64::from(connections)
    );
    assert_eq!((connect.stop.as_ref(), connect.not_begun), (None, 0));
    assert_eq!(closes(record).closed_in_order, connections);
    let errors = record.phases.errors();
    assert_eq!(errors.total(), 0, "{errors:?}");
}

#[test]
fn one_at_a_time_connects_in_the_order_of_the_indices_over_all_shards() {
    // The sources tell which connection comes: 127.0.0.2 is that of index 0, and so on.
    let sources: Vec<std::net::IpAddr> = (2..=102).map(|last| [127, 0, 0, last].into()).collect();
    for backend in BACKENDS {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("tcp://{}", listener.local_addr().expect("bound"));
        let (accepted, order) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let peer = stream.peer_addr().expect("connected").ip();
                if accepted.send((peer, stream)).is_err() {
                    return;
                }
            }
        });
        let mut job = connecting(&address, backend, 101, 7);
        job.fleet.connect_concurrency = 1;
        job.fleet.source = SourceAddresses::List(sources.clone());
        let closer = std::thread::spawn(move || {
            let (peers, streams): (Vec<_>, Vec<_>) = order.iter().take(101).unzip();
            for mut stream in streams {
                let _ = stream.read_to_end(&mut vec![]);
            }
            peers
        });
        let record = run(&job);
        assert_all_opened(&record, 101);
        assert_eq!(closer.join().expect("no panic"), sources, "{backend:?}");
    }
}

#[test]
fn the_course_over_time_and_the_slowest_are_of_all_shards() {
    let address = serve(echo());
    for backend in BACKENDS {
        for (cpus, shards) in [(vec![], 5), (vec![0], 5), (vec![0], 1)] {
            let mut job = connecting(&address, backend, 101, shards);
            job.fleet.cpus = cpus;
            let record = run(&job);
            assert_all_opened(&record, 101);
            let slowest = &connects(&record).slowest;
            assert_eq!(slowest.len(), 10);
            assert!(slowest.is_sorted_by(|a, b| a.latency_ns >= b.latency_ns));
            // The histogram keeps three digits.
            let error = slowest[0].latency_ns as f64 / connects(&record).latency.max_ns as f64;
            assert!((0.99..1.01).contains(&error), "{error}");
        }
    }
}

#[test]
fn connects_at_a_rate_are_never_early() {
    let address = serve(echo());
    for backend in BACKENDS {
        for (concurrency, shards) in [(64, 1), (64, 3), (1, 3)] {
            let mut job = connecting(&address, backend, 51, shards);
            job.fleet.connect_rate_per_second = Some(250.0);
            job.fleet.connect_concurrency = concurrency;
            let record = run(&job);
            assert_all_opened(&record, 51);
            // The last is due 50 ÷ 250 s after the start, and no more than i + 1 have begun at i ÷ 250.
            let timeline = &connects(&record).timeline;
            assert!(timeline.replies.len() as u64 * timeline.slice_ns >= 200_000_000);
            let mut so_far = 0;
            for (slice, &count) in (1..).zip(&timeline.replies) {
                so_far += count;
                let end_ns = slice * timeline.slice_ns;
                assert!(
                    so_far <= 1 + end_ns / 4_000_000,
                    "{so_far} after {end_ns} ns"
                );
            }
        }
    }
}

#[test]
fn a_listener_that_stops_accepting_is_told_with_its_retransmissions() {
    for backend in BACKENDS {
        let any = "127.0.0.1:0".parse().expect("an address");
        // Its queue holds one more than its backlog, and nobody accepts.
        let (listener, address) = throng_sys::socket::listen(&any, 16).expect("listening");
        let mut job = connecting(&address.to_string(), backend, 19, 2);
        job.fleet.connect_concurrency = 1;
        job.fleet.connect_timeout_ns = 1_500_000_000;
        // Without a listener the connections that nobody accepted are reset, so that no end is waited for.
        let mut listener = Some(listener);
        let record = run_job(&job, &Interrupt::default(), &mut |event| {
            let close = PhaseName::Close;
            if event == (LoadEvent::Phase { phase: close }) {
                listener = None;
            }
        })
        .expect("it ends in order");
        let connect = connects(&record);
        assert_eq!(connect.connected, 17, "{:?}", connect.errors);
        let stop = connect.stop.as_ref().expect("two failed");
        assert_eq!(
            (stop.connection, stop.open, stop.kind),
            (17, 17, ErrorKind::ConnectTimedOut)
        );
        assert!(stop.at_ns >= 1_500_000_000);
        assert_eq!(
            connect.errors.connections[&ErrorKind::ConnectTimedOut],
            (17..19).collect::<Vec<_>>()
        );
        assert_eq!(connect.not_begun, 0);
        assert!(connect.syn_retransmissions >= 2, "{connect:?}");
        assert_eq!(connect.retransmitted, 2);
        assert_eq!(closes(&record).errors.of(ErrorKind::Reset), 17);
    }
}
