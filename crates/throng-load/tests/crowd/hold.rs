//! Holding connections and pinging some of them.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{BACKENDS, echo, job, run_telling, serve};
use crate::{closes, connects};
use throng_load::{Interrupt, run_job};
use throng_record::{
    Backend, ErrorKind, Expect, HoldPhase, LoadEvent, LoadJob, LoadRecord, PhaseName, PhaseSpec,
    PingPhase, PingSpec, Protocol, Sequence,
};

const MILLISECOND_NS: u64 = 1_000_000;
const AN_HOUR_NS: u64 = 3_600_000 * MILLISECOND_NS;

/// 101 connections over three shards, held for 20 ms.
fn holding(address: &str, backend: Backend, pings: u32) -> LoadJob {
    let mut job = job(address, backend);
    job.fleet.connections = 101;
    job.fleet.shards = 3;
    job.phases = phases(20 * MILLISECOND_NS, pings, 12);
    job
}

/// All are held for so long, and then so many are pinged; where none is, there is no such phase.
fn phases(duration_ns: u64, pings: u32, at_once: u32) -> Sequence {
    let ping = PhaseSpec::Ping(PingSpec {
        protocol: Protocol::Echo { size_bytes: 6 },
        verify: true,
        pings,
        at_once,
    });
    let hold = std::iter::once(PhaseSpec::Hold { duration_ns });
    Sequence::on_open_connections(hold.chain((pings > 0).then_some(ping)))
}

/// The pings of a job, to be changed.
fn ping_spec(job: &mut LoadJob) -> &mut PingSpec {
    let spec = job.phases.0.iter_mut().find_map(|phase| match phase {
        PhaseSpec::Ping(spec) => Some(spec),
        _ => None,
    });
    spec.expect("a job with pings")
}

fn held(record: &LoadRecord) -> &HoldPhase {
    record.phases.hold().expect("a record of holding")
}

fn ping(record: &LoadRecord) -> &PingPhase {
    record.phases.ping().expect("a record of the pings")
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
        let (record, mut events) = run_telling(&holding(&address, backend, 13));
        let phase = |phase| LoadEvent::Phase { phase };
        events.retain(LoadEvent::awaits_answer);
        assert_eq!(
            events,
            [
                phase(PhaseName::Connect),
                phase(PhaseName::Hold),
                phase(PhaseName::Ping),
                phase(PhaseName::Close),
            ]
        );
        assert_eq!(connects(&record).connected, 101);
        assert!(held(&record).duration_ns >= 20 * MILLISECOND_NS);
        let ping = ping(&record);
        assert_eq!((ping.pinged, ping.answered), (13, 13));
        assert_eq!(ping.latency.count, 13);
        assert!(ping.duration_ns >= ping.latency.max_ns / 2);
        let errors = record.phases.errors();
        assert_eq!(errors.total(), 0, "{errors:?}");
        assert_eq!(closes(&record).closed_in_order, 101);
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
        assert_eq!(ping(&record).answered, pings);
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
        job.phases = phases(AN_HOUR_NS, 5, 1);
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
        let lost = &held(&record).errors;
        assert_eq!(lost.of(ErrorKind::ClosedEarly), 7, "{lost:?}");
        assert_eq!(lost.connections[&ErrorKind::ClosedEarly].len(), 7);
        assert_eq!((lost.total(), record.phases.errors().total()), (7, 7));
        assert_eq!(closes(&record).closed_in_order, 94);
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
        let ping = ping(record);
        assert_eq!((ping.pinged, ping.answered), (13, 12));
        assert_eq!(ping.errors.of(ErrorKind::WrongBytes), 1);
        assert_eq!(ping.errors.connections[&ErrorKind::WrongBytes].len(), 1);
        assert_eq!(closes(record).closed_in_order, 100);
    });
}

#[test]
fn pings_that_nobody_answers_time_out() {
    let deaf = |mut stream: TcpStream| {
        let _ = stream.read_to_end(&mut vec![]);
    };
    let impatient = |job: &mut LoadJob| job.fleet.reply_timeout_ns = 100 * MILLISECOND_NS;
    against(13, deaf, impatient, |record| {
        let ping = ping(record);
        // Four at once for each of three shards, and then no more.
        assert_eq!((ping.pinged, ping.answered, ping.not_pinged), (12, 0, 1));
        assert_eq!(ping.errors.of(ErrorKind::ReplyTimedOut), 12);
        assert_eq!(ping.errors.total(), 12, "{:?}", ping.errors);
        assert_eq!(closes(record).closed_in_order, 89);
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
        ping_spec(job).protocol = Protocol::Request {
            send: b"PING".to_vec(),
            expect: Expect::Text(b"PONG".to_vec()),
        };
    };
    against(8, peer, asks, |record| {
        let errors = &ping(record).errors;
        assert_eq!(errors.of(ErrorKind::Truncated), 4, "{errors:?}");
        assert_eq!(errors.of(ErrorKind::ExcessBytes), 4, "{errors:?}");
        assert_eq!(ping(record).answered, 0);
    });
}

#[test]
fn an_interrupt_while_holding_ends_in_order_and_keeps_what_was_measured() {
    let address = serve(echo());
    for backend in BACKENDS {
        let mut job = holding(&address, backend, 5);
        job.phases = phases(AN_HOUR_NS, 5, 1);
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
        assert_eq!(connects(&record).connected, 101);
        assert!(held(&record).duration_ns < AN_HOUR_NS);
        assert_eq!(record.phases.ping(), None);
        assert_eq!(closes(&record).closed_in_order, 101);
    }
}

#[test]
fn after_an_interrupt_who_does_not_close_is_not_blamed() {
    let address = serve(|stream| std::mem::forget(stream.try_clone()));
    for backend in BACKENDS {
        let interrupt = Interrupt::default();
        let later = interrupt.clone();
        let record = run_job(&holding(&address, backend, 0), &interrupt, &mut |event| {
            let phase = PhaseName::Hold;
            if event == (LoadEvent::Phase { phase }) {
                later.raise();
            }
        })
        .expect("it ends in order");
        assert!(record.interrupted);
        let errors = record.phases.errors();
        assert_eq!(errors.total(), 0, "{errors:?}");
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
        let close = closes(&record);
        let errors = &close.errors;
        assert_eq!(close.closed_in_order, 0);
        assert_eq!(errors.of(ErrorKind::CloseTimedOut), 101, "{errors:?}");
        assert_eq!(errors.connections[&ErrorKind::CloseTimedOut].len(), 16);
    }
}

#[test]
fn jobs_of_holding_that_contradict_themselves_are_refused_in_words() {
    let with = |change: fn(&mut LoadJob)| {
        let mut job = job("tcp://127.0.0.1:1", BACKENDS[0]);
        job.phases = phases(0, 1, 1);
        change(&mut job);
        run_job(&job, &Interrupt::default(), &mut |_| {})
            .expect_err("refused")
            .to_string()
    };
    assert!(with(|job| ping_spec(job).pings = 11).contains("fewer pings"));
    assert!(with(|job| ping_spec(job).at_once = 0).contains("under way"));
    assert!(with(|job| job.fleet.connect_concurrency = 0).contains("in flight"));
    assert!(with(|job| job.fleet.connect_rate_per_second = Some(0.0)).contains("rate"));
    assert!(with(|job| job.fleet.connect_rate_per_second = Some(f64::NAN)).contains("rate"));
}
