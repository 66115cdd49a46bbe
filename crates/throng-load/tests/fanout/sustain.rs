//! Lines at a rate: every one of them comes out of every connection.

use throng_record::{Arrivals, ErrorKind, LoadEvent, PhaseName};

use super::server::{Manner, Server, deliver, greet};
use super::support::{BACKENDS, run, run_telling};
use super::{assert_closed, assert_none, fifty_lines, job, sustained};

#[test]
fn every_line_comes_out_of_every_connection() {
    for backend in BACKENDS {
        for shards in [1, 2] {
            let server = Server::start(greet, deliver);
            let mut job = job(&server.address, backend, fifty_lines);
            job.fleet.shards = shards;
            let (record, events) = run_telling(&job);
            let sustained = sustained(&record);
            assert_none(&record.phases.errors());
            assert_eq!((sustained.sent, sustained.deliveries), (50, 2000));
            assert_eq!(sustained.missing, 0);
            assert_eq!(sustained.latency.count, 2000);
            assert_eq!(sustained.scheduling_error.count, 50);
            assert_eq!(sustained.timeline.replies.iter().sum::<u64>(), 2000);
            assert!(sustained.duration_ns >= 245_000_000, "49 gaps of 5 ms");
            let rate = 2000.0 * 1e9 / sustained.duration_ns as f64;
            assert!((sustained.deliveries_per_second / rate - 1.0).abs() < 1e-9);
            let phase = PhaseName::Sustain;
            assert!(events.contains(&LoadEvent::Phase { phase }));
            assert_closed(&record, 40);
        }
    }
}

#[test]
fn exponential_gaps_are_the_same_for_the_same_seed() {
    for backend in BACKENDS {
        let sent = || {
            let server = Server::start(greet, deliver);
            let job = job(&server.address, backend, |spec| {
                spec.sustain = Some((300.0, Arrivals::Exponential, 200_000_000));
            });
            let record = run(&job);
            let sustained = sustained(&record);
            assert_none(&record.phases.errors());
            assert_eq!(sustained.deliveries, sustained.sent * 40);
            sustained.sent
        };
        let first = sent();
        assert!(first > 10 && first != 60, "{first}");
        assert_eq!(first, sent());
    }
}

#[test]
fn latency_counts_from_the_due_time_also_where_the_server_stalls() {
    let stalls: Manner = |index, stream, line| {
        if index == 0 && line == b"hello 0000000010\n" {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        deliver(index, stream, line);
    };
    for backend in BACKENDS {
        let server = Server::start(greet, stalls);
        let record = run(&job(&server.address, backend, fifty_lines));
        let sustained = sustained(&record);
        assert_eq!((sustained.sent, sustained.deliveries), (50, 2000));
        let latency = sustained.latency.decode().expect("just encoded");
        let late = latency.count_between(50_000_000, u64::MAX);
        assert!(
            late >= 9 * 40,
            "eleven lines were due in the first 50 ms of it: {late}"
        );
    }
}

#[test]
fn nothing_more_is_put_when_the_speaker_is_lost() {
    let lose_the_speaker: Manner = |index, stream, line| {
        deliver(index, stream, line);
        if index == 13 && line == b"hello 0000000010\n" {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    };
    for backend in BACKENDS {
        let server = Server::start(greet, lose_the_speaker);
        let mut job = job(&server.address, backend, fifty_lines);
        job.fleet.reply_timeout_ns = 400_000_000;
        let record = run(&job);
        let sustained = sustained(&record);
        assert!((11..50).contains(&sustained.sent), "{}", sustained.sent);
        assert!(sustained.deliveries >= 11 * 39);
        assert!(
            sustained.errors.of(ErrorKind::ClosedEarly) + sustained.errors.of(ErrorKind::Reset)
                >= 1
        );
    }
}
