//! Peers that misbehave, each in one way: every fault is counted under its own name, nothing hangs.

mod support;
#[path = "support/unix.rs"]
mod unix;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use support::{BACKENDS, OfExchange as _, echo, exchanged, job, run, serve};
use throng_load::{Interrupt, run_job};
use throng_record::{ErrorKind, LoadJob, LoadRecord, Pacing, Stop};

/// Runs against a peer that handles each connection so, on both back ends.
fn against(
    peer: impl Fn(TcpStream) + Send + Sync + Clone + 'static,
    change: impl Fn(&mut LoadJob),
    check: impl Fn(&LoadRecord),
) {
    let address = serve(peer);
    for backend in BACKENDS {
        let mut job = job(&address, backend);
        change(&mut job);
        check(&run(&job));
    }
}

fn as_it_is(_: &mut LoadJob) {}

/// Reads a message; `None` at the end.
fn message(stream: &mut TcpStream) -> Option<[u8; 6]> {
    let mut bytes = [0; 6];
    stream.read_exact(&mut bytes).ok().map(|()| bytes)
}

#[test]
fn a_corrupted_byte_is_wrong_bytes() {
    let peer = |mut stream: TcpStream| {
        let mut count = 0;
        while let Some(mut bytes) = message(&mut stream) {
            count += 1;
            bytes[3] ^= u8::from(count == 5);
            let _ = stream.write_all(&bytes);
        }
    };
    against(peer, as_it_is, |record| {
        let exchange = exchanged(record);
        let errors = &exchange.errors;
        assert_eq!(errors.of(ErrorKind::WrongBytes), 10, "{errors:?}");
        assert_eq!(exchange.replies, 40);
        assert!(errors.first_examples[&ErrorKind::WrongBytes].contains("connection"));
    });
}

#[test]
fn a_corrupted_byte_passes_where_verification_is_off() {
    let peer = |mut stream: TcpStream| {
        while message(&mut stream).is_some() {
            let _ = stream.write_all(b"\0\0\0\0\0\0");
        }
    };
    against(
        peer,
        |job| job.exchange_spec().verify = false,
        |record| {
            let exchange = exchanged(record);
            assert_eq!((exchange.replies, exchange.errors.total()), (1009, 0));
        },
    );
}

#[test]
fn swapped_replies_are_wrong_bytes() {
    let peer = |mut stream: TcpStream| {
        while let (Some(first), Some(second)) = (message(&mut stream), message(&mut stream)) {
            let _ = stream.write_all(&second);
            let _ = stream.write_all(&first);
        }
    };
    let two = |job: &mut LoadJob| job.exchange_spec().pacing = Pacing::Closed { outstanding: 2 };
    against(peer, two, |record| {
        let errors = &exchanged(record).errors;
        assert_eq!(errors.of(ErrorKind::WrongBytes), 10, "{errors:?}");
    });
}

#[test]
fn a_reply_cut_short_is_truncated() {
    let peer = |mut stream: TcpStream| {
        if let Some(bytes) = message(&mut stream) {
            let _ = stream.write_all(&bytes[..4]);
        }
    };
    against(peer, as_it_is, |record| {
        let exchange = exchanged(record);
        let errors = &exchange.errors;
        assert_eq!(errors.of(ErrorKind::Truncated), 10, "{errors:?}");
        assert_eq!((exchange.replies, exchange.connections_served), (0, 0));
    });
}

#[test]
fn a_peer_that_leaves_between_replies_closed_early() {
    let peer = |mut stream: TcpStream| {
        for _ in 0..3 {
            let Some(bytes) = message(&mut stream) else {
                return;
            };
            let _ = stream.write_all(&bytes);
        }
        let _ = message(&mut stream);
    };
    against(peer, as_it_is, |record| {
        let exchange = exchanged(record);
        let errors = &exchange.errors;
        assert_eq!(errors.of(ErrorKind::ClosedEarly), 10, "{errors:?}");
        assert_eq!(exchange.replies, 30);
    });
}

#[test]
fn bytes_that_nobody_asked_for_are_excess() {
    let peer = |mut stream: TcpStream| {
        while let Some(bytes) = message(&mut stream) {
            let _ = stream.write_all(&[&bytes[..], b"!"].concat());
        }
    };
    against(peer, as_it_is, |record| {
        let errors = &exchanged(record).errors;
        let found = errors.of(ErrorKind::ExcessBytes) + errors.of(ErrorKind::WrongBytes);
        assert_eq!(found, 10, "{errors:?}");
        assert!(errors.of(ErrorKind::ExcessBytes) > 0, "{errors:?}");
    });
}

