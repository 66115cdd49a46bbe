//! Holding connections and pinging some of them.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{BACKENDS, echo, job, run_telling, serve};
use throng_load::{Interrupt, run_job};
use throng_record::{
    Backend, ErrorKind, Expect, HoldPhases, HoldSpec, LoadEvent, LoadJob, LoadRecord, PhaseName,
    Protocol, Work,
};

const MILLISECOND_NS: u64 = 1_000_000;
const AN_HOUR_NS: u64 = 3_600_000 * MILLISECOND_NS;

/// 101 connections over three shards, held for 20 ms.
fn holding(address: &str, backend: Backend, pings: u32) -> LoadJob {
    let mut job = job(address, backend);
    job.fleet.connections = 101;
    job.fleet.shards = 3;
    job.work = Work::Hold(HoldSpec {
        hold_ns: 20 * MILLISECOND_NS,
        pings,
        pings_at_once: 4,
    });
    job
}

fn held(record: &LoadRecord) -> &HoldPhases {
    record.hold.as_ref().expect("a record of holding")
}

/// Runs against a peer that handles each connection so, on both back ends.
fn against(
    pings: u32,
    peer: impl Fn(TcpStream) + Send + Sync + Clone + 'static,
    change: impl Fn(&mut LoadJob),
    check: impl Fn(&LoadRecord),
) {
    let address = serve(peer);
    for backend in BACKENDS {
        let mut job = holding(&address, backend, pings);
        change(&mut job);
        check(&run_telling(&job).0);
    }
}

fn as_it_is(_: &mut LoadJob) {}

#[test]
fn all_are_held_some_are_pinged_and_every_phase_is_told_in_order() {
    let address = serve(echo());
    for backend in BACKENDS {
        let (record, events) = run_telling(&holding(&address, backend, 13));
        let waits: Vec<_> = events
            .iter()
            .filter(|event| event.awaits_answer())
            .collect();
        let phase = |phase| LoadEvent::Phase { phase };
        assert_eq!(
            waits,
            [
                &phase(PhaseName::Connect),
                &LoadEvent::Connected { connected: 101 },
                &phase(PhaseName::Hold),
                &phase(PhaseName::Ping),
                &phase(PhaseName::Close),
            ]
        );
        let hold = held(&record);
        assert!(hold.held_ns >= 20 * MILLISECOND_NS);
        assert_eq!((hold.pinged, hold.answered), (13, 13));
        assert_eq!(hold.ping_latency.count, 13);
        assert!(hold.ping_duration_ns >= hold.ping_latency.max_ns / 2);
        assert_eq!(record.errors().total(), 0, "{:?}", record.errors());
        assert_eq!(record.close.closed_in_order, 101);
        assert!(record.user_bytes_per_connection >= 0.0);
    }
}

#[test]
fn pings_go_to_connections_spread_over_all() {
    for (pings, backend) in [(5, BACKENDS[0]), (101, BACKENDS[1])] {
        // The generator's source addresses tell the indices apart: 127.0.0.2 is that of index 0.
        let sources = (2..=102).map(|last| [127, 0, 0, last].into()).collect();
        let pinged = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&pinged);
        let address = serve(move |mut stream| {
            let mut bytes = [0; 6];
            while stream.read_exact(&mut bytes).is_ok() {
                let std::net::IpAddr::V4(peer) = stream.peer_addr().expect("connected").ip() else {
                    panic!("an IPv4 peer");
                };
                heard.lock().expect("unpoisoned").push(peer.octets()[3] - 2);
                let _ = stream.write_all(&bytes);
            }
        });
        let mut job = holding(&address, backend, pings);
        job.fleet.source = throng_record::SourceAddresses::List(sources);
        let record = run_telling(&job).0;
        assert_eq!(held(&record).answered, pings);
        let mut pinged = pinged.lock().expect("unpoisoned").clone();
        pinged.sort_unstable();
        if pings == 5 {
            assert_eq!(pinged, [0, 20, 40, 60, 80]);
        }
        assert_eq!(pinged.iter().collect::<HashSet<_>>().len() as u32, pings);
    }
}

