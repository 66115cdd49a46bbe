//! Clients with a task at each of several services: who asks whom, how often, for how long, and what a service that fails leaves of the others.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

mod support;

use support::{BACKENDS, OfExchange as _, echo, exchanged, job, run, serve};
use throng_record::{
    Backend, ConnectionUse, Expect, LoadJob, Pacing, Protocol, Stop, TaskClient, TasksRecord,
    TasksSpec,
};

const CLIENTS: u32 = 3;
const REQUESTS: u64 = 7;
/// Bytes of a message.
const SIZE: u64 = 6;

/// Clients of these services, which have one listener each.
fn at(addresses: &[String], backend: Backend, reuse: bool) -> LoadJob {
    let services = addresses.len() as u32;
    let mut job = job(&addresses[0], backend);
    job.fleet.addresses = addresses.to_vec();
    job.fleet.connections = CLIENTS * services;
    job.fleet.shards = 2;
    let spec = job.exchange_spec();
    spec.pacing = Pacing::Tasks(TasksSpec {
        services,
        choices: 1,
        at_once: services,
    });
    spec.stop = Stop::MessagesEach(REQUESTS);
    if !reuse {
        spec.connection = ConnectionUse::PerMessage {
            slow_first_byte_ns: u64::MAX,
            tells_every_request: false,
        };
        job.phases = throng_record::Sequence::of_exchange(spec.clone());
    }
    job
}

fn tasks_of(job: &LoadJob) -> TasksRecord {
    let record = run(job);
    exchanged(&record).tasks.clone().expect("there are tasks")
}

/// An echo server that counts connections and bytes.
fn counting(delay: Duration) -> (String, Arc<[AtomicU64; 2]>) {
    let counts = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let own = Arc::clone(&counts);
    let address = serve(move |mut stream: TcpStream| {
        own[0].fetch_add(1, Ordering::SeqCst);
        let mut buffer = [0; 64];
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            own[1].fetch_add(length as u64, Ordering::SeqCst);
            std::thread::sleep(delay);
            if stream.write_all(&buffer[..length]).is_err() {
                return;
            }
        }
    });
    (address, counts)
}

#[test]
fn every_client_asks_every_service_as_often_and_each_is_timed_by_itself() {
    for backend in BACKENDS {
        for reuse in [true, false] {
            let slow = Duration::from_millis(15);
            let services = [Duration::ZERO, slow, Duration::ZERO].map(counting);
            let addresses: Vec<String> = services
                .iter()
                .map(|(address, _)| address.clone())
                .collect();
            let tasks = tasks_of(&at(&addresses, backend, reuse));
            assert_eq!(tasks.clients.len() as u32, CLIENTS);
            let least_ns = slow.as_nanos() as u64 * REQUESTS;
            for client in &tasks.clients {
                assert_eq!((client.answered, client.unfinished), (3 * REQUESTS, 0));
                assert!(client.duration_ns >= least_ns, "{client:?}");
            }
            for (service, (_, counts)) in tasks.services.iter().zip(&services) {
                let connections = u64::from(CLIENTS) * if reuse { 1 } else { REQUESTS };
                let came = [&counts[0], &counts[1]].map(|count| count.load(Ordering::SeqCst));
                assert_eq!(came, [connections, u64::from(CLIENTS) * REQUESTS * SIZE]);
                assert_eq!(
                    (service.answered, service.failed),
                    (u64::from(CLIENTS) * REQUESTS, 0)
                );
            }
            let mean_ns = tasks.services[1].requests_ns / tasks.services[1].answered;
            assert!(mean_ns >= slow.as_nanos() as u64, "{mean_ns}");
            assert!(tasks.services[1].duration_ns >= least_ns);
            let sum_ns: u64 = tasks.services.iter().map(|one| one.requests_ns).sum();
            let longest_ns = tasks.clients.iter().map(|one| one.duration_ns).max();
            assert!(sum_ns <= longest_ns.expect("three") * u64::from(CLIENTS) * 3);
        }
    }
}

#[test]
fn requests_choose_among_the_listeners_of_their_service_and_a_bound_client_keeps_to_its_own() {
    let of_two_services = || -> Vec<_> { (0..4).map(|_| counting(Duration::ZERO)).collect() };
    for reuse in [true, false] {
        for choices in [2, 1] {
            let listeners = of_two_services();
            let addresses: Vec<String> = listeners
                .iter()
                .map(|(address, _)| address.clone())
                .collect();
            let mut job = at(&addresses[..2], BACKENDS[0], reuse);
            job.fleet.addresses = addresses;
            let kept = if reuse { choices } else { 1 };
            job.fleet.connections = CLIENTS * 2 * kept;
            job.exchange_spec().pacing = Pacing::Tasks(TasksSpec {
                services: 2,
                choices,
                at_once: 2,
            });
            job.exchange_spec().stop = Stop::MessagesEach(100);
            let tasks = tasks_of(&job);
            assert!(tasks.services.iter().all(|service| service.answered == 300));
            let told: Vec<u64> = tasks.listeners.iter().map(|one| one.answered).collect();
            let came: Vec<u64> = listeners
                .iter()
                .map(|(_, counts)| counts[1].load(Ordering::SeqCst) / SIZE)
                .collect();
            // Services alternate, listener by listener; of three bound clients the first listener has two.
            assert_eq!([came[0] + came[2], came[1] + came[3]], [300, 300]);
            assert_eq!(told, [came[0] + came[1], came[2] + came[3]]);
            match choices {
                1 => assert_eq!(came, [200, 200, 100, 100]),
                _ => assert!(
                    came.iter().all(|count| (100..200).contains(count)),
                    "{came:?}"
                ),
            }
        }
    }
}