#[test]
fn excess_after_the_last_reply_is_found_while_closing() {
    let peer = |mut stream: TcpStream| {
        while let Some(bytes) = message(&mut stream) {
            let _ = stream.write_all(&bytes);
        }
        let _ = stream.write_all(b"and one more thing");
    };
    against(peer, as_it_is, |record| {
        assert_eq!(exchanged(record).errors.total(), 0);
        let errors = &record.phases.close().expect("the close").errors;
        assert_eq!(errors.of(ErrorKind::ExcessBytes), 10, "{errors:?}");
    });
}

#[test]
fn silence_times_out_and_the_served_connections_go_on() {
    let silent_every_other = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let peer = move |mut stream: TcpStream| {
        let number = silent_every_other.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        while let Some(bytes) = message(&mut stream) {
            if number.is_multiple_of(2) {
                let _ = stream.write_all(&bytes);
            }
        }
    };
    let impatient = |job: &mut LoadJob| {
        job.fleet.reply_timeout_ns = 300_000_000;
        job.exchange_spec().stop = Stop::DurationNs(600_000_000);
    };
    against(peer, impatient, |record| {
        let exchange = exchanged(record);
        let errors = &exchange.errors;
        assert_eq!(errors.of(ErrorKind::ReplyTimedOut), 5, "{errors:?}");
        assert_eq!(exchange.connections_served, 5);
        assert!(exchange.replies > 100);
    });
}

#[test]
fn a_port_that_nobody_listens_on_refuses() {
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    for backend in BACKENDS {
        let record = run(&job(&format!("tcp://127.0.0.1:{port}"), backend));
        let connect = record.phases.connect().expect("the connects");
        let errors = &connect.errors;
        assert_eq!(errors.of(ErrorKind::ConnectRefused), 10, "{errors:?}");
        assert_eq!((connect.connected, exchanged(&record).sent), (0, 0));
    }
}

#[test]
fn a_unix_path_without_a_server_is_unreachable() {
    for backend in BACKENDS {
        let record = run(&job("unix:/nonexistent/throng.sock", backend));
        let connect = record.phases.connect().expect("the connects");
        let errors = &connect.errors;
        assert_eq!(errors.of(ErrorKind::ConnectUnreachable), 10, "{errors:?}");
    }
}

#[test]
fn a_full_unix_queue_is_waited_for() {
    let (listener, address, path) = unix::listener("queue", 1);
    std::thread::spawn(move || {
        // Slower than the generator connects, so that its queue of two fills up.
        std::thread::sleep(std::time::Duration::from_millis(200));
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                std::io::copy(&mut stream.try_clone().expect("a copy"), &mut stream)
            });
        }
    });
    let mut waited = Vec::new();
    for backend in BACKENDS {
        let record = run(&job(&address, backend));
        let connect = record.phases.connect().expect("the connects");
        assert_eq!(
            (connect.connected, exchanged(&record).replies),
            (10, 1009),
            "{:?}",
            connect.errors
        );
        waited.push(connect.queue_full);
    }
    // Two are in the queue, and one after another finds it full; the first back end finds nobody accepting for 200 ms.
    assert!(
        waited[0].connects >= 1 && waited[0].connects <= 8,
        "{waited:?}"
    );
    assert!(waited[0].waited_ns >= 100_000_000, "{waited:?}");
    std::fs::remove_file(path).expect("removed");
}

#[test]
fn an_interrupt_ends_early_and_keeps_what_was_measured() {
    let address = serve(echo());
    for backend in BACKENDS {
        let mut job = job(&address, backend);
        job.exchange_spec().stop = Stop::DurationNs(60_000_000_000);
        let interrupt = Interrupt::default();
        let later = interrupt.clone();
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            later.raise();
        });
        let record = run_job(&job, &interrupt, &mut |_| {}).expect("it ends in order");
        let exchange = exchanged(&record);
        assert!(record.interrupted && exchange.replies > 0);
        assert!(exchange.duration_ns < 10_000_000_000);
    }
}

#[test]
fn jobs_that_contradict_themselves_are_refused_in_words() {
    let with = |change: fn(&mut LoadJob)| {
        let mut job = job("tcp://127.0.0.1:1", BACKENDS[0]);
        change(&mut job);
        run_job(&job, &Interrupt::default(), &mut |_| {})
            .expect_err("refused")
            .to_string()
    };
    assert!(with(|job| job.fleet.connections = 0).contains("at least one"));
    assert!(with(|job| job.fleet.shards = 11).contains("shards"));
    assert!(
        with(|job| job.exchange_spec().pacing = Pacing::Closed { outstanding: 0 })
            .contains("outstanding")
    );
    assert!(with(|job| job.fleet.addresses = vec!["nonsense".into()]).contains("HOST:PORT"));
}