#[test]
fn connections_that_the_server_ends_while_they_are_held_are_lost_by_index() {
    for backend in BACKENDS {
        let (met, is_held) = (AtomicU32::new(0), AtomicBool::new(false));
        let shared = Arc::new((met, is_held));
        let server = Arc::clone(&shared);
        let address = serve(move |stream: TcpStream| {
            let (met, is_held) = &*server;
            if met.fetch_add(1, Relaxed) >= 7 {
                return echo()(stream);
            }
            while !is_held.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let mut job = holding(&address, backend, 5);
        job.work = Work::Hold(HoldSpec {
            hold_ns: AN_HOUR_NS,
            pings: 5,
            pings_at_once: 1,
        });
        let interrupt = Interrupt::default();
        let later = interrupt.clone();
        let record = run_job(&job, &interrupt, &mut |event| match event {
            LoadEvent::Phase {
                phase: PhaseName::Hold,
            } => shared.1.store(true, Relaxed),
            LoadEvent::Progress { replies: 94 } if shared.1.load(Relaxed) => later.raise(),
            _ => {}
        })
        .expect("it ends in order");
        let lost = &held(&record).lost_errors;
        assert_eq!(lost.of(ErrorKind::ClosedEarly), 7, "{lost:?}");
        assert_eq!(lost.connections[&ErrorKind::ClosedEarly].len(), 7);
        assert_eq!((lost.total(), record.errors().total()), (7, 7));
        assert_eq!(record.close.closed_in_order, 94);
    }
}

#[test]
fn wrong_answers_are_counted_and_the_others_stand() {
    let number = Arc::new(AtomicU32::new(0));
    let peer = move |mut stream: TcpStream| {
        let mut bytes = [0; 6];
        while stream.read_exact(&mut bytes).is_ok() {
            bytes[2] ^= u8::from(number.fetch_add(1, Relaxed) % 13 == 5);
            let _ = stream.write_all(&bytes);
        }
    };
    against(13, peer, as_it_is, |record| {
        let hold = held(record);
        assert_eq!((hold.pinged, hold.answered), (13, 12));
        assert_eq!(hold.ping_errors.of(ErrorKind::WrongBytes), 1);
        assert_eq!(
            hold.ping_errors.connections[&ErrorKind::WrongBytes].len(),
            1
        );
        assert_eq!(record.close.closed_in_order, 100);
    });
}

#[test]
fn pings_that_nobody_answers_time_out() {
    let deaf = |mut stream: TcpStream| {
        let _ = stream.read_to_end(&mut vec![]);
    };
    let impatient = |job: &mut LoadJob| job.fleet.reply_timeout_ns = 100 * MILLISECOND_NS;
    against(13, deaf, impatient, |record| {
        let hold = held(record);
        // Four at once for each of three shards, and then no more.
        assert_eq!((hold.pinged, hold.answered, hold.not_pinged), (12, 0, 1));
        assert_eq!(hold.ping_errors.of(ErrorKind::ReplyTimedOut), 12);
        assert_eq!(hold.ping_errors.total(), 12, "{:?}", hold.ping_errors);
        assert_eq!(record.close.closed_in_order, 89);
    });
}

#[test]
fn answers_cut_short_or_too_long_are_told_apart() {
    let number = Arc::new(AtomicU32::new(0));
    let peer = move |mut stream: TcpStream| {
        let mut bytes = [0; 4];
        if stream.read_exact(&mut bytes).is_ok() {
            let answer: &[u8] = match number.fetch_add(1, Relaxed) % 2 {
                0 => b"PO",
                _ => b"PONG!",
            };
            let _ = stream.write_all(answer);
        }
    };
    let asks = |job: &mut LoadJob| {
        job.exchange.protocol = Protocol::Request {
            send: b"PING".to_vec(),
            expect: Expect::Text(b"PONG".to_vec()),
        };
    };
    against(8, peer, asks, |record| {
        let errors = &held(record).ping_errors;
        assert_eq!(errors.of(ErrorKind::Truncated), 4, "{errors:?}");
        assert_eq!(errors.of(ErrorKind::ExcessBytes), 4, "{errors:?}");
        assert_eq!(held(record).answered, 0);
    });
}

#[test]
fn an_interrupt_while_holding_ends_in_order_and_keeps_what_was_measured() {
    let address = serve(echo());
    for backend in BACKENDS {
        let mut job = holding(&address, backend, 5);
        job.work = Work::Hold(HoldSpec {
            hold_ns: AN_HOUR_NS,
            pings: 5,
            pings_at_once: 1,
        });
        let interrupt = Interrupt::default();
        let later = interrupt.clone();
        let mut is_held = false;
        let record = run_job(&job, &interrupt, &mut |event| match event {
            LoadEvent::Phase {
                phase: PhaseName::Hold,
            } => is_held = true,
            LoadEvent::Progress { replies: 101 } if is_held => later.raise(),
            _ => {}
        })
        .expect("it ends in order");
        assert!(record.interrupted);
        assert_eq!(record.connect.connected, 101);
        assert_eq!(held(&record).pinged, 0);
        assert_eq!(record.close.closed_in_order, 101);
    }
}

#[test]
fn after_an_interrupt_who_does_not_close_is_not_blamed() {
    let address = serve(|stream| std::mem::forget(stream.try_clone()));
    for backend in BACKENDS {
        let interrupt = Interrupt::default();
        let later = interrupt.clone();
        let record = run_job(&holding(&address, backend, 0), &interrupt, &mut |event| {
            if let LoadEvent::Connected { .. } = event {
                later.raise();
            }
        })
        .expect("it ends in order");
        assert!(record.interrupted);
        assert_eq!(record.errors().total(), 0, "{:?}", record.errors());
    }
}

#[test]
fn a_server_that_never_closes_is_given_up_in_seconds_and_told() {
    let address = serve(|stream| {
        // It is kept open by a copy that nothing drops.
        std::mem::forget(stream.try_clone());
    });
    for backend in BACKENDS {
        let record = run_telling(&holding(&address, backend, 0)).0;
        assert_eq!(record.close.closed_in_order, 0);
        assert_eq!(
            record.close.errors.of(ErrorKind::CloseTimedOut),
            101,
            "{:?}",
            record.close.errors
        );
        assert_eq!(
            record.close.errors.connections[&ErrorKind::CloseTimedOut].len(),
            16
        );
    }
}

#[test]
fn jobs_of_holding_that_contradict_themselves_are_refused_in_words() {
    let with = |change: fn(&mut LoadJob, &mut HoldSpec)| {
        let mut job = job("tcp://127.0.0.1:1", BACKENDS[0]);
        let mut spec = HoldSpec {
            hold_ns: 0,
            pings: 1,
            pings_at_once: 1,
        };
        change(&mut job, &mut spec);
        job.work = Work::Hold(spec);
        run_job(&job, &Interrupt::default(), &mut |_| {})
            .expect_err("refused")
            .to_string()
    };
    assert!(with(|_, spec| spec.pings = 11).contains("fewer pings"));
    assert!(with(|_, spec| spec.pings_at_once = 0).contains("under way"));
    assert!(with(|job, _| job.fleet.connect_concurrency = 0).contains("in flight"));
    assert!(with(|job, _| job.fleet.connect_rate_per_second = Some(0.0)).contains("rate"));
    assert!(with(|job, _| job.fleet.connect_rate_per_second = Some(f64::NAN)).contains("rate"));
    assert!(
        with(
            |job, _| job.exchange.connection = throng_record::ConnectionUse::PerMessage {
                slow_first_byte_ns: 1,
                tells_every_request: true,
            }
        )
        .contains("kept")
    );
}
