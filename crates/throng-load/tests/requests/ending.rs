//! An early end, and jobs that cannot be done.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use throng_load::{Interrupt, run_job};
use throng_record::{Amount, ConnectionUse, Expect, LoadJob, Pacing, Stop};

use super::pacing::open;
use super::support::{BACKENDS, OfExchange as _, exchanged, job, serve};
use super::{REPLY, expect, own, request};

#[test]
fn an_interrupt_keeps_what_was_measured_and_leaves_out_what_is_under_way() {
    for backend in BACKENDS {
        let interrupt = Interrupt::default();
        let (raise, accepted) = (interrupt.clone(), Arc::new(AtomicU32::new(0)));
        let address = serve(move |mut stream: TcpStream| {
            request(&mut stream);
            if accepted.fetch_add(1, Ordering::Relaxed) < 5 {
                let _ = stream.write_all(REPLY);
            } else {
                raise.raise();
                // Until the client is gone.
                let _ = stream.read(&mut [0]);
            }
        });
        let mut job = own(&address, backend);
        job.fleet.connections = 1;
        let record = run_job(&job, &interrupt, &mut |_| {}).expect("it ends in order");
        let connections = record.phases.connections().expect("it has them");
        assert!(record.interrupted);
        assert_eq!((connections.begun, connections.answered), (6, 5));
        assert_eq!(
            (connections.requests.len(), record.phases.errors().total()),
            (5, 0)
        );
        assert!(exchanged(&record).duration_ns < 5_000_000_000);
    }
}

#[test]
fn what_cannot_be_done_is_refused_in_words() {
    let with = |change: fn(&mut LoadJob)| {
        let mut job = own("tcp://127.0.0.1:1", BACKENDS[0]);
        change(&mut job);
        run_job(&job, &Interrupt::default(), &mut |_| {})
            .expect_err("refused")
            .to_string()
    };
    assert!(with(|job| job.exchange_spec().warmup = Amount::Messages(1)).contains("for a warm-up"));
    assert!(
        with(|job| job.exchange_spec().pacing = Pacing::Closed { outstanding: 2 })
            .contains("one outstanding")
    );
    assert!(
        with(|job| job.exchange_spec().pacing = Pacing::Lockstep { group: 2 })
            .contains("not in lockstep")
    );
    let scheduled = |job: &mut LoadJob| job.exchange_spec().pacing = open(500.0);
    assert!(with(scheduled).contains("the schedule decides"));
    let by_confidence = |job: &mut LoadJob| {
        job.exchange_spec().stop = Stop::Confidence {
            relative_half_width: 0.01,
            max_duration_ns: 1,
        };
    };
    assert!(with(by_confidence).contains("by confidence"));
    assert!(with(|job| job.exchange_spec().stop = Stop::MessagesEach(1 << 32)).contains("at most"));
}

#[test]
fn what_needs_connections_of_their_own_is_refused_on_kept_ones() {
    let with = |change: fn(&mut LoadJob)| {
        let mut job = job("tcp://127.0.0.1:1", BACKENDS[0]);
        assert_eq!(job.exchange_spec().connection, ConnectionUse::Kept);
        change(&mut job);
        run_job(&job, &Interrupt::default(), &mut |_| {})
            .expect_err("refused")
            .to_string()
    };
    assert!(with(|job| job.exchange_spec().stop = Stop::MessagesEach(1)).contains("each client"));
    assert!(with(|job| expect(job, Expect::End)).contains("ends with the connection"));
}