#[test]
fn no_more_tasks_of_a_client_are_under_way_than_it_may_have() {
    let now = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let addresses: Vec<String> = (0..5)
        .map(|_| {
            let now = Arc::clone(&now);
            serve(move |mut stream: TcpStream| {
                let mut buffer = [0; 64];
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    let at_once = now[0].fetch_add(1, Ordering::SeqCst) + 1;
                    now[1].fetch_max(at_once, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(1));
                    now[0].fetch_sub(1, Ordering::SeqCst);
                    stream.write_all(&buffer[..length]).expect("it reads");
                }
            })
        })
        .collect();
    for reuse in [true, false] {
        now[1].store(0, Ordering::SeqCst);
        let mut job = at(&addresses, BACKENDS[0], reuse);
        job.fleet.connections = 5;
        job.fleet.shards = 1;
        job.exchange_spec().pacing = Pacing::Tasks(TasksSpec {
            services: 5,
            choices: 1,
            at_once: 2,
        });
        let tasks = tasks_of(&job);
        let expected = (5 * REQUESTS, 0);
        assert_eq!(
            (tasks.clients[0].answered, tasks.clients[0].unfinished),
            expected
        );
        assert_eq!(now[1].load(Ordering::SeqCst), 2);
    }
}

#[test]
fn a_service_that_fails_is_named_and_the_others_are_measured_whole() {
    let echoing = || serve(echo());
    for backend in BACKENDS {
        for reuse in [true, false] {
            let leaves = serve(|mut stream: TcpStream| {
                let mut buffer = [0; 6];
                stream.read_exact(&mut buffer).expect("a request");
            });
            let addresses = [echoing(), leaves, echoing()];
            let tasks = tasks_of(&at(&addresses, backend, reuse));
            let failed: Vec<usize> = tasks.failed_services().map(|(number, _)| number).collect();
            assert_eq!(failed, [2]);
            assert_eq!(tasks.services[1].failed, CLIENTS);
            let words = tasks.services[1].first_failure.as_deref().expect("words");
            assert!(words.contains("closed"), "{words}");
            for client in &tasks.clients {
                let expected = TaskClient {
                    answered: 2 * REQUESTS,
                    unfinished: 1,
                    duration_ns: client.duration_ns,
                };
                assert_eq!(*client, expected);
            }
            assert_eq!(tasks.completion_ns().count(), 0);
        }
    }
}

#[test]
fn a_service_that_hangs_or_refuses_ends_its_own_tasks_alone() {
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let refused = format!("tcp://{}", closed.local_addr().expect("bound"));
    drop(closed);
    let hangs = serve(|stream| {
        std::thread::sleep(Duration::from_secs(20));
        drop(stream);
    });
    for bad in [hangs, refused] {
        for reuse in [true, false] {
            let addresses = [bad.clone(), serve(echo())];
            let mut job = at(&addresses, BACKENDS[0], reuse);
            job.fleet.reply_timeout_ns = 300_000_000;
            let tasks = tasks_of(&job);
            assert_eq!(tasks.services[0].failed, CLIENTS, "{bad} {reuse}");
            assert_eq!(tasks.services[1].answered, u64::from(CLIENTS) * REQUESTS);
        }
    }
}

#[test]
fn http_is_read_on_kept_connections_and_a_response_without_an_end_is_wrong() {
    let answering = |response: &'static [u8]| {
        serve(move |mut stream: TcpStream| {
            let mut buffer = [0; 1024];
            while let Ok(1..) = stream.read(&mut buffer) {
                // In two pieces, of which the first ends within the head.
                let (first, rest) = response.split_at(9);
                stream.write_all(first).expect("it reads");
                std::thread::sleep(Duration::from_millis(1));
                stream.write_all(rest).expect("it reads");
            }
        })
    };
    let whole = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let chunked =
        answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
    let endless = answering(b"HTTP/1.1 200 OK\r\n\r\nok");
    let refuses = answering(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
    let mut job = at(&[whole, chunked, endless, refuses], BACKENDS[0], true);
    job.exchange_spec().protocol = Protocol::Request {
        send: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        expect: Expect::HttpResponse,
    };
    let tasks = tasks_of(&job);
    let failed: Vec<_> = tasks.failed_services().collect();
    assert_eq!(failed.len(), 2);
    for ((number, service), (expected, words)) in failed
        .into_iter()
        .zip([(3, "no told length"), (4, "503 Busy")])
    {
        let why = service.first_failure.as_deref().expect("words");
        assert!(number == expected && why.contains(words), "{number}: {why}");
    }
}
